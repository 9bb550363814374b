"""The allocation engine against numpy's sort, OR-tools, scipy's solvers, and plain loops.

    python -m benchmarks.allocation [--format json] [--max-n 10000] [--cases path knapsack] [--plot FILE.png]

Log-normal costs, about two thirds of the gains positive. OR-tools is compared with where it is
installed.
"""

# Closures are timed at once, inside the loop that makes them.
# ruff: noqa: B023

from __future__ import annotations

import importlib.util
import tempfile
import tracemalloc
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from apportion.allocation.hulls import hull_steps
from apportion.allocation.knapsack import knapsack
from apportion.allocation.many_budgets import first_fit_many
from apportion.allocation.path import allocation_path
from apportion.bootstrap import mean_interval
from apportion.evaluation.bootstrap_path import path_replicates
from benchmarks.harness import Row, Work, arguments, compare, median_s, row, show

SIZES = (10_000, 100_000, 1_000_000)
RESAMPLES = 2000


def items(n: int, k: int, seed: int = 1) -> tuple[np.ndarray, np.ndarray]:
    """Gains and rising costs of n items with k arms besides the first."""
    rng = np.random.default_rng(seed)
    costs = np.cumsum(rng.lognormal(7.7, 0.55, (n, k)), axis=1)
    return rng.normal(0.1, 0.25, (n, k)), costs


def whole_path(gains: np.ndarray, costs: np.ndarray) -> object:
    path = allocation_path(gains, costs)
    return path, path.spend, path.gain


def path(max_n: int) -> Iterable[Row]:
    for n in within(SIZES, max_n):
        for k in (1, 3):
            gains, costs = items(n, k)
            slopes = hull_steps(gains, costs).slope.copy()
            ours = median_s(lambda: whole_path(gains, costs))
            name = f"path, {k} arm{'s' if k > 1 else ''}"
            yield row(name, n, ours, "numpy argsort of its slopes", median_s(lambda: np.argsort(slopes)))


def replicates(max_n: int) -> Iterable[Row]:
    for n in within(SIZES, max_n):
        for k in (1, 3):
            gains, costs = items(n, k)
            groups = np.random.default_rng(2).integers(0, n // 10, n)
            budgets = np.linspace(0, allocation_path(gains, costs).spend[-1], 101)

            def ours() -> object:
                return path_replicates(allocation_path(gains, costs), groups, budgets, resamples=200)

            bare = median_s(lambda: whole_path(gains, costs))
            yield row(
                f"path, {k} arm{'s' if k > 1 else ''}, 200 replicates",
                n,
                median_s(ours),
                "the bare path",
                bare,
            )


def first_fit(max_n: int) -> Iterable[Row]:
    for n in within(SIZES, max_n):
        gains, costs = items(n, 1)
        ratio, tokens = -np.maximum(gains[:, 0], 0) / costs[:, 0], costs[:, 0].astype(np.int64)
        budgets = np.linspace(0, tokens.sum(), 1000).astype(np.int64)

        def stable() -> np.ndarray:
            return np.argsort(ratio, kind="stable")

        def loop() -> None:
            order = stable().tolist()
            for budget in budgets.tolist():
                for cost in tokens[order].tolist():
                    if cost <= budget:
                        budget -= cost

        others: dict[str, Work] = {"the stable sort alone": stable, "plain loop": loop}
        yield from compare(
            "first_fit, 1000 budgets",
            n,
            lambda: first_fit_many(stable(), tokens, budgets),
            others,
        )


def knapsacks(max_n: int) -> Iterable[Row]:
    for n in within((1_000, 10_000, 100_000), max_n):
        gains, costs = items(n, 1)
        gain, tokens = gains[:, 0], costs[:, 0].astype(np.int64)
        budget = int(0.3 * tokens[gain > 0].sum())
        capacity = budget // 10
        buyable = gain > 0
        profit, weight = gain[buyable], -(-tokens[buyable] // 10)
        others: dict[str, Work] = {}
        if importlib.util.find_spec("ortools") is not None:
            kinds = [
                ("ortools branch and bound", "KNAPSACK_MULTIDIMENSION_BRANCH_AND_BOUND_SOLVER"),
                ("ortools dynamic programming", "KNAPSACK_DYNAMIC_PROGRAMMING_SOLVER"),
            ]
            for name, kind in kinds if n <= 10_000 else kinds[:1]:  # the second was stopped at 10,000 already
                others[name] = ortools_knapsack(kind, profit, weight, capacity)
        if n <= 10_000:
            others["scipy milp"] = scipy_milp(profit, weight, capacity)
        yield from compare("knapsack", n, lambda: knapsack(gain, tokens, budget), others)


def ortools_knapsack(kind: str, profit: np.ndarray, weight: np.ndarray, capacity: int) -> Work:
    from ortools.algorithms.python import knapsack_solver

    def work() -> object:
        solver = knapsack_solver.KnapsackSolver(getattr(knapsack_solver.SolverType, kind), "benchmark")
        solver.init(np.round(profit * 1e6).astype(int).tolist(), [weight.tolist()], [capacity])
        return solver.solve()

    return work


def scipy_milp(profit: np.ndarray, weight: np.ndarray, capacity: int) -> Work:
    def work() -> object:
        from scipy.optimize import Bounds, LinearConstraint, milp

        inside = LinearConstraint(weight[None, :].astype(float), -np.inf, capacity)
        return milp(-profit, constraints=inside, integrality=np.ones(profit.size), bounds=Bounds(0, 1))

    return work


def bootstraps(max_n: int) -> Iterable[Row]:
    for n, documents in ((150, 84), (1_000_000, 100_000)):
        if n > max_n:
            continue
        rng = np.random.default_rng(3)
        groups, values = rng.integers(0, documents, n), rng.normal(size=n)

        def loop() -> object:
            order = np.argsort(groups, kind="stable")
            rows = np.split(order, np.cumsum(np.bincount(groups))[:-1])
            draws = np.random.default_rng(0)
            means = []
            for _ in range(RESAMPLES):
                drawn = draws.integers(0, len(rows), len(rows))
                means.append(values[np.concatenate([rows[d] for d in drawn])].mean())
            return np.quantile(means, [0.025, 0.975])

        def scipys() -> object:
            from scipy.stats import bootstrap

            sums = np.bincount(groups, weights=values)
            sizes = np.bincount(groups).astype(float)
            return bootstrap(
                (sums, sizes),
                lambda s, m, axis: s.sum(axis) / m.sum(axis),
                paired=True,
                vectorized=True,
                method="percentile",
                n_resamples=RESAMPLES,
                batch=max(1, 2_000_000 // sums.size),
            )

        others: dict[str, Work] = {"plain loop": loop, "scipy.stats.bootstrap": scipys}
        yield from compare("bootstrap", n, lambda: mean_interval(values, groups), others)


def sweeps(max_n: int) -> Iterable[Row]:
    import polars as pl

    from apportion.allocation.sweep import sweep

    for n in within((10_000, 1_000_000), max_n):
        with tempfile.TemporaryDirectory() as folder:
            place = Path(folder)
            frames = []
            for seed in (11, 22, 33):
                rng = np.random.default_rng(seed)
                cost = rng.lognormal(7.7, 0.55, n)
                frames.append(
                    pl.DataFrame(
                        {
                            "seed": np.full(n, seed),
                            "question_id": [f"q{i:07d}" for i in range(n)],
                            "predicted_gain": rng.normal(0.05, 0.15, n),
                            "predicted_cost": np.ceil(cost * rng.lognormal(0, 0.1, n)).astype(np.int64),
                            "confidence": rng.random(n),
                            "margin": rng.random(n),
                            "realised_gain": np.round(rng.normal(0.08, 0.3, n) * 30) / 30,
                            "realised_cost": np.ceil(cost).astype(np.int64),
                        }
                    )
                )
            pl.concat(frames).write_parquet(place / "predictions.parquet")
            del frames
            ours = median_s(
                lambda: sweep(
                    place / "predictions.parquet", place / "orders.parquet", place / "selections.parquet"
                ),
                runs=1,
                warm=False,
            )
            yield row("sweep, 8 x 8 x 3", n, ours, "the target of 60 s a million", 60.0 * n / 1e6)


def plot(file: str) -> None:
    """Draw time and peak memory of the whole path against n, from 1e4 to 3e6."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    sizes = np.array([10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000])
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    for k, colour in ((1, "tab:blue"), (3, "tab:orange")):
        times, peaks = [], []
        for n in sizes:
            gains, costs = items(int(n), k)
            times.append(median_s(lambda: whole_path(gains, costs)))
            tracemalloc.start()
            whole_path(gains, costs)
            peaks.append(tracemalloc.get_traced_memory()[1] / 1e6)
            tracemalloc.stop()
        reference = sizes * np.log(sizes)
        for axis, values in zip(axes, (times, peaks), strict=True):
            axis.loglog(sizes, values, "o-", color=colour, label=f"{k} arm{'s' if k > 1 else ''}")
        axes[0].loglog(sizes, reference * times[-1] / reference[-1], ":", color=colour)
        axes[1].loglog(sizes, sizes * peaks[-1] / sizes[-1], ":", color=colour)
    for axis, title in zip(axes, ("seconds (dotted: n log n)", "peak megabytes (dotted: n)"), strict=True):
        axis.set(title=title, xlabel="questions")
        axis.legend()
    figure.savefig(file, dpi=110)


def within(sizes: Iterable[int], max_n: int) -> list[int]:
    return [n for n in sizes if n <= max_n]


CASES = {
    "path": path,
    "replicates": replicates,
    "first_fit": first_fit,
    "knapsack": knapsacks,
    "bootstrap": bootstraps,
    "sweep": sweeps,
}


def main() -> None:
    parser = arguments(__doc__.splitlines()[0])
    parser.add_argument("--cases", nargs="*", choices=sorted(CASES), default=list(CASES))
    parser.add_argument("--plot", metavar="FILE.png", help="draw how the path grows, and time nothing else")
    chosen = parser.parse_args()
    if chosen.plot:
        plot(chosen.plot)
        return
    show([line for case in chosen.cases for line in CASES[case](chosen.max_n)], chosen.format)


if __name__ == "__main__":
    main()

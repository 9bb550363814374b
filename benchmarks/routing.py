"""The Jensen gap with its interval, and the frontiers, beside plain loops over the same work.

    python -m benchmarks.routing [--format json] [--max-n 10000]

Uniform qualities, log-normal costs, 8 arms, 40 prices, 2,000 resamples of filings of ten questions.
"""

# Closures are timed at once, inside the loop that makes them.
# ruff: noqa: B023

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from apportion.routing.arms import Arms
from apportion.routing.frontier import oracle_frontier
from apportion.routing.gap import jensen_gap
from benchmarks.harness import Row, arguments, median_s, row, show, stopped_s

SIZES = (10_000, 100_000)
ARMS, PRICES, RESAMPLES = 8, np.linspace(0, 1, 40), 2000


def log(n: int, filings: int) -> Arms:
    rng = np.random.default_rng(1)
    keys = [f"q{i:07d}" for i in range(n)]
    return Arms(
        tuple(f"arm{a}" for a in range(ARMS)),
        keys,
        rng.random((n, ARMS)),
        rng.lognormal(0.0, 0.5, (n, ARMS)),
        [f"f{i % filings}" for i in range(n)],
        ["any"] * n,
    )


def plain_gap(arms: Arms) -> list[tuple[float, float]]:
    """Rows of drawn filings gathered anew in every resample."""
    codes = np.unique(np.asarray(arms.groups), return_inverse=True)[1]
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes))
    members = np.split(order, ends[:-1])
    rng = np.random.default_rng(0)
    found = []
    gaps = np.empty((RESAMPLES, len(PRICES)))
    for draw in range(RESAMPLES):
        rows = np.concatenate([members[g] for g in rng.integers(0, len(members), len(members))])
        quality, cost = arms.quality[rows], arms.cost[rows]
        for place, price in enumerate(PRICES):
            utility = quality - price * cost
            gaps[draw, place] = utility.max(axis=1).mean() - utility.mean(axis=0).max()
    for column in gaps.T:
        low, high = np.quantile(column, [0.025, 0.975])
        found.append((float(low), float(high)))
    return found


def plain_oracle(arms: Arms) -> list[float]:
    """The oracle's policy at every one of 1,000 prices."""
    rows = np.arange(len(arms))
    found = []
    for price in np.geomspace(1e-3, 1e3, 1000):
        chosen = (arms.quality - price * arms.cost).argmax(axis=1)
        found.append(float(arms.quality[rows, chosen].mean()))
    return found


def rows(max_n: int) -> Iterable[Row]:
    for n in (size for size in SIZES if size <= max_n):
        for name, filings in (("gap, 10 questions a filing", n // 10), ("gap, 1 question a filing", n)):
            arms = log(n, filings)
            ours = median_s(lambda: jensen_gap(arms, PRICES.tolist(), resamples=RESAMPLES))
            yield row(name, n, ours, "plain loop", stopped_s(lambda: plain_gap(arms)))
        arms = log(n, n // 10)
        ours = median_s(lambda: oracle_frontier(arms))
        yield row(
            "oracle frontier, every price",
            n,
            ours,
            "1,000 prices one by one",
            stopped_s(lambda: plain_oracle(arms)),
        )


if __name__ == "__main__":
    options = arguments(__doc__.splitlines()[0]).parse_args()
    show(list(rows(options.max_n)), options.format)

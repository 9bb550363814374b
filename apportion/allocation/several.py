"""Several budgets at once (tokens, money, latency) through prices, with the duality gap reported.

Each resource gets a price; at given prices every item takes its best arm by gain − Σ price · cost, and what that
gains plus what the budgets are worth bounds every feasible choice from above. The lowest such bound is found by
cutting planes (Kelley 1960): a small linear programme over the prices. A feasible choice then walks each item's
hull in order of gain per priced cost, taking every step that fits all that remains. The gap between the two is
what the choice could at most be improved by; Everett (1963), "Generalized Lagrange multiplier method".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.hulls import Floats
from apportion.allocation.inputs import finite
from apportion.allocation.path import Ints, Path, allocation_path, arms_before


@dataclass(frozen=True)
class SeveralSolution:
    """A choice within several budgets.

    Attributes:
        arm: of each item, shape (n,); 0 is the first arm.
        gain: its total gain.
        spend: of each resource, shape (r,); costs below zero count as zero.
        prices: gain per unit of each resource at the best bound, 0 or more, shape (r,).
        upper_bound: no choice within the budgets gains more.
        rounds: of cutting planes.
    """

    arm: Ints
    gain: float
    spend: Floats
    prices: Floats
    upper_bound: float
    rounds: int

    @property
    def gap(self) -> float:
        """Upper bound minus gain: by how much another choice could at most be better."""
        return self.upper_bound - self.gain


def allocate_several(
    gains: ArrayLike,
    costs: ArrayLike,
    budgets: ArrayLike,
    *,
    keys: Any = None,
    tolerance: float = 1e-6,
    most_rounds: int = 100,
) -> SeveralSolution:
    """Return a choice of arms within every budget, the prices and the proven bound.

    Args:
        gains: over the first arm, finite, shape (n, k).
        costs: over the first arm, finite, shape (n, k, r) for r resources.
        budgets: one a resource, 0 or more, shape (r,).
        keys: unique, shape (n,); break ties. None: the position does.
        tolerance: relative distance of the bound from its least value at which the rounds stop.
        most_rounds: of cutting planes; the bound holds wherever they stop.

    Raises:
        ValueError: for NaN or infinite input, shapes that don't agree, or a negative budget.
    """
    g, levels = finite("gain", gains, keys), finite("budget", budgets)
    c = finite("cost", costs, keys)
    if g.ndim != 2 or c.ndim != 3 or c.shape[:2] != g.shape or levels.shape != c.shape[2:]:
        raise ValueError(
            f"gains have shape {g.shape}, costs {c.shape}, budgets {levels.shape}: give (n, k), (n, k, r) and (r,)"
        )
    if levels.size == 0 or levels.min() < 0:
        raise ValueError("give one budget of 0 or more for each resource")
    c = np.maximum(c, 0.0)
    prices, bound, rounds = _best_prices(g, c, levels, tolerance, most_rounds)
    best: tuple[float, Ints] | None = None
    # The priced order is nearly always the better one; where a price is zero it is blind to that resource.
    for weights in (prices, np.divide(1.0, levels, out=np.zeros(levels.shape), where=levels > 0)):
        arm = walk(allocation_path(g, c @ weights, keys=keys), g, c, levels)
        gain = float(_taken(g, arm).sum())
        if best is None or gain > best[0]:
            best = (gain, arm)
    gain, arm = best if best is not None else (0.0, np.zeros(g.shape[0], dtype=np.int64))
    return SeveralSolution(arm, gain, _taken(c, arm).sum(axis=0), prices, max(bound, gain), rounds)


def _best_prices(
    gains: Floats, costs: Floats, budgets: Floats, tolerance: float, most_rounds: int
) -> tuple[Floats, float, int]:
    """Return the prices of the least dual value found, that value, and the rounds it took."""
    from scipy.optimize import linprog

    r = budgets.shape[0]
    scale = np.where(budgets > 0, budgets, 1.0)
    prices, best_prices, best = np.zeros(r), np.zeros(r), np.inf
    cuts, levels = [], []
    rounds = 0
    # Above this price of a resource nothing that uses it is worth buying.
    used = costs > 0
    top = [
        float(
            np.divide(gains, costs[:, :, j], out=np.zeros(gains.shape), where=used[:, :, j]).max(initial=0.0)
        )
        for j in range(r)
    ]
    for rounds in range(1, most_rounds + 1):  # noqa: B007
        net = gains - costs @ prices
        arm = np.where(net.max(axis=1) > 0, net.argmax(axis=1) + 1, 0)
        slope = budgets - _taken(costs, arm).sum(axis=0)
        value = float(np.maximum(net.max(axis=1), 0.0).sum() + prices @ budgets)
        if value < best:
            best, best_prices = value, prices
        cuts.append(np.append(slope / scale, -1.0))
        levels.append(float(slope @ prices) - value)
        plan = linprog(
            np.append(np.zeros(r), 1.0),
            A_ub=np.array(cuts),
            b_ub=np.array(levels),
            bounds=[*((0.0, top[j] * scale[j]) for j in range(r)), (0.0, None)],
            method="highs",
        )
        if plan.status != 0 or best - plan.fun <= tolerance * max(abs(best), 1e-12):
            break
        prices = np.maximum(plan.x[:r], 0.0) / scale
    return best_prices, best, rounds


def walk(path: Path, gains: Floats, costs: Floats, budgets: Floats) -> Ints:
    """Take every step that fits what remains of all budgets; an item whose step doesn't fit goes no further.

    Args:
        path: steps, best first.
        gains, costs: over the first arm, shapes (n, k) and (n, k, r) for r resources.
        budgets: shape (r,).

    Returns:
        The arm of each item, shape (n,); 0 is the first.
    """
    arm = np.zeros(path.items, dtype=np.int64)
    stopped = np.zeros(path.items, dtype=np.bool_)
    ahead = np.arange(len(path))
    left = budgets.copy()
    before = arms_before(path)
    to, low = path.arm.astype(np.int64) - 1, before - 1
    extra = costs[path.item, to] - np.where((low >= 0)[:, None], costs[path.item, low], 0.0)
    while ahead.size:
        sums = np.cumsum(extra[ahead], axis=0)
        over = (sums > left + 1e-12 * budgets).any(axis=1)
        fits = int(np.argmax(over)) if over.any() else ahead.size
        arm[path.item[ahead[:fits]]] = path.arm[ahead[:fits]]
        if fits:
            left = left - sums[fits - 1]
        ahead = ahead[fits:]
        # Steps too dear for what is left stop their items for good when nothing can be given back.
        dear = (extra[ahead] > left + 1e-12 * budgets).any(axis=1) & (extra[ahead] >= 0).all(axis=1)
        stopped[path.item[ahead[dear]]] = True
        if ahead.size and not dear.any():
            stopped[path.item[ahead[0]]] = True
        ahead = ahead[~stopped[path.item[ahead]]]
    return arm


def _taken(values: NDArray[Any], arm: Ints) -> NDArray[Any]:
    """Values of the chosen arms, shape (n, ...); the first arm's are zero."""
    rows = values[np.arange(values.shape[0]), arm - 1]
    return np.where((arm > 0).reshape(-1, *([1] * (rows.ndim - 1))), rows, 0.0)

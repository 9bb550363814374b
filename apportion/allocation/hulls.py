"""Upper-left hulls of items' arms: the steps worth buying, each with its slope.

The hull of an item starts at its first arm (no gain, no cost) and rises with falling slope: gain per token of one
step up. Arms under it are never bought at any price. Rules:

- A cost below zero counts as zero: a predicted saving is never spent.
- An arm that costs nothing (zero or below) and gains is free: its slope is infinite, it is taken before any other.
  So is one that gains nothing but costs less than nothing.
- An arm that gains nothing more is not on the hull, so the path ends where gains end.
- Of arms equal in gain and cost the first is kept.

Sources: Sinha and Zoltners (1979), "The multiple-choice knapsack problem"; Sverdrup, Wu, Athey and Wager (2023),
"Qini curves for multi-armed treatment rules".
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from apportion.allocation.compiled import kernels

Floats = NDArray[np.float64]
_COMPILED_FROM = 50_000  # arms in all, from where loading compiled code repays itself


@dataclass(frozen=True)
class Steps:
    """Hull steps, those of one item together and in order, all of shape (s,).

    Attributes:
        item: whose step.
        arm: the arm it leads to, from 1.
        gain: gained by the step, 0 or more.
        cost: of the step, 0 or more.
        slope: gain / cost, infinite where the cost is zero; strictly falling within an item.
    """

    item: NDArray[np.int32]
    arm: NDArray[np.int16]
    gain: Floats
    cost: Floats
    slope: Floats


def hull_steps(gains: Floats, costs: Floats) -> Steps:
    """Return the hull steps of n items with k arms besides the first.

    Args:
        gains: over the first arm, finite, shape (n, k).
        costs: over the first arm, finite, shape (n, k).
    """
    n, k = gains.shape
    if k == 1:
        return _one_arm(gains[:, 0], costs[:, 0])
    compiled = kernels(n * k >= _COMPILED_FROM)
    if compiled is None:
        return _plain(gains, costs)
    room = n * k
    item, arm = np.empty(room, dtype=np.int32), np.empty(room, dtype=np.int16)
    gain, cost, slope = np.empty(room), np.empty(room), np.empty(room)
    s = compiled.write_hull_steps(gains, costs, item, arm, gain, cost, slope)
    return Steps(item[:s], arm[:s], gain[:s], cost[:s], slope[:s])


def _one_arm(gains: Floats, costs: Floats) -> Steps:
    item = np.flatnonzero((gains > 0) | ((gains == 0) & (costs < 0))).astype(np.int32)
    gain, cost = gains[item], costs[item]
    free = cost <= 0
    if free.any():
        cost[free] = 0.0
        slope = np.divide(gain, cost, out=np.full(gain.shape, np.inf), where=~free)
    else:
        slope = gain / cost
    return Steps(item, np.ones(item.shape[0], dtype=np.int16), gain, cost, slope)


def _plain(gains: Floats, costs: Floats) -> Steps:
    """All items at once: arms in order of cost, a stack of hull corners an item."""
    n, k = gains.shape
    spent = np.maximum(costs, 0.0)
    arms = np.broadcast_to(np.arange(k), (n, k))
    order = np.lexsort((arms, costs, -gains, spent), axis=-1)
    rows = np.arange(n)
    corner_gain, corner_cost = np.zeros((n, k + 1)), np.zeros((n, k + 1))
    corner_arm, slopes = np.zeros((n, k + 1), dtype=np.int16), np.full((n, k + 1), np.inf)
    top = np.zeros(n, dtype=np.int64)
    for at in range(k):
        arm = order[:, at]
        gain, cost, raw = gains[rows, arm], spent[rows, arm], costs[rows, arm]
        better = (gain > corner_gain[rows, top]) | ((top == 0) & (gain == 0) & (raw < 0))
        slope = _slopes(gain - corner_gain[rows, top], cost - corner_cost[rows, top])
        while (drop := better & (top > 0) & (slope >= slopes[rows, top])).any():
            top[drop] -= 1
            slope[drop] = _slopes(
                (gain - corner_gain[rows, top])[drop], (cost - corner_cost[rows, top])[drop]
            )
        top[better] += 1
        place = (rows[better], top[better])
        corner_gain[place], corner_cost[place] = gain[better], cost[better]
        corner_arm[place], slopes[place] = arm[better] + 1, slope[better]
    on = np.arange(1, k + 1) <= top[:, None]
    item = np.repeat(rows, top).astype(np.int32)
    gain, cost = np.diff(corner_gain, axis=1)[on], np.diff(corner_cost, axis=1)[on]
    return Steps(item, corner_arm[:, 1:][on], gain, cost, slopes[:, 1:][on])


def _slopes(rise: Floats, run: Floats) -> Floats:
    slopes: Floats = np.divide(rise, run, out=np.full(rise.shape, np.inf), where=run > 0)
    return slopes

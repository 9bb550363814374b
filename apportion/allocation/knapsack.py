"""Exact 0/1 knapsack in whole units of cost, with a proven bound.

The linear relaxation fills items by gain per unit up to the split item; its price bounds every solution, items
whose change of choice would cost more than the gap are fixed, and the few left (the core) are searched exactly
(`apportion.allocation.core`). Sources: Dantzig (1957) for the relaxation, Pisinger (1997) for the core. With
hundreds of items or more the optimum beats first-fit on the same order by very little.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.core import MOST_STATES, Exchanges, best_exchanges, grain, worth_compiling
from apportion.allocation.inputs import finite, whole, whole_budgets

_NEAR = 32
_PAIRED = 12
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Solution:
    """A solution with its proof.

    Attributes:
        arm: chosen arm of each item, shape (n,); 0 is the first arm (for 0/1: not taken).
        gain: its total gain.
        cost: its total cost in tokens (before rounding to units).
        upper_bound: no selection within the same units gains more.
        linear_bound: the gain of the fractional relaxation.
    """

    arm: Ints
    gain: float
    cost: int
    upper_bound: float
    linear_bound: float

    @property
    def gap(self) -> float:
        """Upper bound minus gain: 0 when proven optimal."""
        return self.upper_bound - self.gain

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """Whether each item left its first arm, shape (n,)."""
        return self.arm > 0


def units(costs: Ints, unit: int) -> Ints:
    """Return costs in units, rounded up; below zero counts as zero."""
    free = np.maximum(costs, 0)
    return (free + (unit - 1)) // unit if unit > 1 else free


def knapsack(
    gains: ArrayLike,
    costs: ArrayLike,
    budget: int,
    *,
    unit: int = 10,
    keys: Any = None,
    most_states: int = MOST_STATES,
) -> Solution:
    """Return an optimal set of items.

    Args:
        gains: finite, shape (n,); items that gain nothing are left out.
        costs: whole tokens, shape (n,); rounded up to units. Free items with a gain are taken.
        budget: whole tokens, 0 or more; rounded down to units.
        unit: tokens to a unit.
        keys: unique, shape (n,); break ties between equal items. None: the position does.
        most_states: states to remember before stopping short of proof, with the gap reported.

    Raises:
        ValueError: for NaN, infinite or fractional input, named by array and key.
    """
    g, c = finite("gain", gains, keys), whole("cost", costs, keys)
    if g.ndim != 1 or g.shape != c.shape:
        raise ValueError(f"gains have shape {g.shape}, costs {c.shape}: give one of each an item")
    if unit < 1:
        raise ValueError(f"unit is {unit}: give 1 token or more")
    capacity = int(whole_budgets(budget)[0]) // unit
    w = units(c, unit)
    if keys is None:
        chosen, bound, linear = solve(g, w, capacity, most_states)
    else:
        from apportion.allocation.inputs import key_ranks

        by_key = np.argsort(key_ranks(keys))
        chosen = np.zeros(g.shape[0], dtype=np.bool_)
        chosen[by_key], bound, linear = solve(g[by_key], w[by_key], capacity, most_states)
    gain = float(g[chosen].sum())
    return Solution(
        chosen.astype(np.int64),
        gain,
        int(c[chosen].sum()),
        gain + bound,
        gain + bound if linear is None else linear,
    )


def solve(
    gains: Floats, weights: Ints, capacity: int, most_states: int = MOST_STATES
) -> tuple[NDArray[np.bool_], float, float | None]:
    """Return an optimal selection, by how much it could at most be beaten, and the linear bound (None: equal).

    Args:
        gains: finite, shape (n,).
        weights: units, 0 or more, shape (n,).
        capacity: units, 0 or more.
        most_states: as in `knapsack`.
    """
    worth = gains > 0
    chosen = worth & (weights == 0)
    free = float(gains[chosen].sum())
    items = np.flatnonzero(worth & (weights > 0) & (weights <= capacity))
    w, g = weights[items], gains[items]
    if int(w.sum()) <= capacity:
        chosen[items] = True
        return chosen, 0.0, None
    step = grain(g)
    margin = 0.0
    if step is not None:
        g, margin = np.rint(g / step), 1.0 - 1e-6
    rate = g / w
    full, order, split, used, inner = fill(rate, w, capacity)
    slack, price = capacity - used, float(rate[order[split]])
    start = float(g @ full)
    # A first solution: go on down the order behind the split item with what still fits.
    rest = order[split + 1 :]
    extra, fitted, left = 0.0, [np.zeros(0, dtype=np.int64)], slack
    while (rest := rest[w[rest] <= left]).size:
        sums = np.cumsum(w[rest])
        fits = int(np.searchsorted(sums, left, side="right"))
        fitted.append(rest[:fits])
        extra += float(g[rest[:fits]].sum())
        left -= int(sums[fits - 1])
        rest = rest[fits:]
    changes = np.concatenate(fitted)
    swapped, swap = _best_swap(g, w, order, split, slack)
    if swapped > extra:
        extra, changes = swapped, swap
    # Only items whose regret is below the gap can change. Outside the bracket of the split item even the
    # lightest item's regret is usually above it, and the rest needn't be looked at.
    reach = price * slack - extra - margin
    near = inner
    if near is None or min(price - rate[near].min(), rate[near].max() - price) * int(w.min()) <= reach:
        near = np.arange(items.size)
    near = near[np.abs(price * w[near] - g[near]) < reach]
    sign = np.where(full[near], -1, 1)
    best, moves, ceiling = best_exchanges(
        Exchanges(near, sign, sign * w[near], sign * g[near]),
        price,
        slack,
        extra,
        margin=margin,
        most=most_states,
        large=worth_compiling(gains.shape[0]),
    )
    if moves is None:
        full[changes] ^= True
    else:
        full[near[moves]] ^= True
    chosen[items[full]] = True
    scale = 1.0 if step is None else step
    return chosen, (ceiling - best) * scale, free + (start + price * slack) * scale


def fill(rate: Floats, weights: Ints, capacity: int) -> tuple[NDArray[np.bool_], Ints, int, int, Ints | None]:
    """Fill items by descending rate until one doesn't fit.

    Args:
        rate: gain per unit, shape (n,); equal rates in order of position.
        weights: units, above 0, shape (n,), more in all than `capacity`.
        capacity: units.

    Returns:
        Who is filled whole, shape (n,); the items around the split in order; the place of the split item in it;
        the units filled; and those items again, None where they are all.
    """
    n = rate.shape[0]
    bracket = _bracket(rate, weights, capacity) if n > 4096 else None
    if bracket is None:
        full = np.zeros(n, dtype=np.bool_)
        order, before, inner = np.argsort(-rate, kind="stable"), 0, None
    else:
        full, inner, before = bracket
        order = inner[np.argsort(-rate[inner], kind="stable")]
    sums = np.cumsum(weights[order])
    fits = int(np.searchsorted(sums, capacity - before, side="right"))
    full[order[:fits]] = True
    used = before + (int(sums[fits - 1]) if fits else 0)
    return full, order, fits, used, inner


@cache
def _pairs(size: int) -> tuple[Ints, Ints]:
    i, j = np.triu_indices(size, 1)
    return i, j


def _best_swap(gains: Floats, weights: Ints, order: Ints, split: int, slack: int) -> tuple[float, Ints]:
    """Return the best exchange of up to two filled items for up to two others close to the split, and who changes.

    A few thousand combinations cost less than the core that a better first solution saves.
    """
    sides = []
    for near in (order[max(0, split - _NEAR) : split][::-1], order[split : split + _NEAR]):
        i, j = _pairs(min(near.size, _PAIRED))
        first = np.concatenate([[-1], near, near[i]])
        second = np.concatenate([np.full(near.size + 1, -1), near[j]])
        gain = np.where(first >= 0, gains[first], 0.0) + np.where(second >= 0, gains[second], 0.0)
        weight = np.where(first >= 0, weights[first], 0) + np.where(second >= 0, weights[second], 0)
        sides.append((first, second, gain, weight))
    out, into = sides
    better = np.where(into[3] - out[3][:, None] <= slack, into[2] - out[2][:, None], -np.inf)
    at_out, at_in = np.unravel_index(int(better.argmax()), better.shape)
    changed = np.array([out[0][at_out], out[1][at_out], into[0][at_in], into[1][at_in]])
    return float(better[at_out, at_in]), changed[changed >= 0]


def _bracket(rate: Floats, weights: Ints, capacity: int) -> tuple[NDArray[np.bool_], Ints, int] | None:
    """Guess from a sample which rates surely lie above the split; None if the guess is wrong."""
    sample = np.arange(0, rate.shape[0], rate.shape[0] // 2048)
    order = sample[np.argsort(-rate[sample])]
    at = int(np.searchsorted(np.cumsum(weights[order]) * (rate.shape[0] / sample.size), capacity))
    reach = 3 * int(np.sqrt(sample.size))
    high = rate[order[at - reach]] if at >= reach else np.inf
    low = rate[order[at + reach]] if at + reach < order.size else -np.inf
    full = rate > high
    inner = np.flatnonzero((rate >= low) & ~full)
    before = int(weights[full].sum())
    if before > capacity or before + int(weights[inner].sum()) <= capacity:
        return None
    return full, inner, before

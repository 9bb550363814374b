"""Exact 0/1 knapsack in whole units of cost, with a proven bound.

The linear relaxation fills items by gain per unit up to the split item; its price bounds every solution, items
whose change of choice would cost more than the gap are fixed, and the few left (the core) are searched exactly
(`apportion.allocation.core`). Sources: Dantzig (1957) for the relaxation, Pisinger (1997) for the core. With
hundreds of items or more the optimum beats first-fit on the same order by very little.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.compiled import kernels
from apportion.allocation.core import MOST_STATES, Exchanges, best_exchanges, grain, worth_compiling
from apportion.allocation.inputs import finite, whole, whole_budgets

_NEAR = 24
_PAIRED = 8
_SORTED = 4096
"""Items up to which sorting them all costs less than guessing which of them matter."""

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
    if unit > 1:  # in place: for many items memory costs more than arithmetic
        free += unit - 1
        free //= unit
    return free


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
    if keys is None:
        chosen, bound, linear = solve(g, c, capacity, most_states, unit=unit)
    else:
        from apportion.allocation.inputs import key_ranks

        by_key = np.argsort(key_ranks(keys))
        chosen = np.zeros(g.shape[0], dtype=np.bool_)
        chosen[by_key], bound, linear = solve(g[by_key], c[by_key], capacity, most_states, unit=unit)
    gain = float((g * chosen).sum())
    return Solution(
        chosen.astype(np.int64),
        gain,
        int(np.einsum("i,i->", c, chosen)),
        gain + bound,
        gain + bound if linear is None else linear,
    )


def solve(
    gains: Floats, weights: Ints, capacity: int, most_states: int = MOST_STATES, *, unit: int = 1
) -> tuple[NDArray[np.bool_], float, float | None]:
    """Return an optimal selection, by how much it could at most be beaten, and the linear bound (None: equal).

    Args:
        gains: finite, shape (n,).
        weights: costs, shape (n,); rounded up to units, below zero counts as zero.
        capacity: units, 0 or more.
        most_states: as in `knapsack`.
        unit: cost to a unit.
    """
    units_of, worth = units(weights, unit), gains > 0
    paid = units_of > 0
    chosen = worth & ~paid
    free = float(gains[chosen].sum())
    items = np.flatnonzero(worth & paid & (units_of <= capacity))
    w, g = units_of[items], gains[items]
    if int(w.sum()) <= capacity:
        chosen[items] = True
        return chosen, 0.0, None
    step = grain(g)
    margin = 0.0
    if step is not None:
        g, margin = np.rint(g / step), 1.0 - 1e-6
    rate = g / w
    full, order, split, used = fill(rate, w, capacity)
    slack, price = capacity - used, float(rate[order[split]])
    start = float((g * full).sum())
    # A first solution: go on down the order behind the split item with what still fits.
    large = worth_compiling(gains.shape[0])
    compiled = kernels(large)
    fitting = still_fitting if compiled is None else compiled.still_fitting
    changes = fitting(w, order[split + 1 :], slack)
    extra = float(g[changes].sum())
    swapping = best_swap if compiled is None else compiled.best_swap
    swapped, swap = _swap(g, w, order, split, slack, swapping)
    if swapped > extra:
        extra, changes = swapped, swap
    # Only items whose regret is below the gap can change. Outside the items around the split even the lightest
    # item's regret is usually above it, and the rest needn't be looked at.
    reach = price * slack - extra - margin
    lightest, near = int(w.min()), order
    if min(price - rate[order[-1]], rate[order[0]] - price) * lightest <= reach:
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
        large=large,
    )
    if moves is None:
        full[changes] ^= True
    else:
        full[near[moves]] ^= True
    chosen[items] = full
    scale = 1.0 if step is None else step
    return chosen, (ceiling - best) * scale, free + (start + price * slack) * scale


def fill(rate: Floats, weights: Ints, capacity: int) -> tuple[NDArray[np.bool_], Ints, int, int]:
    """Fill items by descending rate until one doesn't fit.

    Args:
        rate: gain per unit, shape (n,); equal rates in order of position.
        weights: units, above 0, shape (n,), more in all than `capacity`.
        capacity: units.

    Returns:
        Who is filled whole, shape (n,); the items around the split in order, or all; the place of the split item
        in it; the units filled.
    """
    n = rate.shape[0]
    bracket = _bracket(rate, weights, capacity) if n > _SORTED else None
    if bracket is None:
        full, order, before = np.zeros(n, dtype=np.bool_), np.argsort(-rate, kind="stable"), 0
    else:
        full, inner, before = bracket
        rates, inside = rate[inner], weights[inner]
        while inner.size > _SORTED and (bracket := _bracket(rates, inside, capacity - before)) is not None:
            above, between, filled = bracket
            full[inner] = above
            inner, before = inner[between], before + filled
            rates, inside = rates[between], inside[between]
        order = inner[np.argsort(-rates, kind="stable")]
    sums = np.cumsum(weights[order])
    fits = int(np.searchsorted(sums, capacity - before, side="right"))
    full[order[:fits]] = True
    used = before + (int(sums[fits - 1]) if fits else 0)
    return full, order, fits, used


def still_fitting(weights: Ints, order: Ints, left: int) -> Ints:
    """Return which of `order` are taken when each is that fits into what is left, in that order."""
    fitted = [order[:0]]
    while (order := order[weights[order] <= left]).size:
        sums = np.cumsum(weights[order])
        fits = int(np.searchsorted(sums, left, side="right"))
        fitted.append(order[:fits])
        left -= int(sums[fits - 1])
        order = order[fits:]
    return np.concatenate(fitted)


@cache
def _combinations(size: int) -> Ints:
    """None, each of `size` places, and each pair of the first `_PAIRED`; shape (m, 2), -1 for nobody."""
    i, j = np.triu_indices(min(size, _PAIRED), 1)
    alone = np.column_stack([np.arange(-1, size), np.full(size + 1, -1)])
    return np.concatenate([alone, np.column_stack([i, j])])


def _swap(
    gains: Floats, weights: Ints, order: Ints, split: int, slack: int, find: Callable[..., Any]
) -> tuple[float, Ints]:
    """Return the best exchange of up to two filled items for up to two others close to the split, and who changes.

    A few thousand combinations cost less than the core that a better first solution saves.
    """
    out, into = (
        np.append(near, -1)[_combinations(near.size)]
        for near in (order[max(0, split - _NEAR) : split][::-1], order[split : split + _NEAR])
    )
    better, at_out, at_in = find(gains, weights, out, into, slack)
    changed = np.concatenate([out[at_out], into[at_in]])
    return float(better), changed[changed >= 0]


def best_swap(gains: Floats, weights: Ints, out: Ints, into: Ints, slack: int) -> tuple[float, int, int]:
    """Return the gain and the places of the best of `into` for the best of `out` that fits; the first of equals.

    Args:
        gains: shape (n,).
        weights: units, shape (n,).
        out: up to two positions to give up, -1 for nobody, shape (a, 2).
        into: likewise to take, shape (b, 2).
        slack: units left free.
    """
    gain, weight = np.append(gains, 0.0), np.append(weights, 0)
    more = weight[into].sum(axis=1) - weight[out].sum(axis=1)[:, None]
    better = np.where(more <= slack, gain[into].sum(axis=1) - gain[out].sum(axis=1)[:, None], -np.inf)
    at_out, at_in = np.unravel_index(int(better.argmax()), better.shape)
    return float(better[at_out, at_in]), int(at_out), int(at_in)


def _bracket(rate: Floats, weights: Ints, capacity: int) -> tuple[NDArray[np.bool_], Ints, int] | None:
    """Guess from a sample which rates surely lie above the split; None if the guess is wrong."""
    sample = np.arange(0, rate.shape[0], rate.shape[0] // (1024 if rate.shape[0] < 20_000 else 2048))
    order = sample[np.argsort(-rate[sample])]
    at = int(np.searchsorted(np.cumsum(weights[order]) * (rate.shape[0] / sample.size), capacity))
    reach = 2 * int(np.sqrt(sample.size))
    high = rate[order[at - reach]] if at >= reach else np.inf
    low = rate[order[at + reach]] if at + reach < order.size else -np.inf
    full = rate > high
    inner = np.flatnonzero((rate >= low) & ~full)
    # By a mask, where picking out would wait for branches that nothing foretells; einsum makes no product.
    before = int(np.einsum("i,i->", weights, full))
    if before > capacity or before + int(weights[inner].sum()) <= capacity:
        return None
    return full, inner, before

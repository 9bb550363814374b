"""Greedy first-fit: go down an order, accept each call whose cost fits what remains, skip the others.

Source: escalation paper, section II-C. A cost below zero counts as zero: a predicted saving is never spent.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.inputs import whole, whole_budgets


def first_fit(order: ArrayLike, costs: ArrayLike, budgets: ArrayLike) -> NDArray[np.bool_]:
    """Return who is accepted at each budget.

    Args:
        order: positions of items, best first, shape (m,), each at most once; others are never taken.
        costs: whole tokens, shape (n,).
        budgets: whole tokens, 0 or more, shape (b,).

    Returns:
        Booleans of shape (b, n), columns in the order of `costs`.

    Raises:
        ValueError: for fractional or non-finite costs, negative budgets, positions out of range or repeated.
    """
    tokens = np.maximum(whole("cost", costs), 0)
    places = checked_order(order, tokens.shape[0])
    levels = whole_budgets(budgets)
    chosen = np.zeros((levels.shape[0], tokens.shape[0]), dtype=np.bool_)
    ordered = tokens[places]
    for row, budget in enumerate(levels):
        chosen[row, places[first_fit_positions(ordered, int(budget))]] = True
    return chosen


def first_fit_positions(ordered_costs: NDArray[np.int64], budget: int) -> NDArray[np.int64]:
    """Return the accepted positions (ascending) of costs already in order and not below zero.

    Works in rounds: the longest prefix that fits is accepted by one running sum, the first call that
    doesn't fit is skipped, and only calls cheap enough for what remains go into the next round.
    """
    accepted: list[NDArray[np.int64]] = []
    left = budget
    waiting = np.flatnonzero(ordered_costs <= left)
    while waiting.size:
        costs = ordered_costs[waiting]
        sums = np.cumsum(costs)
        fits = int(np.searchsorted(sums, left, side="right"))
        accepted.append(waiting[:fits])
        left -= int(sums[fits - 1])  # the first always fits: dearer ones were left out before the round
        rest = slice(fits, None)
        waiting = waiting[rest][costs[rest] <= left]
    return np.concatenate(accepted) if accepted else np.zeros(0, dtype=np.int64)


def checked_order(order: ArrayLike, n: int) -> NDArray[np.int64]:
    """Return `order` as int64 positions; raise ValueError if one is out of range or stands twice."""
    places = np.asarray(order, dtype=np.int64)
    if places.size and (places.min() < 0 or places.max() >= n):
        raise ValueError(
            f"order names position {int(places.max() if places.max() >= n else places.min())} of {n} items"
        )
    seen = np.zeros(n, dtype=np.bool_)
    seen[places] = True
    if int(np.count_nonzero(seen)) != places.size:
        raise ValueError("order names a position twice: each item may stand in it once")
    return places

"""Dynamic programming on the core of a knapsack: exchanges near the price, the best first.

The solution of the linear relaxation is changed item by item, nearest to the price first; a state (weight, gain)
is dropped when a lighter one gains as much, or when even the best rate left could not lift it above the best
solution found. Sources: Pisinger, "A minimal algorithm for the 0-1 knapsack problem" (1997) and "A minimal
algorithm for the multiple-choice knapsack problem" (1995); here one form for both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apportion.allocation.compiled import kernels

_COMPILED_FROM = 5_000  # items, from where loading compiled code repays itself
MOST_STATES = 1 << 25
"""Changes of state remembered (16 bytes each) before a search stops with a gap."""


@dataclass(frozen=True)
class Exchanges:
    """Changes of choice that may improve on a starting solution: at most one an item.

    Attributes:
        item: whose choice changes, shape (m,).
        arm: the arm it changes to, shape (m,).
        weight: units more than the starting choice, shape (m,).
        gain: gain more than the starting choice, shape (m,).
    """

    item: NDArray[np.int64]
    arm: NDArray[np.int64]
    weight: NDArray[np.int64]
    gain: NDArray[np.float64]


def best_exchanges(
    exchanges: Exchanges,
    price: float,
    slack: int,
    floor: float,
    *,
    margin: float = 0.0,
    most: int = MOST_STATES,
    large: bool = False,
) -> tuple[float, NDArray[np.int64] | None, float]:
    """Return the best gain over the starting solution, the exchanges that make it, and a proven upper bound.

    Args:
        exchanges: candidates; those of negative weight free units, those of positive weight use them.
        price: gain per unit at which the starting solution is the best choice of each item.
        slack: units that the starting solution leaves free, 0 or more.
        floor: gain over the start of a solution already known, 0 or more.
        margin: improvements of this much or less don't exist (below 1 where gains are whole numbers).
        most: states to remember before stopping short.
        large: whether compiled code is worth loading.

    Returns:
        Positions in `exchanges`, None if nothing beats `floor`. The bound equals the gain unless stopped short.
    """
    regret = price * exchanges.weight - exchanges.gain
    useful = (exchanges.weight < 0) | (exchanges.gain > 0)
    near = np.flatnonzero(useful & (regret < price * slack - floor - margin))
    if near.size == 0:
        return floor, None, floor
    compiled = kernels(large)
    arranged = compiled.arrange if compiled is not None else arrange
    order, start, up, down = arranged(
        exchanges.item[near], exchanges.weight[near], exchanges.gain[near], price
    )
    near = near[order]
    weight, gain = exchanges.weight[near], exchanges.gain[near]
    grow = compiled.grow_core if compiled is not None else grow_core
    best, node, ceiling, parent, made_by = grow(start, weight, gain, up, down, slack, floor, margin, most)
    if node == -2:
        return floor, None, float(ceiling)
    taken = []
    while node >= 0:
        taken.append(made_by[node])
        node = parent[node]
    return float(best), near[np.array(taken, dtype=np.int64)], float(ceiling)


def arrange(
    item: NDArray[np.int64], weight: NDArray[np.int64], gain: NDArray[np.float64], price: float
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float64], NDArray[np.float64]]:
    """Put exchanges in the order of the search: items by the nearest of their exchanges, that item's by distance.

    Args:
        item: whose choice changes, shape (m,); equal distances go by it.
        weight: units, shape (m,).
        gain: gain, shape (m,).
        price: that rates are near to.

    Returns:
        The order, shape (m,); the first exchange of each stage and the end of the last; the best rate of later
        stages at which slack turns to gain, and the least at which excess is paid off, each of shape (stages,).
    """
    rate = gain / np.where(weight == 0, 1, weight)
    distance = np.where(weight == 0, np.inf, np.abs(rate - price))
    by_item = np.lexsort((distance, item))
    heads = np.flatnonzero(np.diff(item[by_item], prepend=-1))
    nearest = np.repeat(distance[by_item][heads], np.diff(heads, append=item.size))
    order = by_item[np.lexsort((item[by_item], nearest))]
    item, weight, rate = item[order], weight[order], rate[order]
    start = np.append(np.flatnonzero(np.diff(item, prepend=-1)), item.size).astype(np.int64)
    up = np.append(np.maximum.accumulate(np.where(weight > 0, rate, 0.0)[::-1])[::-1], 0.0)[start[1:]]
    down = np.append(np.minimum.accumulate(np.where(weight < 0, rate, np.inf)[::-1])[::-1], np.inf)[start[1:]]
    return order, start, up, down


def grain(gains: NDArray[np.float64]) -> float | None:
    """Return a step that all gains are whole multiples of, None if there is none.

    Scores on a scale, such as thirds, often have one; in its multiples sums are exact, and a bound less than one
    step above a solution proves it.
    """
    ordered = np.sort(np.abs(gains[:: max(1, gains.size // 256)]))
    if np.count_nonzero(ordered[1:] != ordered[:-1]) >= 200 or ordered[-1:].sum() == 0:
        return None
    sample = np.unique(ordered)
    top = float(sample[-1])
    step = 0.0
    for value in sample.tolist():
        rest = value
        while rest > 1e-12 * top:
            step, rest = rest, (step % rest)
            if rest > step - 1e-12 * top:  # a remainder just short of the divisor is none
                rest = 0.0
    if step < 1e-3 * top:
        return None
    step = top / round(top / step)
    multiples = gains / step
    whole = np.rint(multiples)
    return step if bool(((np.abs(multiples - whole) < 1e-12) & ((whole != 0) | (gains == 0))).all()) else None


def worth_compiling(n: int) -> bool:
    """Whether a problem of `n` items is large enough for compiled code."""
    return n >= _COMPILED_FROM


def grow_core(
    start: NDArray[np.int64],
    extra_weight: NDArray[np.int64],
    extra_gain: NDArray[np.float64],
    up: NDArray[np.float64],
    down: NDArray[np.float64],
    slack: int,
    floor: float,
    margin: float,
    most: int,
) -> Any:
    """Search the exchanges stage by stage.

    Args:
        start: first exchange of each stage (item) and the end of the last, shape (stages + 1,).
        extra_weight: units, shape (m,).
        extra_gain: gain, shape (m,).
        up: best gain per unit of slack in later stages, shape (stages,).
        down: least gain lost per unit freed in later stages (infinite if none can be freed), shape (stages,).
        slack: units free at the start.
        floor: gain that must be beaten.
        margin: least improvement worth a search.
        most: states to remember.

    Returns:
        The best gain, its node (-1 the start itself, -2 none beats the floor), an upper bound, and for each node
        its parent and the exchange that made it.
    """
    weights, gains, nodes = np.zeros(1, dtype=np.int64), np.zeros(1), np.full(1, -1, dtype=np.int64)
    parents: list[NDArray[np.int64]] = []
    makers: list[NDArray[np.int64]] = []
    used, best, best_node, ceiling = 0, floor, -2, floor
    for stage in range(start.shape[0] - 1):
        moves = np.arange(start[stage], start[stage + 1])
        all_weights = np.concatenate([weights, *(weights + extra_weight[move] for move in moves)])
        all_gains = np.concatenate([gains, *(gains + extra_gain[move] for move in moves)])
        all_moves = np.repeat(np.append(-1, moves), weights.size)
        all_nodes = np.tile(nodes, moves.size + 1)
        order = np.lexsort((-all_gains, all_weights))  # stable: of equals, the unchanged state
        ordered = all_gains[order]
        before = np.concatenate([[-np.inf], np.maximum.accumulate(ordered)[:-1]])
        order = order[ordered > before]
        weights, gains = all_weights[order], all_gains[order]
        top = int(np.searchsorted(weights, slack, side="right")) - 1
        best_at = -1
        if top >= 0 and gains[top] > best:
            best, best_at = float(gains[top]), top
        room = (slack - weights).astype(np.float64)
        down_rate = np.where(room >= 0, up[stage], down[stage])
        bound = gains + room * down_rate
        keep = bound > best + margin
        noted = keep.copy()
        if best_at >= 0:
            noted[best_at] = True
        state_nodes, state_moves = all_nodes[order], all_moves[order]
        fresh = noted & (state_moves >= 0)
        parents.append(state_nodes[fresh])
        makers.append(state_moves[fresh])
        state_nodes[fresh] = used + np.arange(int(fresh.sum()))
        used += int(fresh.sum())
        if best_at >= 0:
            best_node = int(state_nodes[best_at])
        highest = float(bound[keep].max()) if keep.any() else best
        weights, gains, nodes = weights[keep], gains[keep], state_nodes[keep]
        if weights.size == 0:
            break
        if used > most:
            ceiling = highest
            break
    none = np.zeros(0, dtype=np.int64)
    return (
        best,
        best_node,
        max(ceiling, best),
        np.concatenate([*parents, none]),
        np.concatenate([*makers, none]),
    )

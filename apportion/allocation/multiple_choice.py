"""Exact multiple-choice knapsack: one arm an item, within a budget of whole units.

Same method as the 0/1 form (`apportion.allocation.knapsack`): the path gives the relaxation, its split step the
price, and changes of arm near that price are searched exactly. Arms under the hull take part: a whole-unit optimum
may use them. Source: Pisinger (1995), "A minimal algorithm for the multiple-choice knapsack problem".
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.core import MOST_STATES, Exchanges, best_exchanges, grain, worth_compiling
from apportion.allocation.hulls import Floats
from apportion.allocation.inputs import key_ranks, whole, whole_budgets
from apportion.allocation.knapsack import Solution, units
from apportion.allocation.path import Ints, Path, allocation_path, arm_columns

_FILL_STEPS = 4096  # steps behind the split item that are tried for a first solution


def multiple_choice(
    gains: ArrayLike,
    costs: ArrayLike,
    budget: int,
    *,
    unit: int = 10,
    keys: Any = None,
    most_states: int = MOST_STATES,
) -> Solution:
    """Return an optimal choice of arms.

    Args:
        gains: over the first arm, finite, shape (n, k) or (n,).
        costs: over the first arm, whole tokens, same shape; rounded up to units, below zero counts as zero.
        budget: whole tokens, 0 or more; rounded down to units.
        unit: tokens to a unit.
        keys: unique, shape (n,); break ties between equal items. None: the position does.
        most_states: states to remember before stopping short of proof, with the gap reported.

    Raises:
        ValueError: for NaN, infinite or fractional input, named by array and key.
    """
    g, _ = arm_columns(gains, costs, keys)
    c = whole("cost", costs, keys).reshape(g.shape)
    if unit < 1:
        raise ValueError(f"unit is {unit}: give 1 token or more")
    capacity = int(whole_budgets(budget)[0]) // unit
    order = np.arange(g.shape[0]) if keys is None else np.argsort(key_ranks(keys))
    arm = np.zeros(g.shape[0], dtype=np.int64)
    arm[order], slackness, linear = _solve(g[order], units(c[order], unit), capacity, most_states)
    gain, cost = float(_chosen(g, arm).sum()), int(_chosen(c, arm).sum())
    return Solution(arm, gain, cost, gain + slackness, gain if linear is None else linear)


def _solve(gains: Floats, weights: Ints, capacity: int, most: int) -> tuple[Ints, float, float | None]:
    step = grain(gains.ravel())
    margin = 0.0
    if step is not None:
        gains, margin = np.rint(gains / step), 1.0 - 1e-6
    path = allocation_path(gains, weights)
    point = path.at(capacity)
    arm = path.arms_at(capacity)
    if point.steps == len(path):
        return arm, 0.0, None
    slack, price = capacity - int(_chosen(weights, arm).sum()), point.price
    extra, filling = _first_solution(path, point.steps, slack)
    item, to, weight, gain = _all_exchanges(gains, weights, arm, price, price * slack - extra - margin)
    best, moves, ceiling = best_exchanges(
        Exchanges(item, to, weight, gain),
        price,
        slack,
        extra,
        margin=margin,
        most=most,
        large=worth_compiling(gains.size),
    )
    if moves is None:
        arm[path.item[filling]] = path.arm[filling]
    else:
        arm[item[moves]] = to[moves]
    scale = 1.0 if step is None else step
    return arm, (ceiling - best) * scale, point.gain * scale


def _all_exchanges(
    gains: Floats, weights: Ints, arm: Ints, price: float, reach: float
) -> tuple[Ints, Ints, Ints, Floats]:
    """Every change of arm whose regret at the price is below `reach`."""
    k = gains.shape[1]
    now_gain, now_weight = _chosen(gains, arm), _chosen(weights, arm)
    found: list[tuple[Any, ...]] = []
    for to in range(k + 1):
        gain = (gains[:, to - 1] if to else 0.0) - now_gain
        weight = (weights[:, to - 1] if to else 0) - now_weight
        near = np.flatnonzero((price * weight - gain < reach) & (arm != to))
        found.append((near, np.full(near.size, to), weight[near], gain[near]))
    item, to_arm, weights_of, gains_of = (np.concatenate(column) for column in zip(*found, strict=True))
    return item, to_arm, weights_of, gains_of


def _first_solution(path: Path, split: int, slack: int) -> tuple[float, Ints]:
    """Go on down the path behind the split step: each item's next step, if it fits what is left."""
    ahead = np.arange(split + 1, min(len(path), split + 1 + _FILL_STEPS))
    first = np.sort(np.unique(path.item[ahead], return_index=True)[1])
    ahead = ahead[first]
    ahead = ahead[path.item[ahead] != path.item[split]]
    extra, left = 0.0, float(slack)
    taken = [np.zeros(0, dtype=np.int64)]
    while (ahead := ahead[path.cost[ahead] <= left]).size:
        sums = np.cumsum(path.cost[ahead])
        fits = int(np.searchsorted(sums, left, side="right"))
        taken.append(ahead[:fits])
        extra += float(path.gained[ahead[:fits]].sum())
        left -= float(sums[fits - 1])
        ahead = ahead[fits:]
    return extra, np.concatenate(taken)


def _chosen(values: NDArray[Any], arm: Ints) -> NDArray[Any]:
    """The values of chosen arms, shape (n,); arm 0 is zero."""
    return np.where(arm > 0, values[np.arange(values.shape[0]), arm - 1], 0)

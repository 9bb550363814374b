"""The whole path: spend, gain and chosen arms of the fractional optimum at every budget at once.

Steps of all items' hulls in one order of falling slope; each budget is a prefix of it. In between two prefixes one
item is split: randomising it between its two arms meets the budget exactly and is the optimum of the linear
relaxation; leaving it at its lower arm is the feasible whole choice. The slope at the budget is the price λ: what one
more token buys, and the price at which every item's best arm by gain − λ · cost is the one the path chose.

Equal slopes go by ascending key, so the order of rows changes nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.hulls import Floats, Steps, hull_steps
from apportion.allocation.inputs import finite, key_ranks

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class PathPoint:
    """The path at one budget.

    Attributes:
        budget: asked for, in units of cost.
        steps: whole steps taken.
        spend: expected spend; the budget itself where an item is split, less where the item is dropped.
        gain: expected gain.
        price: gain of one more unit of cost; 0 where the path has ended.
        split_item: the item whose next step is taken with probability `split_share`; None where none is.
        split_arm: the arm that step leads to.
        split_share: probability, above 0 and below 1.
    """

    budget: float
    steps: int
    spend: float
    gain: float
    price: float
    split_item: int | None = None
    split_arm: int | None = None
    split_share: float = 0.0


@dataclass(frozen=True)
class Path:
    """Steps in the order they are bought, all of shape (s,).

    Attributes:
        items: number of items.
        item: whose step.
        arm: the arm it leads to, from 1; before its first step an item is at arm 0.
        slope: gain per unit of cost, falling; infinite where the step is free.
        cost: of the step, times its item's weight.
        gained: by the step, times its item's weight.
        weights: of the items, shape (n,); None where each counts once.
    """

    items: int
    item: NDArray[np.int32]
    arm: NDArray[np.int16]
    slope: Floats
    cost: Floats
    gained: Floats
    weights: Floats | None = None

    @cached_property
    def spend(self) -> Floats:
        """Total cost after each step, shape (s,)."""
        return np.cumsum(self.cost)

    @cached_property
    def gain(self) -> Floats:
        """Total gain after each step, shape (s,)."""
        return np.cumsum(self.gained)

    def __len__(self) -> int:
        return int(self.item.shape[0])

    def whole_steps(self, budgets: ArrayLike) -> Ints:
        """Return how many steps each budget pays whole, shape (b,)."""
        levels = finite("budget", np.atleast_1d(np.asarray(budgets, dtype=np.float64)))
        if (levels < 0).any():
            raise ValueError(f"budget {levels.min()} is negative: give 0 or more")
        return np.searchsorted(self.spend, levels, side="right").astype(np.int64)

    def gain_at(self, budgets: ArrayLike, *, split: bool = True) -> Floats:
        """Return the expected gain at each budget, shape (b,); without `split` that of whole steps only."""
        taken = self.whole_steps(budgets)
        gain: Floats = np.concatenate([[0.0], self.gain])[taken]
        if not split or not len(self):
            return gain
        levels = np.atleast_1d(np.asarray(budgets, dtype=np.float64))
        spent = np.concatenate([[0.0], self.spend])[taken]
        unended = taken < len(self)
        following = np.where(unended, taken, 0)
        share: Floats = np.divide(
            levels - spent, self.cost[following], out=np.zeros(levels.shape), where=unended
        )
        gain += share * self.gained[following]
        return gain

    def revalued(self, gains: ArrayLike, costs: ArrayLike) -> Path:
        """Return the same steps in the same order with other values, such as realised ones.

        Args:
            gains: over the first arm, finite, shape (n, k) or (n,).
            costs: over the first arm, finite, same shape; below zero counts as zero.

        Raises:
            ValueError: for non-finite values, or where a step up costs less than nothing.
        """
        g, c = arm_columns(gains, costs)
        if g.shape[0] != self.items:
            raise ValueError(f"values of {g.shape[0]} items for a path of {self.items}: give the same items")
        c = np.maximum(c, 0.0)
        before = arms_before(self)
        row, to, low = self.item, self.arm.astype(np.int64) - 1, before - 1
        gained = g[row, to] - np.where(low >= 0, g[row, low], 0.0)
        cost = c[row, to] - np.where(low >= 0, c[row, low], 0.0)
        if cost.size and cost.min() < 0:
            worst = int(cost.argmin())
            raise ValueError(
                f"arm {self.arm[worst]} of item {row[worst]} costs {-cost[worst]} less than the arm before it: "
                "a path can only be revalued by costs that rise along its steps"
            )
        if self.weights is not None:
            cost, gained = cost * self.weights[row], gained * self.weights[row]
        return Path(self.items, row, self.arm, self.slope, cost, gained, self.weights)

    def at(self, budget: float, *, split: bool = True) -> PathPoint:
        """Return the path at `budget`, splitting one item to meet it or, without `split`, dropping that item."""
        taken = int(self.whole_steps(budget)[0])
        spend = float(self.spend[taken - 1]) if taken else 0.0
        gain = float(self.gain[taken - 1]) if taken else 0.0
        if taken == len(self):
            return PathPoint(budget, taken, spend, gain, 0.0)
        price, share = float(self.slope[taken]), (budget - spend) / float(self.cost[taken])
        if not split or share == 0:
            return PathPoint(budget, taken, spend, gain, price)
        item, arm = int(self.item[taken]), int(self.arm[taken])
        gain += share * float(self.gained[taken])
        return PathPoint(budget, taken, float(budget), gain, price, item, arm, share)

    def arms_at(self, budget: float, *, seed: int | None = None) -> Ints:
        """Return each item's arm, shape (n,); with a `seed` the split item is drawn, without it stays lower."""
        point = self.at(budget)
        taken = point.steps
        if (
            seed is not None
            and point.split_share
            and np.random.default_rng(seed).random() < point.split_share
        ):
            taken += 1
        arms = np.zeros(self.items, dtype=np.int64)
        # An item's steps come in rising order of its arms' gains: the last one written stands.
        arms[self.item[:taken]] = self.arm[:taken]
        return arms


def allocation_path(
    gains: ArrayLike, costs: ArrayLike, *, keys: Any = None, weights: ArrayLike | None = None
) -> Path:
    """Return the whole path of n items with k arms besides the first.

    Args:
        gains: over the first arm, finite, shape (n, k) or (n,).
        costs: over the first arm (tokens, money or seconds), finite, same shape.
        keys: unique, shape (n,); break ties. None: the position does.
        weights: how much an item counts, finite, 0 or more, shape (n,); None counts each once.

    Raises:
        ValueError: for NaN or infinite input, named by array and key, or shapes that differ.
    """
    g, c = arm_columns(gains, costs, keys)
    steps = hull_steps(g, c)
    order = falling(steps, keys)
    item, cost, gain = steps.item[order], steps.cost[order], steps.gain[order]
    heft = None
    if weights is not None:
        heft = finite("weight", weights, keys)
        if heft.shape != g.shape[:1] or (heft.size and heft.min() < 0):
            raise ValueError(
                f"weights have shape {heft.shape}: give one of 0 or more for each of {g.shape[0]} items"
            )
        cost, gain = cost * heft[item], gain * heft[item]
    return Path(g.shape[0], item, steps.arm[order], steps.slope[order], cost, gain, heft)


def arm_columns(gains: ArrayLike, costs: ArrayLike, keys: Any = None) -> tuple[Floats, Floats]:
    """Return gains and costs as finite float arrays of shape (n, k); raise ValueError if they don't agree."""
    g, c = finite("gain", gains, keys), finite("cost", costs, keys)
    if g.ndim == 1:
        g = g[:, None]
    if c.ndim == 1:
        c = c[:, None]
    if g.ndim != 2 or g.shape != c.shape:
        raise ValueError(
            f"gains have shape {g.shape}, costs {c.shape}: give one of each for every item and arm"
        )
    if keys is not None and len(keys) != g.shape[0]:
        raise ValueError(f"{len(keys)} keys for {g.shape[0]} items: give one key an item")
    return g, c


def over_first_arm(values: ArrayLike) -> Floats:
    """Return values of arms, shape (n, k + 1), less those of each item's first arm, shape (n, k)."""
    array = np.asarray(values, dtype=np.float64)
    return array[:, 1:] - array[:, :1]


def arms_before(path: Path) -> Ints:
    """Return the arm from which each step starts, shape (s,)."""
    grouped = np.argsort(path.item, kind="stable")  # an item's steps, in path order
    before = np.zeros(len(path), dtype=np.int64)
    same = path.item[grouped][1:] == path.item[grouped][:-1]
    before[grouped[1:][same]] = path.arm[grouped[:-1][same]]
    return before


def falling(steps: Steps, keys: Any = None) -> Ints:
    """Return the order of steps by falling slope, ties by key; steps of one item keep their order."""
    order = np.argsort(-steps.slope)
    slope = steps.slope[order]
    tied = slope[1:] == slope[:-1]
    if tied.any():
        # Only the ties are sorted again: by slope, key and place within the item.
        runs = np.flatnonzero(np.concatenate([tied, [False]]) | np.concatenate([[False], tied]))
        places = order[runs]
        rank = steps.item[places].astype(np.int64)
        if keys is not None:
            rows, back = np.unique(rank, return_inverse=True)
            rank = key_ranks([keys[row] for row in rows])[back]
        order[runs] = places[np.lexsort((places, rank, -slope[runs]))]
    return order

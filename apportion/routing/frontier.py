"""Three frontiers of quality against cost: the fixed arms', a fitted router's, and the oracle's.

Randomising between two policies mixes their points, so what a family of policies can achieve is the hull of its points,
and a hard mean budget is met by randomising between the two neighbouring vertices (adaptive routing, proposition 4).
All three come from the allocation engine: the hull of mean points is the hull of a single item whose arms are the
policies; the oracle's is the path of all questions' arms, each from its cheapest arm.

A frontier rises with falling slope and ends where quality ends. The slope of the step that leads to a vertex is the
highest price at which the vertex is worth having.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apportion.allocation.hulls import hull_steps
from apportion.allocation.path import Path, allocation_path, arms_before, over_first_arm
from apportion.routing.arms import Arms, Floats, Ints, choose

MOST_POLICIES = 2000
"""Prices at which the policies of a fitted router are told apart; more are thinned evenly."""


@dataclass(frozen=True)
class Frontier:
    """Vertices of one frontier, cheapest first, all of shape (v,).

    Attributes:
        cost: mean cost a question, rising.
        quality: mean quality, rising.
        price: slope of the step that leads to the vertex, falling; infinite at the first vertex.
        policy: index of the policy behind the vertex.
    """

    cost: Floats
    quality: Floats
    price: Floats
    policy: Ints

    def __len__(self) -> int:
        return int(self.cost.shape[0])

    def at(self, budgets: npt.ArrayLike) -> Floats:
        """Best mean quality at each mean cost, shape (b,): NaN below the first vertex, flat above the last."""
        levels = np.atleast_1d(np.asarray(budgets, dtype=np.float64))
        best: Floats = np.interp(levels, self.cost, self.quality)
        best[levels < self.cost[0]] = np.nan
        return best


@dataclass(frozen=True)
class Mixture:
    """A policy that randomises between two vertices of a frontier.

    Attributes:
        low, high: indices of the vertices; equal where one vertex alone is played.
        share: probability of the higher vertex.
        cost: expected cost a question.
        quality: expected quality.
    """

    low: int
    high: int
    share: float
    cost: float
    quality: float

    def draw(self, questions: int, seed: int) -> npt.NDArray[np.bool_]:
        """Which questions are played at the higher vertex, shape (questions,), each drawn by itself."""
        high: npt.NDArray[np.bool_] = np.random.default_rng(seed).random(questions) < self.share
        return high


def upper_left_hull(cost: Floats, quality: Floats) -> Frontier:
    """The frontier of policies by their mean cost and quality, both of shape (p,).

    Of policies equal in both the first is kept.
    """
    if cost.shape[0] == 0:
        raise ValueError("no policy: a frontier needs at least one")
    first = int(np.lexsort((np.arange(cost.shape[0]), -quality, cost))[0])
    order = np.concatenate([[first], np.delete(np.arange(cost.shape[0]), first)])
    steps = hull_steps(over_first_arm(quality[order][None]), over_first_arm(cost[order][None]))
    policy = np.concatenate([[first], order[steps.arm.astype(np.int64)]]).astype(np.int64)
    return Frontier(cost[policy], quality[policy], np.concatenate([[np.inf], steps.slope]), policy)


def fixed_frontier(arms: Arms) -> Frontier:
    """What is achievable with no features at all: the hull of the arms; policies are arms."""
    return upper_left_hull(arms.cost.mean(axis=0), arms.quality.mean(axis=0))


@dataclass(frozen=True)
class PricedPath:
    """Every price's policy at once: the path of all questions, each starting at its cheapest arm.

    Attributes:
        path: over the cheapest arm, arms in each question's own order.
        order: each question's arms, cheapest first (of equals the better, then the first), shape (n, K).
    """

    path: Path
    order: Ints

    @property
    def ends(self) -> Ints:
        """Steps taken at each distinct price, from none: the prefixes that are policies, shape (p,)."""
        slope = self.path.slope
        last = (
            np.concatenate([slope[1:] != slope[:-1], [True]])
            if len(self.path)
            else np.zeros(0, dtype=np.bool_)
        )
        return np.concatenate([[0], np.flatnonzero(last) + 1]).astype(np.int64)

    def realised(self, quality: Floats, cost: Floats) -> tuple[Floats, Floats]:
        """Mean cost and quality, shape (s + 1,), after each step of the path, by other values than it was built on."""
        rows = np.arange(self.order.shape[0])
        start = self.order[:, 0]
        item = self.path.item.astype(np.int64)
        to = self.order[item, self.path.arm.astype(np.int64)]
        low = self.order[item, arms_before(self.path)]
        spent = np.concatenate([[cost[rows, start].sum()], cost[item, to] - cost[item, low]])
        gained = np.concatenate([[quality[rows, start].sum()], quality[item, to] - quality[item, low]])
        n = max(len(rows), 1)
        return np.cumsum(spent) / n, np.cumsum(gained) / n


def priced_path(quality: Floats, cost: Floats, keys: object = None) -> PricedPath:
    """The path of questions' arms by true or predicted quality and cost, both of shape (n, K), finite."""
    place = np.broadcast_to(np.arange(quality.shape[1]), quality.shape)
    order = np.lexsort((place, -quality, cost), axis=-1).astype(np.int64)
    sorted_quality, sorted_cost = np.take_along_axis(quality, order, 1), np.take_along_axis(cost, order, 1)
    path = allocation_path(over_first_arm(sorted_quality), over_first_arm(sorted_cost), keys=keys)
    return PricedPath(path, order)


def oracle_frontier(arms: Arms) -> Frontier:
    """The frontier of perfect foresight: a vertex for every price at which some question changes its arm."""
    priced = priced_path(arms.quality, arms.cost, arms.keys)
    return _vertices(priced, *priced.realised(arms.quality, arms.cost))


def fitted_frontier(quality: Floats, cost: Floats, arms: Arms) -> Frontier:
    """The achievable hull of the λ-indexed policies of predictions, by what they realised.

    Args:
        quality, cost: predicted, shape (n, K).
        arms: what the arms were worth and cost.

    Its vertices are chosen by the questions they are measured on, as those of the fixed arms are: a little optimistic.
    """
    priced = priced_path(quality, cost, arms.keys)
    spent, gained = priced.realised(arms.quality, arms.cost)
    ends = priced.ends
    if len(ends) > MOST_POLICIES:
        ends = ends[np.unique(np.linspace(0, len(ends) - 1, MOST_POLICIES).astype(np.int64))]
    hull = upper_left_hull(spent[ends], gained[ends])
    return Frontier(hull.cost, hull.quality, hull.price, ends[hull.policy])


def _vertices(priced: PricedPath, spent: Floats, gained: Floats) -> Frontier:
    ends = priced.ends
    price = np.concatenate([[np.inf], priced.path.slope[ends[1:] - 1]])
    kept = np.ones(len(ends), dtype=np.bool_)
    if len(ends) > 1 and np.isinf(price[1]):
        kept[0] = False  # what gains and costs nothing is taken at any price
    price = price[kept]
    price[0] = np.inf
    return Frontier(spent[ends[kept]], gained[ends[kept]], price, ends[kept])


def thinned(frontier: Frontier, most: int) -> Frontier:
    """At most so many of the vertices, evenly along the frontier, both ends among them."""
    if len(frontier) <= most:
        return frontier
    at = np.unique(np.linspace(0, len(frontier) - 1, most).astype(np.int64))
    return Frontier(frontier.cost[at], frontier.quality[at], frontier.price[at], frontier.policy[at])


def at_budget(frontier: Frontier, budget: float) -> Mixture:
    """The randomised policy that meets a hard mean budget.

    Between two vertices the expected cost is the budget; above the last vertex it is the last one's, since more
    spending buys nothing.

    Raises:
        ValueError: the budget doesn't pay for the cheapest vertex.
    """
    if not budget >= frontier.cost[0]:
        raise ValueError(
            f"a budget of {budget:g} a question doesn't pay for the cheapest policy, which costs "
            f"{frontier.cost[0]:g}: give more"
        )
    low = int(np.searchsorted(frontier.cost, budget, side="right")) - 1
    if low == len(frontier) - 1:
        return Mixture(low, low, 0.0, float(frontier.cost[low]), float(frontier.quality[low]))
    share = float((budget - frontier.cost[low]) / (frontier.cost[low + 1] - frontier.cost[low]))
    mixed = [
        (1 - share) * float(v[low]) + share * float(v[low + 1]) for v in (frontier.cost, frontier.quality)
    ]
    return Mixture(low, low + 1 if share else low, share, mixed[0], mixed[1])


def priced_choices(quality: Floats, cost: Floats, prices: npt.ArrayLike) -> Ints:
    """Each question's arm at each price, shape (p, n), by the K-action rule."""
    listed = np.atleast_1d(np.asarray(prices, dtype=np.float64))
    chosen = [choose(quality, cost, float(price)) for price in listed]
    return np.stack(chosen) if chosen else np.zeros((0, quality.shape[0]), dtype=np.int64)

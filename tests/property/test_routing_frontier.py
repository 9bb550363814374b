"""Frontiers against brute force: concave, dominated, and met exactly by randomising."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from apportion.routing.areas import Family, area_between
from apportion.routing.arms import Arms
from apportion.routing.frontier import (
    Frontier,
    at_budget,
    fitted_frontier,
    fixed_frontier,
    oracle_frontier,
    priced_choices,
    thinned,
    upper_left_hull,
)

QUALITY = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(0, 1).map(lambda q: round(q, 4)))
COST = st.one_of(st.sampled_from([0.0, 1.0, 3.0]), st.floats(0, 9).map(lambda c: round(c, 3)))


@st.composite
def logs(draw: st.DrawFn, most: int = 8) -> Arms:
    n, k = draw(st.integers(1, most)), draw(st.integers(2, 4))
    quality = draw(st.lists(st.lists(QUALITY, min_size=k, max_size=k), min_size=n, max_size=n))
    cost = draw(st.lists(st.lists(COST, min_size=k, max_size=k), min_size=n, max_size=n))
    keys = [f"q{i}" for i in range(n)]
    return Arms(
        tuple(f"arm{a}" for a in range(k)), keys, np.array(quality), np.array(cost), keys, ["kind"] * n
    )


def concave(frontier: Frontier) -> bool:
    slopes = np.diff(frontier.quality) / np.diff(frontier.cost)
    return bool(
        (np.diff(frontier.cost) > 0).all() and (slopes > -1e-12).all() and (np.diff(slopes) < 1e-9).all()
    )


def best_mixture(cost: np.ndarray, quality: np.ndarray, budget: float) -> float:
    """The best mean quality of any mixture of policies within the budget, by linear programming."""
    solved = linprog(
        -quality, A_ub=cost[None], b_ub=[budget], A_eq=np.ones((1, len(cost))), b_eq=[1.0], bounds=(0, 1)
    )
    assert solved.success
    return float(-solved.fun)


@given(
    points=st.lists(st.tuples(COST, QUALITY), min_size=1, max_size=9),
    share=st.floats(0, 1),
)
@settings(deadline=None)
def test_hull_is_the_best_mixture_at_every_budget(points: list[tuple[float, float]], share: float) -> None:
    cost, quality = np.array(points).T
    hull = upper_left_hull(cost, quality)
    assert len(hull) == 1 or concave(hull)
    assert (cost[hull.policy] == hull.cost).all()
    assert (quality[hull.policy] == hull.quality).all()
    budget = hull.cost[0] + share * (cost.max() - hull.cost[0])
    assert hull.at(budget)[0] == pytest.approx(best_mixture(cost, quality, budget), abs=1e-7)


@given(arms=logs(), share=st.floats(0, 1))
@settings(deadline=None, max_examples=60)
def test_oracle_is_the_best_assignment_at_every_price_and_dominates_the_arms(
    arms: Arms, share: float
) -> None:
    oracle, fixed = oracle_frontier(arms), fixed_frontier(arms)
    n, k = arms.quality.shape
    assert len(oracle) == 1 or concave(oracle)
    if k**n <= 300:
        rows = np.arange(n)
        policies = [list(choice) for choice in product(range(k), repeat=n)]
        cost = np.array([arms.cost[rows, choice].mean() for choice in policies])
        quality = np.array([arms.quality[rows, choice].mean() for choice in policies])
        budget = oracle.cost[0] + share * max(cost.max() - oracle.cost[0], 0)
        assert oracle.at(budget)[0] == pytest.approx(best_mixture(cost, quality, budget), abs=1e-7)
    levels = np.linspace(fixed.cost[0], fixed.cost[-1], 7)
    assert (oracle.at(levels) >= fixed.at(levels) - 1e-12).all()
    # At each price the vertex whose price range holds it is the oracle's own policy.
    for price in (0.01, 0.3, 2.0):
        utility = (arms.quality - price * arms.cost).max(axis=1).mean()
        assert (oracle.quality - price * oracle.cost).max() == pytest.approx(utility, abs=1e-9)
        worth = np.flatnonzero(oracle.price >= price)[-1]
        assert oracle.quality[worth] - price * oracle.cost[worth] == pytest.approx(utility, abs=1e-9)


@given(arms=logs(), seed=st.integers(0, 9))
@settings(deadline=None, max_examples=60)
def test_fitted_frontier_lies_between_nothing_and_the_oracle(arms: Arms, seed: int) -> None:
    rng = np.random.default_rng(seed)
    quality, cost = rng.random(arms.quality.shape), rng.random(arms.cost.shape) * 3
    fitted, oracle = fitted_frontier(quality, cost, arms), oracle_frontier(arms)
    assert len(fitted) == 1 or concave(fitted)
    assert (oracle.at(fitted.cost + 1e-9) >= fitted.quality - 1e-9).all()
    for price in (0.05, 0.4):
        chosen = priced_choices(quality, cost, price)[0]
        rows = np.arange(len(arms))
        spent, gained = arms.cost[rows, chosen].mean(), arms.quality[rows, chosen].mean()
        assert fitted.at(spent + 1e-9)[0] >= gained - 1e-9 or spent < fitted.cost[0]


@given(arms=logs())
@settings(deadline=None, max_examples=40)
def test_perfect_predictions_give_the_oracles_frontier(arms: Arms) -> None:
    fitted, oracle = fitted_frontier(arms.quality, arms.cost, arms), oracle_frontier(arms)
    levels = np.linspace(oracle.cost[0], oracle.cost[-1], 9)
    assert fitted.at(levels + 1e-12) == pytest.approx(oracle.at(levels), abs=1e-9)


@given(arms=logs(), share=st.floats(0, 1.2))
@settings(deadline=None)
def test_randomised_policy_meets_the_budget(arms: Arms, share: float) -> None:
    for frontier in (fixed_frontier(arms), oracle_frontier(arms)):
        budget = float(frontier.cost[0] + share * (frontier.cost[-1] - frontier.cost[0]))
        mixed = at_budget(frontier, budget)
        assert mixed.cost == pytest.approx(min(budget, frontier.cost[-1]), abs=1e-12)
        assert mixed.quality == pytest.approx(frontier.at(budget)[0], abs=1e-12)
        assert 0 <= mixed.share < 1
        expected = (1 - mixed.share) * frontier.cost[mixed.low] + mixed.share * frontier.cost[mixed.high]
        assert expected == pytest.approx(mixed.cost, abs=1e-12)


def test_a_budget_below_the_cheapest_policy_is_refused() -> None:
    hull = upper_left_hull(np.array([1.0, 3.0]), np.array([0.2, 0.8]))
    with pytest.raises(ValueError, match="doesn't pay"):
        at_budget(hull, 0.5)
    assert np.isnan(hull.at(0.5)[0])
    drawn = at_budget(hull, 2.0).draw(20_000, 1)
    assert drawn.mean() == pytest.approx(0.5, abs=0.02)


def test_thinning_keeps_both_ends() -> None:
    arms_cost = np.linspace(0, 1, 50)
    hull = upper_left_hull(arms_cost, np.sqrt(arms_cost))
    few = thinned(hull, 7)
    assert len(few) == 7
    assert (few.cost[0], few.cost[-1]) == (hull.cost[0], hull.cost[-1])
    assert thinned(few, 7) is few


def test_area_between_two_known_frontiers() -> None:
    n = 40
    cost = np.tile([0.0, 1.0], (n, 1))
    lower = Family(cost, np.tile([0.0, 0.4], (n, 1)))
    upper = Family(cost, np.tile([0.2, 0.6], (n, 1)))
    found = area_between(upper, lower, [f"f{i}" for i in range(n)], resamples=20)
    assert (found.low, found.high) == (0.0, 1.0)
    assert found.distance.estimate == pytest.approx(0.2)
    assert found.area == pytest.approx(0.2)
    assert found.distance.low == pytest.approx(0.2)
    assert found.distance.high == pytest.approx(0.2)


def test_area_interval_covers_what_filings_say() -> None:
    rng = np.random.default_rng(0)
    quality = (rng.random((300, 2)) < [0.3, 0.7]).astype(float)
    cost = np.tile([1.0, 3.0], (300, 1))
    oracle = Family.of(priced_choices(quality, cost, np.geomspace(0.01, 1, 12)), cost, quality)
    found = area_between(oracle, Family(cost, quality), np.arange(300) // 3, resamples=100)
    assert found.distance.low is not None
    assert found.distance.high is not None
    assert 0 < found.distance.low < found.distance.estimate < found.distance.high  # type: ignore[operator]

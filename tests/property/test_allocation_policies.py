"""The eight policies: order, ties, budgets, and the oracle as an upper bound."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.allocation.candidates import Candidates
from apportion.allocation.policies import POLICIES, budget_levels, policy_order, select

GREEDY = ("random", "low_confidence", "low_margin", "gain_only", "gain_per_token")


@st.composite
def candidate_rows(draw, max_size=9, min_cost=-2):
    gain = st.one_of(st.sampled_from([-0.5, -0.25, 0.0, 0.25, 0.5]), st.floats(-1, 1))
    cost = st.one_of(st.sampled_from([min_cost, 0, 1, 10, 15]), st.integers(1, 400))
    signal = st.one_of(st.just(float("nan")), st.sampled_from([0.0, 0.5]), st.floats(0, 1))
    refused = st.sampled_from([0.0, 1.0, float("nan")])
    rows = draw(st.lists(st.tuples(gain, cost, signal, signal, gain, cost, refused), max_size=max_size))
    return [(f"q{i:03d}", *row) for i, row in enumerate(rows)]


def built(rows):
    columns = list(zip(*rows, strict=True)) if rows else [[] for _ in range(8)]
    return Candidates(columns[0], *(np.array(column) for column in columns[1:]))


@settings(deadline=None)
@given(candidate_rows(max_size=20), st.randoms(), st.integers(0, 3))
def test_selection_ignores_the_order_of_rows(rows, shuffler, seed):
    shuffled = list(rows)
    shuffler.shuffle(shuffled)
    one, other = built(rows), built(shuffled)
    for policy in POLICIES:
        budgets = budget_levels(policy, one, [0, 0.1, 0.5, 1])
        for left, right in zip(
            select(policy, one, budgets, seed=seed), select(policy, other, budgets, seed=seed), strict=True
        ):
            assert {row[0] for row, on in zip(rows, left, strict=True) if on} == {
                row[0] for row, on in zip(shuffled, right, strict=True) if on
            }


@settings(deadline=None)
@given(candidate_rows(max_size=20), st.integers(0, 3))
def test_greedy_orders(rows, seed):
    candidates = built(rows)
    for policy in GREEDY:
        order = policy_order(policy, candidates, seed=seed)
        assert sorted(order.tolist()) == list(range(len(rows)))
        assert select(policy, candidates, budget_levels(policy, candidates, [1.0]), seed=seed).all()
    by_gain = [rows[i] for i in policy_order("gain_only", candidates, seed=seed)]
    assert by_gain == sorted(rows, key=lambda r: (-r[1], r[0]))

    def per_token(row):
        key, gain, cost = row[:3]
        ratio = max(gain, 0) / max(cost, 1)
        free = cost <= 0 and gain >= 0
        return (not free, 0 if free else -ratio, -gain if free or ratio == 0 else 0, key)

    assert [rows[i] for i in policy_order("gain_per_token", candidates, seed=seed)] == sorted(
        rows, key=per_token
    )
    by_confidence = [rows[i] for i in policy_order("low_confidence", candidates, seed=seed)]
    assert [r[0] for r in by_confidence] == [
        r[0] for r in sorted(rows, key=lambda r: (np.isnan(r[3]), 0 if np.isnan(r[3]) else r[3], r[0]))
    ]


@settings(deadline=None)
@given(candidate_rows(max_size=20))
def test_a_negative_gain_waits_for_everything_else(rows):
    candidates = built(rows)
    for policy in ("gain_only", "gain_per_token"):
        negative = [rows[i][1] < 0 for i in policy_order(policy, candidates, seed=0)]
        assert negative == sorted(negative)


@settings(deadline=None)
@given(candidate_rows())
def test_knapsacks_are_optimal(rows):
    candidates = built(rows)
    everything = np.array(list(product([False, True], repeat=len(rows))), dtype=bool).reshape(
        2 ** len(rows), -1
    )
    for policy, gain, cost, unit in (
        ("knapsack", candidates.predicted_gain, candidates.predicted_cost, 10),
        ("oracle_cost_knapsack", candidates.predicted_gain, candidates.realised_cost, 10),
        ("oracle", candidates.realised_gain, candidates.realised_cost, 1),
    ):
        weights = np.ceil(np.maximum(cost, 0) / unit)
        worth = np.maximum(gain, 0)
        for budget, chosen in zip(
            budgets := budget_levels(policy, candidates, [0, 0.1, 0.3, 0.75, 1]),
            select(policy, candidates, budgets),
            strict=True,
        ):
            fits = everything @ weights <= budget // unit
            assert chosen @ weights <= budget // unit
            assert chosen @ worth == pytest.approx((everything @ worth)[fits].max(), abs=1e-12)
            assert not (chosen & (gain <= 0)).any()


@settings(deadline=None)
@given(candidate_rows(max_size=12), st.integers(0, 5))
def test_no_policy_exceeds_the_oracle_at_its_own_spend(rows, seed):
    candidates = built(rows)
    for policy in POLICIES:
        budgets = budget_levels(policy, candidates, [0.1, 0.5])
        for chosen in select(policy, candidates, budgets, seed=seed):
            spend = int(np.maximum(candidates.realised_cost, 0)[chosen].sum())
            best = select("oracle", candidates, [spend])[0]
            assert candidates.realised_gain[chosen].sum() <= candidates.realised_gain[best].sum() + 1e-12
            assert np.maximum(candidates.realised_cost, 0)[best].sum() <= spend


def test_random_is_seeded_and_differs_between_seeds():
    candidates = Candidates([f"q{i}" for i in range(50)], np.zeros(50), np.ones(50, dtype=int))
    orders = [policy_order("random", candidates, seed=seed).tolist() for seed in (11, 11, 22)]
    assert orders[0] == orders[1] != orders[2]


def test_budgets_are_exact_decimals():
    candidates = Candidates(["a"], np.zeros(1), np.array([100]))
    assert budget_levels("gain_only", candidates, [0.29, 0.07, 0, 1]) == [29, 7, 0, 100]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"predicted_gain": np.array([0.0, np.nan])}, r"predicted_gain is nan at key 'b' \(row 1\)"),
        ({"predicted_cost": np.array([1.0, np.inf])}, r"predicted_cost is inf at key 'b' \(row 1\)"),
        ({"predicted_cost": np.array([1.0, 2.5])}, r"predicted_cost is 2.5 at key 'b' \(row 1\)"),
        ({"confidence": np.array([np.nan, -np.inf])}, r"confidence is -inf at key 'b' \(row 1\)"),
        ({"margin": np.zeros(3)}, "margin has 3 rows"),
    ],
)
def test_candidates_refuse(change, message):
    good = {"keys": ["a", "b"], "predicted_gain": np.zeros(2), "predicted_cost": np.ones(2)}
    with pytest.raises(ValueError, match=message):
        Candidates(**{**good, **change})


def test_refusals_say_what_to_do():
    candidates = Candidates(["a", "b"], np.zeros(2), np.ones(2))
    with pytest.raises(ValueError, match="did you mean gain_only"):
        select("gains_only", candidates, [1])
    with pytest.raises(ValueError, match="low_margin needs margin"):
        select("low_margin", candidates, [1])
    with pytest.raises(ValueError, match="oracle needs realised"):
        select("oracle", candidates, [1])
    with pytest.raises(ValueError, match="outside 0 to 1"):
        budget_levels("gain_only", candidates, [1.5])
    with pytest.raises(ValueError, match="'a' stands twice"):
        select("gain_only", Candidates(["a", "a"], np.zeros(2), np.ones(2)), [1])

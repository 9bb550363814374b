"""Incremental costs, and caps that hold at the risk they promise."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.allocation.costs import capped_first_fit, incremental_cost, reserve_for
from apportion.allocation.greedy import first_fit


def test_incremental_cost():
    assert incremental_cost([2000, 2000, 10], [500, 2000, 0]).tolist() == [1500, 0, 10]
    assert incremental_cost([2000, 11], [500, 10], cached_rate=0.1).tolist() == [1550, 2]
    assert incremental_cost([2000], [500], cached_rate=1).tolist() == [2000]
    with pytest.raises(ValueError, match="12 of 11 tokens reused at 'q'"):
        incremental_cost([11], [12], keys=["q"])
    with pytest.raises(ValueError, match="cached_rate"):
        incremental_cost([11], [2], cached_rate=2)


@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize("risk", [0.05, 0.2])
def test_overspending_is_rarer_than_the_risk(risk, grouped):
    rng = np.random.default_rng(1)
    n = 60
    predicted = rng.integers(500, 4000, n)
    excess = rng.integers(50, 900, n)
    groups = np.arange(n) // 4
    budget = int(predicted.sum() * 0.5)
    cap = capped_first_fit(
        rng.permutation(n), predicted, predicted + excess, budget, risk, groups=groups if grouped else None
    )
    # The worst errors allowed: all the way up or down, alike within a filing where there are filings.
    signs = rng.choice([-1, 1], (4000, n))
    if grouped:
        signs = signs[:, groups]
    realised = ((predicted + signs * excess) * cap.chosen).sum(axis=1)
    assert (realised > budget).mean() <= risk
    assert cap.predicted_spend + cap.reserve <= budget
    assert cap.share == cap.reserve / budget
    assert 0 < cap.share < 0.5


@settings(deadline=None)
@given(
    st.lists(st.tuples(st.integers(-2, 500), st.integers(0, 300)), max_size=30),
    st.integers(0, 6000),
    st.sampled_from([0.01, 0.1, 0.5, 1.0]),
)
def test_caps_are_first_fit_at_a_lower_level(rows, budget, risk):
    predicted = np.array([p for p, _ in rows], dtype=np.int64)
    upper = np.maximum(predicted, 0) + np.array([e for _, e in rows], dtype=np.int64)
    order = np.arange(len(rows))
    cap = capped_first_fit(order, predicted, upper, budget, risk)
    spend = int(np.maximum(predicted, 0)[cap.chosen].sum())
    assert cap.predicted_spend == spend
    assert spend + reserve_for(np.maximum(predicted, 0)[cap.chosen], upper[cap.chosen], risk) <= budget
    if cap.chosen.any():
        np.testing.assert_array_equal(cap.chosen, first_fit(order, predicted, [spend])[0])
    assert cap.reserve <= (upper - np.maximum(predicted, 0))[cap.chosen].sum()
    if risk == 1.0:
        np.testing.assert_array_equal(cap.chosen, first_fit(order, predicted, [budget])[0])


def test_refusals():
    with pytest.raises(ValueError, match="risk is 0"):
        reserve_for([1], [2], 0)
    with pytest.raises(ValueError, match=r"upper bound 1.0 is below the prediction 2.0 at 'q'"):
        reserve_for([2], [1], 0.1, keys=["q"])

"""Many budgets at once against one at a time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.allocation import many_budgets
from apportion.allocation.greedy import first_fit
from apportion.allocation.many_budgets import first_fit_many


@st.composite
def problems(draw):
    costs = draw(st.lists(st.one_of(st.integers(-2, 9), st.integers(0, 3000)), max_size=70))
    order = draw(st.permutations(range(len(costs))))[: draw(st.integers(0, 70))]
    total = sum(max(c, 0) for c in costs)
    return np.array(order, dtype=np.int64), costs, draw(st.lists(st.integers(0, total + 2), max_size=15))


@settings(deadline=None)
@given(problems(), st.booleans())
def test_equals_one_budget_at_a_time(problem, compiled):
    order, costs, budgets = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(many_budgets, "_COMPILED_FROM", 0)
        patch.setenv("APPORTION_COMPILED", "1" if compiled else "0")
        got = first_fit_many(order, costs, budgets)
    expected = first_fit(order, costs, budgets)
    np.testing.assert_array_equal(got.chosen(len(costs)), expected)
    np.testing.assert_array_equal(got.counts, expected.sum(axis=1))
    np.testing.assert_array_equal(got.spend, expected @ np.maximum(np.array(costs, dtype=np.int64), 0))
    values = np.linspace(-1, 1, len(costs))
    np.testing.assert_allclose(got.sums(values), expected @ values, atol=1e-9)
    for i in range(len(budgets)):
        accepted = got.accepted(i).tolist()
        assert accepted == [item for item in order if expected[i, item]]


def test_compiled_runs_are_the_plain_ones(monkeypatch):
    rng = np.random.default_rng(2)
    costs = rng.integers(0, 4000, 5000)
    order, budgets = rng.permutation(5000), rng.integers(0, costs.sum(), 50)
    built = []
    for switch in ("1", "0"):
        monkeypatch.setattr(many_budgets, "_COMPILED_FROM", 0)
        monkeypatch.setenv("APPORTION_COMPILED", switch)
        built.append(first_fit_many(order, costs, budgets))
    for name in ("offsets", "starts", "ends", "spend"):
        np.testing.assert_array_equal(getattr(built[0], name), getattr(built[1], name))

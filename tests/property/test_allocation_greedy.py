"""First-fit against the paper's sentence written as a loop."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.allocation.greedy import first_fit


def plain_first_fit(order, costs, budget):
    chosen = [False] * len(costs)
    left = budget
    for item in order:
        cost = max(costs[item], 0)
        if cost <= left:
            chosen[item] = True
            left -= cost
    return chosen


@st.composite
def problems(draw):
    costs = draw(st.lists(st.one_of(st.integers(-3, 12), st.integers(0, 10_000)), max_size=60))
    order = draw(st.permutations(range(len(costs))))
    total = sum(max(c, 0) for c in costs)
    budgets = draw(st.lists(st.integers(0, total + 2), max_size=12))
    return list(order), costs, budgets


@settings(deadline=None)
@given(problems())
def test_first_fit_is_the_loop(problem):
    order, costs, budgets = problem
    got = first_fit(order, np.array(costs, dtype=np.int64), budgets)
    assert got.tolist() == [plain_first_fit(order, costs, budget) for budget in budgets]


@settings(deadline=None)
@given(problems())
def test_whole_budget_buys_everything(problem):
    order, costs, _ = problem
    assert first_fit(order, costs, [sum(max(c, 0) for c in costs)]).all()


@pytest.mark.parametrize(
    ("order", "costs", "budgets", "message"),
    [
        ([0, 0], [1, 2], [3], "twice"),
        ([2], [1, 2], [3], "position 2 of 2"),
        ([-1], [1, 2], [3], "position -1 of 2"),
        ([0], [1.5], [3], "cost is 1.5"),
        ([0], [np.nan], [3], "cost is nan"),
        ([0], [1], [-3], "negative"),
        ([0], [1], [0.5], "budget is 0.5"),
    ],
)
def test_refusals(order, costs, budgets, message):
    with pytest.raises(ValueError, match=message):
        first_fit(order, costs, budgets)

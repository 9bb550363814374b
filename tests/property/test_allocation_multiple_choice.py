"""The multiple-choice knapsack against every choice, and against scipy's mixed-integer solver."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from apportion.allocation import core
from apportion.allocation.knapsack import knapsack
from apportion.allocation.multiple_choice import multiple_choice

GAIN = st.one_of(st.sampled_from([-0.5, 0.0, 0.25, 1 / 3, 1.0]), st.floats(-1, 2))
COST = st.one_of(st.sampled_from([-5, 0, 10, 20]), st.integers(1, 60), st.integers(1, 900))


@st.composite
def problems(draw, most=6):
    k = draw(st.integers(1, 3))
    row = st.tuples(*[st.tuples(GAIN, COST)] * k)
    rows = draw(st.lists(row, min_size=1, max_size=most))
    rows += draw(st.lists(st.sampled_from(rows), max_size=most - len(rows)))
    table = np.array(rows)
    costs = table[:, :, 1].astype(np.int64)
    budget = draw(st.integers(0, int(np.maximum(costs, 0).max(axis=1).sum()) + 5))
    return table[:, :, 0], costs, budget, draw(st.sampled_from([1, 10]))


@settings(deadline=None)
@given(problems(), st.booleans())
def test_optimal_among_all_choices(problem, compiled):
    gains, costs, budget, unit = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "_COMPILED_FROM", 0)
        patch.setenv("APPORTION_COMPILED", "1" if compiled else "0")
        got = multiple_choice(gains, costs, budget, unit=unit)
    rows, zero = np.arange(len(gains)), np.zeros((len(gains), 1))
    padded = np.hstack([zero, gains])
    weights = np.hstack([zero, np.ceil(np.maximum(costs, 0) / unit)])
    choices = np.array(list(product(range(gains.shape[1] + 1), repeat=len(gains))))
    fits = weights[rows, choices].sum(axis=1) <= budget // unit
    assert weights[rows, got.arm].sum() <= budget // unit
    assert got.gain == pytest.approx(padded[rows, choices].sum(axis=1)[fits].max(), abs=1e-12)
    assert got.gain == pytest.approx(padded[rows, got.arm].sum(), abs=1e-12)
    assert got.gap == 0
    assert got.linear_bound >= got.gain - 1e-9


def many(n, k, seed):
    rng = np.random.default_rng(seed)
    costs = np.cumsum(rng.lognormal(6, 0.6, (n, k)), axis=1).astype(np.int64) + 1
    gains = np.cumsum(rng.normal(0.05, 0.2, (n, k)), axis=1)
    return gains, costs, int(0.3 * costs[:, -1].sum())


@pytest.mark.parametrize(("n", "k", "seed"), [(40, 2, 1), (120, 3, 2)])
def test_agrees_with_a_general_solver(n, k, seed):
    gains, costs, budget = many(n, k, seed)
    other = milp(
        -gains.ravel(),
        constraints=[
            LinearConstraint(np.ceil(costs / 10).ravel()[None, :], -np.inf, budget // 10),
            LinearConstraint(np.kron(np.eye(n), np.ones(k)), -np.inf, 1),
        ],
        integrality=np.ones(n * k),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0},
    )
    got = multiple_choice(gains, costs, budget)
    assert other.status == 0
    assert got.gain == pytest.approx(-other.fun, abs=1e-6)
    assert got.gap == 0


def test_one_arm_equals_the_binary_knapsack():
    gains, costs, budget = many(5000, 1, 3)
    assert multiple_choice(gains, costs, budget).gain == pytest.approx(
        knapsack(gains[:, 0], costs[:, 0], budget).gain, abs=1e-9
    )


def test_row_order_changes_nothing():
    gains, costs, budget = many(400, 3, 4)
    gains = np.round(gains, 1)
    order = np.random.default_rng(0).permutation(400)
    names = [f"q{i:03d}" for i in range(400)]
    one = multiple_choice(gains, costs, budget, keys=names)
    other = multiple_choice(gains[order], costs[order], budget, keys=[names[i] for i in order])
    np.testing.assert_array_equal(one.arm[order], other.arm)


def test_refuses_fractions():
    with pytest.raises(ValueError, match=r"cost is 1.5 at key 'q' \(row 0\), column 1"):
        multiple_choice([[0.1, 0.2]], [[1, 1.5]], 3, keys=["q"])

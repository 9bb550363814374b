"""Several budgets: feasible, bounded, and close to the linear programme."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from apportion.allocation.path import allocation_path
from apportion.allocation.several import allocate_several


def problem(n, k, r, seed):
    rng = np.random.default_rng(seed)
    gains = np.round(rng.normal(0.1, 0.3, (n, k)), 2)
    costs = np.round(rng.lognormal(3, 0.7, (n, k, r))) * rng.integers(0, 2, (n, k, r), endpoint=True)
    return gains, costs, np.floor(costs.max(axis=1).sum(axis=0) * rng.uniform(0, 0.6, r))


@settings(deadline=None, max_examples=60)
@given(st.integers(1, 6), st.integers(1, 3), st.integers(1, 3), st.integers(0, 10_000))
def test_feasible_and_bounded(n, k, r, seed):
    gains, costs, budgets = problem(n, k, r, seed)
    got = allocate_several(gains, costs, budgets)
    padded_gain = np.hstack([np.zeros((n, 1)), gains])
    padded_cost = np.concatenate([np.zeros((n, 1, r)), np.maximum(costs, 0)], axis=1)
    rows, choices = np.arange(n), np.array(list(product(range(k + 1), repeat=n)))
    spent = padded_cost[rows, choices].sum(axis=1)
    best = padded_gain[rows, choices].sum(axis=1)[(spent <= budgets).all(axis=1)].max()
    np.testing.assert_allclose(padded_cost[rows, got.arm].sum(axis=0), got.spend)
    assert (got.spend <= budgets + 1e-9).all()
    assert got.gain == pytest.approx(padded_gain[rows, got.arm].sum())
    assert got.gain <= best + 1e-9 <= got.upper_bound + 2e-9
    assert (got.prices >= 0).all()


@pytest.mark.parametrize(("n", "k", "r"), [(200, 1, 2), (150, 3, 2), (100, 2, 3)])
def test_bound_is_the_linear_programme(n, k, r):
    gains, costs, budgets = problem(n, k, r, 7)
    linear = linprog(
        -gains.ravel(),
        A_ub=np.vstack([costs.reshape(n * k, r).T, np.kron(np.eye(n), np.ones(k))]),
        b_ub=np.concatenate([budgets, np.ones(n)]),
        bounds=(0, 1),
        method="highs",
    )
    got = allocate_several(gains, costs, budgets)
    assert got.upper_bound == pytest.approx(-linear.fun, rel=1e-5)
    assert 0 <= got.gap < 0.1 * got.upper_bound


def test_one_resource_is_the_path():
    gains, costs, budgets = problem(300, 2, 1, 3)
    got = allocate_several(gains, costs, budgets)
    path = allocation_path(gains, costs[:, :, 0])
    assert got.upper_bound == pytest.approx(path.gain_at(budgets)[0], rel=1e-6)
    assert got.gain >= path.gain_at(budgets, split=False)[0] - 1e-9


def test_refusals():
    with pytest.raises(ValueError, match=r"give \(n, k\), \(n, k, r\)"):
        allocate_several([[0.1]], [[1.0]], [1.0])
    with pytest.raises(ValueError, match="0 or more"):
        allocate_several([[0.1]], [[[1.0]]], [-1.0])

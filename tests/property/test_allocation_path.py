"""The path against linear programming, brute force, and itself under other row orders."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from apportion.allocation import hulls
from apportion.allocation.path import allocation_path, over_first_arm

GAIN = st.one_of(st.sampled_from([-0.5, 0.0, 0.25, 0.5, 1.0]), st.floats(-1, 1).map(lambda g: round(g, 6)))
COST = st.one_of(st.sampled_from([-3.0, 0.0, 1.0, 2.0, 4.0]), st.integers(1, 50).map(float))


@st.composite
def arms(draw, most=12, most_arms=3):
    k = draw(st.integers(1, most_arms))
    row = st.tuples(*[st.tuples(GAIN, COST)] * k)
    rows = draw(st.lists(row, min_size=1, max_size=most))
    rows += draw(st.lists(st.sampled_from(rows), max_size=most - len(rows)))  # duplicates
    table = np.array(rows)
    return table[:, :, 0], table[:, :, 1]


def linear_optimum(gains, costs, budget):
    n, k = gains.shape
    result = linprog(
        -gains.ravel(),
        A_ub=np.vstack([np.maximum(costs, 0).ravel(), np.kron(np.eye(n), np.ones(k))]),
        b_ub=np.concatenate([[budget], np.ones(n)]),
        bounds=(0, 1),
        method="highs",
    )
    assert result.status == 0
    return -result.fun


@settings(deadline=None)
@given(arms(), st.booleans())
def test_equals_the_linear_programme_along_the_path(problem, compiled):
    gains, costs = problem
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(hulls, "_COMPILED_FROM", 0)
        patch.setenv("APPORTION_COMPILED", "1" if compiled else "0")
        path = allocation_path(gains, costs)
    corners = np.unique(np.concatenate([[0.0], path.spend]))
    budgets = np.concatenate([corners, corners[:-1] + np.diff(corners) / 3, [corners[-1] + 7]])
    for budget, gain in zip(budgets, path.gain_at(budgets), strict=True):
        assert gain == pytest.approx(linear_optimum(gains, costs, budget), abs=1e-8)


@settings(deadline=None)
@given(arms(most=5), st.floats(0, 1))
def test_points_prices_and_choices(problem, share):
    gains, costs = problem
    path = allocation_path(gains, costs)
    total = path.spend[-1] if len(path) else 0.0
    budget = share * (total + 2)
    point, whole = path.at(budget), path.at(budget, split=False)
    arm = path.arms_at(budget)
    padded_gain = np.column_stack([np.zeros(len(gains)), gains])
    padded_cost = np.column_stack([np.zeros(len(gains)), np.maximum(costs, 0)])
    rows = np.arange(len(gains))
    assert padded_cost[rows, arm].sum() == pytest.approx(whole.spend, abs=1e-9)
    assert padded_gain[rows, arm].sum() == pytest.approx(whole.gain, abs=1e-9)
    assert whole.spend <= budget + 1e-9
    assert point.gain == pytest.approx(path.gain_at(budget)[0], abs=1e-9)
    # No whole choice within the budget does better than the split one.
    choices = np.array(list(product(range(gains.shape[1] + 1), repeat=len(gains))))
    spent = padded_cost[rows, choices].sum(axis=1)
    assert padded_gain[rows, choices].sum(axis=1)[spent <= budget].max() <= point.gain + 1e-9
    # At the price, every item's arm is its best by gain − price · cost.
    if np.isfinite(point.price):
        utility = padded_gain - point.price * padded_cost
        assert (utility[rows, arm] >= utility.max(axis=1) - 1e-9).all()
    if point.split_item is not None:
        assert 0 < point.split_share < 1
        assert point.spend == budget
        drawn = {tuple(path.arms_at(budget, seed=seed)) for seed in range(60)}
        changed = arm.copy()
        changed[point.split_item] = point.split_arm
        assert drawn <= {tuple(arm), tuple(changed)}
    more = path.gain_at(budget + 1e-6)[0] - path.gain_at(budget)[0]
    assert more <= point.price * 1e-6 + 1e-9


@settings(deadline=None)
@given(arms(), st.randoms(), st.floats(0, 1))
def test_row_order_changes_nothing(problem, shuffler, share):
    gains, costs = problem
    names = [f"q{i:02d}" for i in range(len(gains))]
    order = list(range(len(gains)))
    shuffler.shuffle(order)
    one = allocation_path(gains, costs, keys=names)
    other = allocation_path(gains[order], costs[order], keys=[names[i] for i in order])
    np.testing.assert_array_equal(one.spend, other.spend)
    np.testing.assert_array_equal(one.gain, other.gain)
    assert [names[i] for i in one.item] == [names[order[i]] for i in other.item]
    budget = share * one.spend[-1] if len(one) else 1.0
    np.testing.assert_array_equal(one.arms_at(budget)[order], other.arms_at(budget))


@settings(deadline=None)
@given(arms())
def test_compiled_hulls_are_the_plain_ones(problem):
    gains, costs = problem
    built = []
    for switch in ("1", "0"):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(hulls, "_COMPILED_FROM", 0)
            patch.setenv("APPORTION_COMPILED", switch)
            built.append(hulls.hull_steps(gains, costs))
    for name in ("item", "arm", "gain", "cost", "slope"):
        np.testing.assert_array_equal(getattr(built[0], name), getattr(built[1], name))


@settings(deadline=None)
@given(arms(most_arms=1))
def test_one_arm_is_the_general_case(problem):
    gains, costs = problem
    one, general = hulls.hull_steps(gains, costs), hulls._plain(gains, costs)
    for name in ("item", "arm", "gain", "cost", "slope"):
        np.testing.assert_array_equal(getattr(one, name), getattr(general, name))


@settings(deadline=None)
@given(arms(most=6), st.lists(st.integers(0, 3), min_size=6, max_size=6))
def test_whole_weights_are_repeated_rows(problem, weights):
    gains, costs = problem
    heft = np.array(weights[: len(gains)])
    weighted = allocation_path(gains, costs, weights=heft)
    repeated = allocation_path(np.repeat(gains, heft, axis=0), np.repeat(costs, heft, axis=0))
    end = repeated.spend[-1] if len(repeated) else 0.0
    budgets = np.linspace(0, end + 1, 7)
    np.testing.assert_allclose(weighted.gain_at(budgets), repeated.gain_at(budgets), atol=1e-9)


def test_free_arms_come_first_and_savings_are_not_spent():
    path = allocation_path([0.1, 0.0, 0.0, 0.2], [-5.0, -5.0, 0.0, 4.0])
    assert path.item.tolist() == [0, 1, 3]
    assert path.spend.tolist() == [0.0, 0.0, 4.0]
    assert path.arms_at(0).tolist() == [1, 1, 0, 0]


def test_over_first_arm():
    assert over_first_arm([[0.5, 0.75, 0.25]]).tolist() == [[0.25, -0.25]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: allocation_path([[0.1, np.nan]], [[1, 2]], keys=["q"]),
            r"gain is nan at key 'q' \(row 0\), column 1",
        ),
        (lambda: allocation_path([0.1], [np.inf]), "cost is inf in row 0"),
        (lambda: allocation_path([0.1], [1.0, 2.0]), "one of each"),
        (lambda: allocation_path([0.1], [1.0], keys=["a", "b"]), "one key an item"),
        (lambda: allocation_path([0.1], [1.0], weights=[-1.0]), "0 or more"),
        (lambda: allocation_path([0.1], [1.0]).at(-1), "negative"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()

"""The exact knapsack against every subset, and against scipy's mixed-integer solver."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

from apportion.allocation import core
from apportion.allocation.knapsack import knapsack


@st.composite
def items(draw, most=12):
    gain = st.one_of(st.sampled_from([-0.5, 0.0, 0.25, 1 / 3, 2 / 3, 1.0]), st.floats(-1, 2))
    cost = st.one_of(st.sampled_from([-5, 0, 10, 20]), st.integers(1, 60), st.integers(1, 3000))
    rows = draw(st.lists(st.tuples(gain, cost), min_size=1, max_size=most))
    rows += draw(st.lists(st.sampled_from(rows), max_size=most - len(rows))) if len(rows) < most else []
    total = sum(max(c, 0) for _, c in rows)
    return (
        [g for g, _ in rows],
        [c for _, c in rows],
        draw(st.integers(0, total + 5)),
        draw(st.sampled_from([1, 10])),
    )


@settings(deadline=None)
@given(items(), st.booleans())
def test_optimal_among_all_subsets(problem, compiled):
    gains, costs, budget, unit = problem
    weights = np.ceil(np.maximum(costs, 0) / unit)
    subsets = np.array(list(product([0, 1], repeat=len(gains))))
    best = (subsets @ gains)[subsets @ weights <= budget // unit].max()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(core, "_COMPILED_FROM", 0)
        patch.setenv("APPORTION_COMPILED", "1" if compiled else "0")
        got = knapsack(gains, costs, budget, unit=unit)
    assert got.chosen @ weights <= budget // unit
    assert got.gain == pytest.approx(best, abs=1e-12)
    assert got.gain == pytest.approx(got.chosen @ gains, abs=1e-12)
    assert got.gap == 0
    assert got.linear_bound >= got.gain - 1e-12
    assert got.cost == int(got.chosen @ np.array(costs))


@settings(deadline=None)
@given(
    st.sampled_from([1 / 3, 0.1, 0.05, 1 / 30, 0.25, 7.0, 1 / 300]),
    st.lists(st.integers(-40, 40), min_size=1, max_size=30),
)
def test_grain_divides_every_gain(step, multiples):
    found = core.grain(np.array(multiples) * step)
    if any(multiples):
        assert found is not None
        assert found / step == pytest.approx(np.gcd.reduce(multiples), rel=1e-6)
    else:
        assert found is None


def test_no_grain_in_continuous_gains():
    assert core.grain(np.random.default_rng(0).normal(size=5000)) is None
    # The odd one out is not in the sample that is looked at first.
    mostly = np.ones(5000)
    mostly[1] = np.pi
    assert core.grain(mostly) is None


def many(n, seed, kind="plain"):
    rng = np.random.default_rng(seed)
    costs = rng.lognormal(7.7, 0.5, n).astype(np.int64) + 1
    gains = rng.normal(0.1, 0.3, n)
    if kind == "thirds":
        gains = np.round(gains * 3) / 3
    if kind == "proportional":
        gains = costs / 1000 + 0.5
    return gains, costs, int(0.3 * costs[gains > 0].sum())


@pytest.mark.parametrize("kind", ["plain", "thirds", "proportional"])
@pytest.mark.parametrize(("n", "seed"), [(60, 1), (300, 2), (300, 3)])
def test_agrees_with_a_general_solver(n, seed, kind):
    gains, costs, budget = many(n, seed, kind)
    weights = np.ceil(costs / 10)
    other = milp(
        -gains,
        constraints=LinearConstraint(weights[None, :], -np.inf, budget // 10),
        integrality=np.ones(n),
        bounds=Bounds(0, 1),
        options={"mip_rel_gap": 0, "time_limit": 20},
    )
    got = knapsack(gains, costs, budget)
    assert got.gain >= -other.fun - 1e-9
    if other.status == 0:
        assert got.gain == pytest.approx(-other.fun, abs=1e-6)
    assert got.gap == 0


@pytest.mark.parametrize("kind", ["plain", "thirds"])
def test_compiled_and_plain_agree_to_the_bit(kind, monkeypatch):
    gains, costs, budget = many(6000, 4, kind)
    fast = knapsack(gains, costs, budget)
    monkeypatch.setenv("APPORTION_COMPILED", "0")
    plain = knapsack(gains, costs, budget)
    np.testing.assert_array_equal(fast.arm, plain.arm)
    assert (fast.gain, fast.upper_bound, fast.linear_bound) == (
        plain.gain,
        plain.upper_bound,
        plain.linear_bound,
    )
    assert fast.gap == 0


def test_large_sample_bracket_equals_the_full_sort():
    gains, costs, budget = many(20_000, 5)
    keys = np.random.default_rng(0).permutation(20_000)
    one, other = knapsack(gains, costs, budget), knapsack(gains, costs, budget, keys=keys)
    assert one.gain == pytest.approx(other.gain, abs=1e-9)
    assert one.linear_bound == pytest.approx(other.linear_bound, abs=1e-9)
    assert one.gain <= one.linear_bound


@pytest.mark.parametrize("compiled", ["0", "1"])
def test_stopped_short_reports_its_gap(compiled, monkeypatch):
    monkeypatch.setenv("APPORTION_COMPILED", compiled)
    gains, costs, budget = many(6000, 6)
    proven, short = knapsack(gains, costs, budget), knapsack(gains, costs, budget, most_states=1)
    assert short.gain <= proven.gain <= short.upper_bound + 1e-12
    assert short.upper_bound <= short.linear_bound + 1e-9
    assert short.gap > 0 == proven.gap


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([np.inf], [1], 1), r"gain is inf at key 'q' \(row 0\)"),
        (([0.1], [1.5], 1), "cost is 1.5 at key 'q'"),
        (([0.1], [1], -1), "negative"),
        (([0.1], [1, 2], 1), "one of each"),
    ],
)
def test_refusals(arguments, message):
    with pytest.raises(ValueError, match=message):
        knapsack(*arguments, keys=["q"])

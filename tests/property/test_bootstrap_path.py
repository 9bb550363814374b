"""Replicates of a path against paths rebuilt from resampled rows."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.allocation.path import allocation_path
from apportion.bootstrap import draw_counts
from apportion.evaluation import bootstrap_path
from apportion.evaluation.bootstrap_path import (
    area_interval,
    difference_intervals,
    path_intervals,
    path_replicates,
)


def problem(n, k, groups, seed):
    rng = np.random.default_rng(seed)
    gains = np.round(rng.normal(0.1, 0.3, (n, k)), 2)
    costs = np.cumsum(rng.integers(0, 40, (n, k)), axis=1).astype(float)
    return gains, costs, rng.integers(0, groups, n)


@settings(deadline=None, max_examples=40)
@given(
    st.integers(4, 40), st.integers(1, 3), st.integers(2, 8), st.integers(0, 99), st.booleans(), st.booleans()
)
def test_replicates_are_paths_of_resampled_rows(n, k, groups, seed, compiled, weighted):
    gains, costs, labels = problem(n, k, groups, seed)
    if len(set(labels)) < 2:
        return
    weights = np.random.default_rng(seed).integers(1, 4, n).astype(float) if weighted else None
    path = allocation_path(gains, costs, weights=weights)
    budgets = np.linspace(0, path.spend[-1] * 1.1 if len(path) else 1, 9)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bootstrap_path, "_COMPILED_FROM", 0)
        patch.setenv("APPORTION_COMPILED", "1" if compiled else "0")
        patch.setattr(bootstrap_path, "_BLOCK", 5)
        got = path_replicates(path, labels, budgets, resamples=6, seed=seed)
    names = np.unique(labels)
    heft = np.ones(n) if weights is None else weights
    for r, counts in enumerate(np.concatenate(list(draw_counts(len(names), 6, seed)))):
        times = counts[np.searchsorted(names, labels)]
        share = (times * heft).sum() / heft.sum()
        rebuilt = allocation_path(gains, costs, weights=times * heft)
        np.testing.assert_allclose(got[r], rebuilt.gain_at(budgets * share) / share, atol=1e-9)


def test_compiled_and_plain_agree_to_the_bit(monkeypatch):
    gains, costs, labels = problem(3000, 3, 150, 3)
    path = allocation_path(gains, costs)
    budgets = np.linspace(0, path.spend[-1], 40)
    built = []
    for switch in ("1", "0"):
        monkeypatch.setattr(bootstrap_path, "_COMPILED_FROM", 0)
        monkeypatch.setenv("APPORTION_COMPILED", switch)
        built.append(path_replicates(path, labels, budgets, resamples=30, seed=1))
    np.testing.assert_array_equal(built[0], built[1])


def test_intervals_differences_and_areas():
    gains, costs, labels = problem(400, 1, 50, 5)
    rng = np.random.default_rng(1)
    good, blind = allocation_path(gains, costs), allocation_path(np.abs(rng.normal(size=gains.shape)), costs)
    blind = blind.revalued(gains, costs)
    assert blind.gain[-1] == pytest.approx(gains[blind.item, 0].sum())
    budgets = np.linspace(0, good.spend[-1], 5)
    single = path_intervals(good, labels, budgets, seed=2)
    assert [i.estimate for i in single] == pytest.approx(list(good.gain_at(budgets)))
    assert all(i.low <= i.estimate <= i.high for i in single)
    apart = difference_intervals(good, blind, labels, budgets, seed=2)
    assert apart[2].low > 0
    same = difference_intervals(good, good, labels, budgets, seed=2)
    assert all((i.estimate, i.low, i.high) == (0, 0, 0) for i in same)
    area = area_interval(good, blind, labels, 0, budgets[-1], points=4001)
    fine = np.linspace(0, budgets[-1], 20_001)
    assert area.estimate == pytest.approx((good.gain_at(fine) - blind.gain_at(fine)).mean(), rel=1e-3)
    assert 0 < area.low < area.estimate < area.high
    lone = area_interval(good, blind, np.zeros(400, dtype=int), 0, 10)
    assert (lone.low, lone.high) == (None, None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda path: path_replicates(path, [1], [0.0]), "one group an item"),
        (lambda path: path_replicates(path, [1, 2], [2.0, 1.0]), "ascending"),
        (lambda path: area_interval(path, path, [1, 2], 5, 5), "no range"),
        (lambda path: path.revalued([[1.0]], [[1.0]]), "same items"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call(allocation_path([0.1, 0.2], [1.0, 1.0]))


def test_revalued_refuses_falling_costs():
    path = allocation_path([[0.1, 0.15]], [[1.0, 2.0]])
    with pytest.raises(ValueError, match=r"arm 2 of item 0 costs 1\.0 less"):
        path.revalued([[0.1, 0.2]], [[2.0, 1.0]])

"""The grouped bootstrap against resampled rows rebuilt one by one."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion import bootstrap
from apportion.bootstrap import (
    Interval,
    draw_counts,
    group_codes,
    group_sums,
    interval,
    jaccard_interval,
    mean_interval,
    mean_intervals,
    paired_difference,
    ratio_interval,
    resampled_sums,
    statistic_interval,
)


@st.composite
def grouped_values(draw, min_groups=2):
    groups = draw(
        st.lists(st.sampled_from("abcdef"), min_size=2, max_size=25).filter(
            lambda g: len(set(g)) >= min_groups
        )
    )
    value = st.one_of(st.sampled_from([0.0, 0.5, 1.0]), st.floats(-1, 1))
    same = st.lists(value, min_size=len(groups), max_size=len(groups))
    return groups, np.array(draw(same)), np.array(draw(same))


def rebuilt(groups, seed, resamples):
    """Row numbers of each resample, group by group, from the same draws."""
    labels = sorted(set(groups))
    rows = {label: [i for i, g in enumerate(groups) if g == label] for label in labels}
    for counts in draw_counts(len(labels), resamples, seed):
        for count in counts:
            yield [
                i
                for label, times in zip(labels, count, strict=True)
                for _ in range(int(times))
                for i in rows[label]
            ]


@settings(max_examples=40, deadline=None)
@given(grouped_values(), st.integers(0, 9))
def test_means_and_differences_are_those_of_rebuilt_rows(data, seed):
    groups, a, b = data
    plain = np.array([(a[rows] - b[rows]).mean() for rows in rebuilt(groups, seed, 60)])
    got = paired_difference(a, b, groups, seed=seed, resamples=60)
    assert got.estimate == pytest.approx((a - b).mean(), abs=1e-12)
    assert (got.low, got.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=1e-12)
    normal = paired_difference(a, b, groups, seed=seed, resamples=60, kind="normal")
    assert normal.high - normal.low == pytest.approx(2 * 1.959963984540054 * plain.std(ddof=1), abs=1e-9)
    whole = statistic_interval(lambda w: float(np.average(a - b, weights=w)), groups, seed=seed, resamples=60)
    assert (whole.low, whole.high) == pytest.approx((got.low, got.high), abs=1e-12)


@settings(max_examples=40, deadline=None)
@given(grouped_values(), st.integers(0, 9))
def test_weights_ratios_and_overlap(data, seed):
    groups, a, b = data
    weights = np.abs(b) + 0.5
    plain = [np.average(a[rows], weights=weights[rows]) for rows in rebuilt(groups, seed, 40)]
    got = mean_interval(a, groups, weights=weights, seed=seed, resamples=40)
    assert (got.low, got.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=1e-12)
    ratio = ratio_interval(a, weights, groups, seed=seed, resamples=40)
    plain = [a[rows].sum() / weights[rows].sum() for rows in rebuilt(groups, seed, 40)]
    assert (ratio.low, ratio.high) == pytest.approx(tuple(np.quantile(plain, [0.025, 0.975])), abs=1e-12)
    left, right = a > 0, b > 0
    overlap = jaccard_interval(left, right, groups, seed=seed, resamples=40)
    defined = [rows for rows in rebuilt(groups, seed, 40) if (left | right)[rows].any()]
    if not (left | right).any():
        assert overlap == Interval(None, None, None, 0, len(set(groups)))
    elif len(defined) > 1:
        plain = [(left & right)[rows].sum() / (left | right)[rows].sum() for rows in defined]
        assert overlap.resamples == len(defined)
        assert (overlap.low, overlap.high) == pytest.approx(
            tuple(np.quantile(plain, [0.025, 0.975])), abs=1e-12
        )


@settings(deadline=None)
@given(grouped_values(min_groups=1), st.integers(0, 9))
def test_equal_sides_have_no_width(data, seed):
    groups, a, _ = data
    got = paired_difference(a, a, groups, seed=seed, resamples=20)
    assert got.estimate == 0
    assert (got.low, got.high) == ((0, 0) if len(set(groups)) > 1 else (None, None))
    constant = mean_interval(np.full(len(groups), 0.1), groups, seed=seed, resamples=20)
    assert constant.estimate == 0.1
    assert (constant.low, constant.high) == ((0.1, 0.1) if len(set(groups)) > 1 else (None, None))


def test_one_group_is_not_estimable():
    assert mean_interval([0.0, 1.0], ["a", "a"]) == Interval(0.5, None, None, 0, 1)
    assert not mean_interval([0.0, 1.0], ["a", "a"]).excludes_zero


def test_columns_share_their_draws():
    rng = np.random.default_rng(3)
    a, groups = rng.normal(size=(40, 2)), rng.integers(0, 9, 40)
    both = mean_intervals(np.column_stack([a, a[:, 0]]), groups, seed=5)
    assert both[0] == both[2]
    assert both[1] == mean_interval(a[:, 1], groups, seed=5)


def test_draws_do_not_depend_on_compilation(monkeypatch):
    monkeypatch.setattr(bootstrap, "_BLOCK", 100)
    monkeypatch.setattr(bootstrap, "_COMPILED_FROM", 0)
    drawn = []
    for switch in ("0", "1"):
        monkeypatch.setenv("APPORTION_COMPILED", switch)
        drawn.append(np.concatenate(list(draw_counts(37, 50, 4))))
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0].sum(axis=1) == 37).all()
    assert len(np.unique(drawn[0], axis=0)) == 50


def test_blocks_side_by_side_are_the_blocks_in_turn(monkeypatch):
    monkeypatch.setattr(bootstrap, "_BLOCK", 100)
    values, groups = np.random.default_rng(0).normal(size=(90, 2)), np.arange(90) % 30
    _, drawn, count = resampled_sums(values, groups, resamples=50, seed=3)
    sums = group_sums(*group_codes(groups), values)
    in_turn = np.concatenate([counts @ sums for counts in draw_counts(count, 50, 3)])
    np.testing.assert_array_equal(drawn, in_turn)


def test_coverage_of_a_known_mean():
    """Intervals at 90 % over many simulated sets hold the true mean about that often."""
    rng = np.random.default_rng(8)
    held = 0
    for trial in range(200):
        effects = rng.normal(size=40)
        groups = np.repeat(np.arange(40), 3)
        values = effects[groups] + rng.normal(size=120)
        got = mean_interval(values, groups, seed=trial, resamples=200, level=0.9)
        held += got.low <= 0 <= got.high
    assert 165 <= held <= 195


@pytest.mark.parametrize(
    "labels",
    [
        np.array([-128, 127, 0, -128], dtype=np.int8),
        np.array([2**64 - 1, 2**64 - 3, 2**64 - 1], dtype=np.uint64),
        np.array([-(2**63), 2**63 - 1], dtype=np.int64),
        np.array([5, 900, 5, -7], dtype=np.int32),
        np.zeros(0, dtype=np.int64),
    ],
)
def test_codes_of_whole_numbers_are_their_ranks(labels):
    codes, groups = group_codes(labels)
    ranks = {label: i for i, label in enumerate(sorted(set(labels.tolist())))}
    assert codes.tolist() == [ranks[label] for label in labels.tolist()]
    assert groups == len(ranks)


def test_group_codes_follow_labels():
    assert group_codes(["b", "a", "b"])[0].tolist() == [1, 0, 1]
    assert group_codes(np.array([7, 3, 7]))[0].tolist() == [1, 0, 1]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_interval([1.0, 2.0], ["a", None]), "group is missing in row 1"),
        (lambda: mean_interval([1.0, np.nan], ["a", "b"]), "is nan in row 1"),
        (lambda: mean_interval([1.0], ["a", "b"]), "one group a row"),
        (lambda: paired_difference([1.0], [1.0, 2.0], ["a"]), "paired difference needs the same rows"),
        (lambda: jaccard_interval([True], [True, False], ["a"]), "same questions"),
        (lambda: mean_interval([1.0, 2.0], ["a", "b"], weights=[1.0, -1.0]), "weight is -1.0 in row 1"),
        (lambda: mean_interval([1.0, 2.0], ["a", "b"], level=95), "level is 95"),
        (lambda: mean_interval([1.0, 2.0], ["a", "b"], resamples=0), "resamples is 0"),
        (lambda: interval(0.0, np.zeros(3), 2, kind="bca"), "unknown"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(ValueError, match=message):
        call()

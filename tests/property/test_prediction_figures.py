"""Figures of predictions and chances against their slow plain definitions."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import average_precision_score

from apportion.prediction.quality import auprc, auroc, brier, ece

SCORED = st.lists(st.tuples(st.booleans(), st.integers(0, 5).map(lambda v: v / 5)), min_size=1, max_size=40)


@given(SCORED)
def test_average_precision_is_that_of_scikit_learn(rows: list[tuple[bool, float]]) -> None:
    labels, scores = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    found = auprc(labels, scores)
    if not labels.any():
        assert found is None
    else:
        assert found == pytest.approx(average_precision_score(labels, scores))


@given(SCORED)
def test_auroc_is_the_chance_that_a_positive_scores_above_a_negative(rows: list[tuple[bool, float]]) -> None:
    positive = [score for label, score in rows if label]
    negative = [score for label, score in rows if not label]
    labels, scores = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    if not positive or not negative:
        assert auroc(labels, scores) is None
        return
    wins = sum((p > n) + 0.5 * (p == n) for p in positive for n in negative)
    assert auroc(labels, scores) == pytest.approx(wins / (len(positive) * len(negative)))


@given(SCORED)
def test_calibration_errors_lie_between_none_and_all(rows: list[tuple[bool, float]]) -> None:
    labels, scores = (np.array(column, dtype=np.float64) for column in zip(*rows, strict=True))
    error, squared = ece(labels, scores), brier(labels, scores)
    assert error is not None
    assert squared is not None
    # The bins' mean gap bounds the whole's from above, and its square never exceeds the mean squared error.
    assert abs(labels.mean() - scores.mean()) <= error + 1e-12
    assert error**2 <= squared + 1e-12
    assert ece(labels, labels) == 0

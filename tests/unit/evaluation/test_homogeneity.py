"""How alike the filings of a corpus are: what makes a search find the right words in the wrong one."""

from __future__ import annotations

import numpy as np
import pytest

from apportion.evaluation.homogeneity import structural_homogeneity


def test_twins_are_confusable_and_strangers_are_not() -> None:
    shared = np.eye(6, dtype=np.float32)
    twins = structural_homogeneity({"a": shared, "b": shared}, {"a": "A", "b": "B"})
    assert twins["nearest_elsewhere"] == pytest.approx(1.0)
    assert twins["confusable_share"] == 1.0
    apart = {
        "a": np.repeat(np.eye(6, dtype=np.float32)[:1], 4, axis=0),
        "b": np.repeat(np.eye(6, dtype=np.float32)[1:2], 4, axis=0),
    }
    assert structural_homogeneity(apart, {})["confusable_share"] == 0.0
    alone = structural_homogeneity({"a": shared}, {})
    assert alone["chunks"] == 0

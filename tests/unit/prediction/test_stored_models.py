"""Stored models: what is read back predicts the same, and what must not be used is refused."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from graded_answers import training

from apportion.prediction.ensemble import NAME as PAPER_MODEL
from apportion.prediction.selection import SELECTED, WEIGHTED
from apportion.prediction.stored import (
    ModelRefusedError,
    fit_models,
    is_stored,
    load_models,
    model_card,
    save_models,
)


@pytest.mark.parametrize("name", [PAPER_MODEL, WEIGHTED, SELECTED, "monotone_boosting"])
def test_what_is_read_back_predicts_the_same(name: str, tmp_path: Path) -> None:
    made = training(6)
    models = fit_models(made, ["s"], (11,), name)
    assert save_models(models, tmp_path)
    assert is_stored(tmp_path, model_card(made, ["s"], (11,), name))
    assert not save_models(models, tmp_path)
    read = load_models(tmp_path)
    assert read.card["gain_model"] == name
    for told in ("predict_gain", "predict_cost"):
        assert np.array_equal(getattr(read, told)(made.features), getattr(models, told)(made.features))
    if name != PAPER_MODEL:
        assert np.ptp(read.predict_gain(made.features)) > 0


def test_a_pool_of_other_grades_is_another_model() -> None:
    made, other = training(3), training(3, flip=True)
    assert made.pool is not None
    assert model_card(made, ["s"], (11,), WEIGHTED) != model_card(other, ["s"], (11,), WEIGHTED)


def test_another_version_is_refused(tmp_path: Path) -> None:
    save_models(fit_models(training(3), ["s"], (11,)), tmp_path)
    card = json.loads((tmp_path / "card.json").read_text())
    (tmp_path / "card.json").write_text(json.dumps({**card, "scikit_learn": "0.1"}))
    with pytest.raises(ModelRefusedError, match=r"fitted under scikit-learn 0\.1"):
        load_models(tmp_path)
    (tmp_path / "card.json").write_text(json.dumps({**card, "format": 1}))
    with pytest.raises(ModelRefusedError, match="another version of Apportion"):
        load_models(tmp_path)
    with pytest.raises(ModelRefusedError, match="no stored model"):
        load_models(tmp_path / "elsewhere")

"""Fitted models on disk: what the live decision uses.

A model's file is written by skops, which restores only types that are named as trusted: nothing is unpickled. Beside
it stands a JSON card with the features, the versions and a hash of the data; a model is refused under another
scikit-learn.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from apportion.prediction.cost import COST_MODEL_IN_USE, ExactPromptCost
from apportion.prediction.crossfit import Gains, few_threads, fit_gain
from apportion.prediction.design import Floats
from apportion.prediction.ensemble import GainModel
from apportion.prediction.training import SEEDS, Training

TRUSTED = (
    "apportion.prediction.benefit.Blend",
    "apportion.prediction.benefit.Chance",
    "apportion.prediction.benefit.HelpHurt",
    "apportion.prediction.benefit.MonotoneBoosting",
    "apportion.prediction.benefit.TwoPart",
    "apportion.prediction.cost.ExactPromptCost",
    "apportion.prediction.design.Design",
    "apportion.prediction.ensemble.GainModel",
    "apportion.prediction.gains.BenefitGain",
    "apportion.prediction.selection.Member",
    "apportion.prediction.selection.Scored",
    "apportion.prediction.texts.TextBoosting",
    "apportion.prediction.texts.TextParts",
    "apportion.prediction.texts.VectorParts",
    "numpy.dtype",
    "sklearn.ensemble._hist_gradient_boosting.predictor.TreePredictor",
)
"""The types beyond skops' own list that our models consist of."""

FORMAT = 2
"""Raised when a type of ours changes its name or what it keeps: models of another format are fitted again."""


class ModelRefusedError(ValueError):
    """A stored model that must not be used here; the message says why and what to do."""


@dataclass(frozen=True)
class DecisionModels:
    """Gain and cost models fitted on every judged question of some sets, one under each seed."""

    gain: Sequence[Gains]
    cost: Sequence[ExactPromptCost]
    card: Mapping[str, Any]

    def predict_gain(self, features: pl.DataFrame) -> Floats:
        """Predicted gain, the mean over the seeds, shape (n,)."""
        return np.asarray(np.mean([model.predict(features) for model in self.gain], axis=0), dtype=np.float64)

    def predict_cost(self, features: pl.DataFrame) -> Floats:
        """Predicted tokens of the deep call, the mean over the seeds, shape (n,)."""
        return np.asarray(np.mean([model.predict(features) for model in self.cost], axis=0), dtype=np.float64)


def data_hash(training: Training) -> str:
    """SHA-256 of what the models learn from."""
    digest = hashlib.sha256(training.features.write_json().encode())
    digest.update(json.dumps(list(training.groups)).encode())
    for values in (training.gain, training.input_tokens, training.output_tokens):
        digest.update(np.ascontiguousarray(values).tobytes())
    return "sha256:" + digest.hexdigest()


def model_card(
    training: Training, sets: Sequence[str], seeds: Sequence[int] = SEEDS, gain_model: str = GainModel.name
) -> dict[str, Any]:
    """What the models fitted on some rows are: equal cards, equal models."""
    import sklearn

    return {
        "format": FORMAT,
        "sets": sorted(sets),
        "questions": training.features.height,
        "filings": len(set(training.groups)),
        "features": [name for name in training.features.columns if name != "question_id"],
        "gain_model": gain_model,
        "cost_model": COST_MODEL_IN_USE,
        "seeds": list(seeds),
        "scikit_learn": sklearn.__version__,
        "data": data_hash(training),
        **({} if training.pool is None else {"pool": training.pool.fingerprint()}),
    }


def fit_models(
    training: Training, sets: Sequence[str], seeds: Sequence[int] = SEEDS, gain_model: str = GainModel.name
) -> DecisionModels:
    """Fit the models in use on every row.

    Args:
        training: the rows, with a pool where ``gain_model`` isn't the paper's ensemble.
        sets: names of the sets that they are of.
        seeds: of the models.
        gain_model: name of the benefit model.
    """
    with few_threads(training):
        gain = [fit_gain(training, gain_model, seed) for seed in seeds]
        cost = [
            ExactPromptCost(seed).fit(training.features, training.input_tokens, training.output_tokens)
            for seed in seeds
        ]
    return DecisionModels(gain, cost, model_card(training, sets, seeds, gain_model))


def is_stored(folder: Path, card: Mapping[str, Any]) -> bool:
    """Whether the models that a card describes are there."""
    try:
        return bool(json.loads((folder / "card.json").read_text(encoding="utf-8")) == card)
    except (OSError, ValueError):
        return False


def save_models(models: DecisionModels, folder: Path) -> bool:
    """Write the models and their card; False if the very same are there already."""
    from skops.io import dump

    if is_stored(folder, models.card):
        return False
    folder.mkdir(parents=True, exist_ok=True)
    card = folder / "card.json"
    fresh = folder / f".models-{os.getpid()}.skops"
    dump({"gain": list(models.gain), "cost": list(models.cost)}, fresh)
    fresh.replace(folder / "models.skops")
    # The card comes last: without it there is no model.
    draft = folder / f".card-{os.getpid()}.json"
    draft.write_text(json.dumps(models.card, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    draft.replace(card)
    return True


def load_models(folder: Path) -> DecisionModels:
    """Read models back.

    Raises:
        ModelRefusedError: there are none, they were fitted under another scikit-learn or stored in another format, or
            the file holds types that our models don't consist of.
    """
    import sklearn
    from skops.io import get_untrusted_types, load

    try:
        card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ModelRefusedError(
            f"{folder}: no stored model ({error}); fit one with `apportion evaluate`"
        ) from error
    if card.get("scikit_learn") != sklearn.__version__:
        raise ModelRefusedError(
            f"{folder}: fitted under scikit-learn {card.get('scikit_learn')}, this is {sklearn.__version__}; "
            "fit it again with `apportion evaluate`"
        )
    if card.get("format") != FORMAT:
        raise ModelRefusedError(
            f"{folder}: stored by another version of Apportion; fit it again with `apportion evaluate`"
        )
    file = folder / "models.skops"
    strange = sorted(set(get_untrusted_types(file=file)) - set(TRUSTED))
    if strange:
        raise ModelRefusedError(
            f"{file}: holds {strange[0]}, which our models don't consist of; fit it again"
        )
    stored = load(file, trusted=list(TRUSTED))
    return DecisionModels(stored["gain"], stored["cost"], card)

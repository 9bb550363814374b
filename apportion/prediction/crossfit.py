"""Cross-fitting grouped by filing: every prediction is made by a model that has seen nothing of its filing."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.prediction.benefit import BenefitModel
from apportion.prediction.cost import COST_MODELS
from apportion.prediction.design import Floats
from apportion.prediction.ensemble import GainModel
from apportion.prediction.gains import BenefitGain
from apportion.prediction.selection import BENEFIT_NAMES, SELECTED, WEIGHTED, choose_and_weigh
from apportion.prediction.threads import one_thread
from apportion.prediction.training import SEEDS, Training, grouped_folds

Gains = GainModel | BenefitGain
"""What predicts the gain of a deeper call from features."""

INNER_FOLDS = 3
SMALL = 5_000


def crossfit(training: Training, seeds: Sequence[int] = SEEDS) -> pl.DataFrame:
    """Held-out predictions of gain and cost by every model under every seed.

    With a pool, the benefit models predict the chances to help and to hurt as well, and `selected` is whichever
    model did best inside the training filings alone.

    Returns:
        Columns target, model, seed, question_id, fold, predicted, actual.
    """
    with few_threads(training):
        return pl.concat(frame for seed in seeds for frame in _held_out(training, seed))


def _held_out(training: Training, seed: int) -> list[pl.DataFrame]:
    frames = []
    folds = grouped_folds(training.groups, seed)
    for target, model, actual, fit in _tasks(training, seed):
        predicted = np.full(len(folds), np.nan)
        for fold in range(int(folds.max()) + 1):
            held_out = folds == fold
            predicted[held_out] = fit(~held_out).predict(training.features.filter(pl.Series(held_out)))
        frames.append(_frame(training, target, model, seed, folds, predicted, actual))
    for model, chances in benefit_chances(training, seed, folds).items():
        frames += _benefit_frames(training, model, seed, folds, chances)
    return frames


def few_threads(training: Training) -> AbstractContextManager[Any]:
    """One thread for small sets: threads that wait for one another cost more there than they save."""
    import sklearn.ensemble  # noqa: F401 - a limit reaches only what is loaded

    return one_thread(None, when=training.features.height < SMALL)


def benefit_chances(
    training: Training, seed: int, folds: npt.NDArray[np.int64]
) -> dict[str, tuple[Floats, Floats, Floats]]:
    """Held-out gain and chances to help and to hurt by benefit model, shapes (n,); none without a pool."""
    if training.pool is None:
        return {}
    found: dict[str, tuple[Floats, Floats, Floats]] = {
        name: (np.zeros(len(folds)), np.zeros(len(folds)), np.zeros(len(folds)))
        for name in (*BENEFIT_NAMES, WEIGHTED, SELECTED)
    }
    for fold in range(int(folds.max()) + 1):
        held_out = folds == fold
        seen = training.part(~held_out)
        made = fit_benefit(seen, seed, without=training.groups_at(held_out))
        tested = training.features.filter(pl.Series(held_out))
        for name, model in made.items():
            for into, chance in zip(
                found[name], BenefitGain.of(seen, model).with_chances(tested), strict=True
            ):
                into[held_out] = chance
    return found


def fit_gain(training: Training, name: str, seed: int, *, without: Collection[str] = ()) -> Gains:
    """One model of the gain, by its name, fitted on the training rows and the pool.

    Args:
        training: the rows.
        name: the paper's ensemble or a benefit model.
        seed: of the inner folds and the models.
        without: filings that the pool must not show.
    """
    if name == GainModel.name:
        return GainModel(seed).fit(training.features, training.gain)
    return BenefitGain.of(training, fit_benefit(training, seed, without=without, wanted=name)[name])


def fit_benefit(
    training: Training, seed: int, *, without: Collection[str] = (), wanted: str | None = None
) -> dict[str, BenefitModel]:
    """Every benefit model fitted on the training rows and the pool, and what was chosen and weighed among them.

    Args:
        training: the rows.
        seed: of the inner folds and the models.
        without: filings that the pool must not show.
        wanted: the one model that is needed; without it all.
    """
    if training.pool is None:
        raise ValueError("the benefit models learn from a pool of graded answers, and there is none")
    ranked = training.helped is not None and 0 < training.helped.sum() < len(training.helped)
    several = len(set(training.groups)) >= INNER_FOLDS
    folds = grouped_folds(training.groups, seed, INNER_FOLDS) if ranked and several else None
    with few_threads(training):
        return choose_and_weigh(training, training.pool.without(without), seed, folds, wanted)


def _benefit_frames(
    training: Training,
    model: str,
    seed: int,
    folds: npt.NDArray[np.int64],
    chances: tuple[Floats, Floats, Floats],
) -> list[pl.DataFrame]:
    if training.helped is None or training.hurt is None:
        raise ValueError(
            "the benefit models are tested on helped and hurt questions, which this training lacks"
        )
    gain, helps, hurts = chances
    return [
        _frame(training, "gain", model, seed, folds, gain, training.gain),
        _frame(training, "help", model, seed, folds, helps, training.helped.astype(np.float64)),
        _frame(training, "hurt", model, seed, folds, hurts, training.hurt.astype(np.float64)),
    ]


def in_sample(training: Training, seeds: Sequence[int] = SEEDS) -> pl.DataFrame:
    """Predictions on the rows that the models were fitted on; only ever shown beside the held-out ones."""
    everything = np.ones(training.features.height, dtype=np.bool_)
    nowhere = np.zeros(training.features.height, dtype=np.int64)
    frames = []
    with few_threads(training):
        for seed in seeds:
            frames += [
                _frame(
                    training, target, model, seed, nowhere, fit(everything).predict(training.features), actual
                )
                for target, model, actual, fit in _tasks(training, seed)
            ]
        if training.pool is not None:
            # The logistic models know no seed, and which of them was selected is a question of held-out folds.
            for name, made in fit_benefit(training, seeds[0]).items():
                if name == SELECTED:
                    continue
                chances = BenefitGain.of(training, made).with_chances(training.features)
                frames += _benefit_frames(training, name, seeds[0], nowhere, chances)
    return pl.concat(frames)


def _tasks(
    training: Training, seed: int
) -> list[tuple[str, str, Floats, Callable[[npt.NDArray[np.bool_]], Any]]]:
    def fit_gain(rows: npt.NDArray[np.bool_]) -> Any:
        return GainModel(seed).fit(training.features.filter(pl.Series(rows)), training.gain[rows])

    def fit_cost(model: Any) -> Callable[[npt.NDArray[np.bool_]], Any]:
        def fit(rows: npt.NDArray[np.bool_]) -> Any:
            counted = rows & np.isfinite(training.cost)
            features = training.features.filter(pl.Series(counted))
            return model(seed).fit(features, training.input_tokens[counted], training.output_tokens[counted])

        return fit

    tasks: list[tuple[str, str, Floats, Callable[[npt.NDArray[np.bool_]], Any]]] = [
        ("gain", GainModel.name, training.gain, fit_gain)
    ]
    if np.isfinite(training.cost).any():
        tasks += [("cost", model.name, training.cost, fit_cost(model)) for model in COST_MODELS]
    return tasks


def _frame(
    training: Training,
    target: str,
    model: str,
    seed: int,
    folds: npt.NDArray[np.int64],
    predicted: Floats,
    actual: Floats,
) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question_id": training.features["question_id"],
            "fold": folds,
            "predicted": predicted,
            "actual": pl.Series(actual).fill_nan(None),
        }
    ).select(
        pl.lit(target).alias("target"),
        pl.lit(model).alias("model"),
        pl.lit(seed, dtype=pl.Int64).alias("seed"),
        "question_id",
        "fold",
        "predicted",
        "actual",
    )

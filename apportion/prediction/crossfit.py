"""Cross-fitting grouped by filing: every prediction is made by a model that has seen nothing of its filing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.prediction.cost import COST_MODELS
from apportion.prediction.design import Floats
from apportion.prediction.gain import GainModel

FOLDS = 5
SEEDS = (11, 22, 33)


class TooFewFilings(ValueError):  # noqa: N818 - names the condition
    """Held-out predictions need at least two filings."""


def grouped_folds(groups: Sequence[str], seed: int, folds: int = FOLDS) -> npt.NDArray[np.int64]:
    """The held-out fold of each row, shape (n,), numbers from zero.

    Filings are shuffled by the seed and dealt out, largest first, to the fold that holds fewest rows, so that
    folds are of nearly equal size. A filing is never in two folds. With fewer filings than folds there are as
    many folds as filings. The order of the rows changes nothing.

    Raises:
        TooFewFilings: there is a single filing.
    """
    names, codes, sizes = np.unique(
        np.asarray(groups, dtype=object).astype(str), return_inverse=True, return_counts=True
    )
    if len(names) < 2:
        raise TooFewFilings(
            f"{len(names)} filing with judged questions: held-out predictions need at least two; add questions on "
            "other filings"
        )
    shuffled = np.random.default_rng(seed).permutation(len(names))
    largest_first = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    count = min(folds, len(names))
    loads = np.zeros(count, dtype=np.int64)
    fold_of = np.zeros(len(names), dtype=np.int64)
    for filing in largest_first:
        fold = int(np.argmin(loads))
        fold_of[filing] = fold
        loads[fold] += sizes[filing]
    return fold_of[codes]


@dataclass(frozen=True)
class Training:
    """What the predictors learn from: one row a question that has both outcomes graded.

    Attributes:
        features: decision-time features, with ``question_id``.
        groups: the filing of each row.
        gain: quality of the deep answer less that of the cheap one.
        input_tokens, output_tokens: of the deep call.
    """

    features: pl.DataFrame
    groups: Sequence[str]
    gain: Floats
    input_tokens: Floats
    output_tokens: Floats

    @property
    def cost(self) -> Floats:
        """Tokens of the deep call."""
        return self.input_tokens + self.output_tokens


def crossfit(training: Training, seeds: Sequence[int] = SEEDS) -> pl.DataFrame:
    """Held-out predictions of gain and cost by every model under every seed.

    Returns:
        Columns target, model, seed, question_id, fold, predicted, actual.
    """
    frames = []
    for seed in seeds:
        folds = grouped_folds(training.groups, seed)
        for target, model, actual, fit in _tasks(training, seed):
            predicted = np.full(len(folds), np.nan)
            for fold in range(int(folds.max()) + 1):
                held_out = folds == fold
                predicted[held_out] = fit(~held_out).predict(training.features.filter(pl.Series(held_out)))
            frames.append(_frame(training, target, model, seed, folds, predicted, actual))
    return pl.concat(frames)


def in_sample(training: Training, seeds: Sequence[int] = SEEDS) -> pl.DataFrame:
    """Predictions on the rows that the models were fitted on; only ever shown beside the held-out ones."""
    everything = np.ones(training.features.height, dtype=np.bool_)
    nowhere = np.zeros(training.features.height, dtype=np.int64)
    return pl.concat(
        _frame(training, target, model, seed, nowhere, fit(everything).predict(training.features), actual)
        for seed in seeds
        for target, model, actual, fit in _tasks(training, seed)
    )


def _tasks(
    training: Training, seed: int
) -> list[tuple[str, str, Floats, Callable[[npt.NDArray[np.bool_]], Any]]]:
    def fit_gain(rows: npt.NDArray[np.bool_]) -> Any:
        return GainModel(seed).fit(training.features.filter(pl.Series(rows)), training.gain[rows])

    def fit_cost(model: Any) -> Callable[[npt.NDArray[np.bool_]], Any]:
        def fit(rows: npt.NDArray[np.bool_]) -> Any:
            features = training.features.filter(pl.Series(rows))
            return model(seed).fit(features, training.input_tokens[rows], training.output_tokens[rows])

        return fit

    tasks: list[tuple[str, str, Floats, Callable[[npt.NDArray[np.bool_]], Any]]] = [
        ("gain", GainModel.name, training.gain, fit_gain)
    ]
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
            "actual": actual,
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

"""Fitted routers: per-arm models of quality and cost, cross-fitted by filing.

A router takes argmax_a of Q̂_a − λ·Ĉ_a, both predicted from what is known at its stage by models that saw nothing of the
question's filing. Three kinds of quality model:

- ``ridge``: ridge on a quadratic design, its penalty chosen inside the calibration rows;
- ``boosting``: histogram gradient boosting, one model an arm;
- ``signals``: the paper's ensemble on its features and the benefit model's signals of the cheap answer (refusal,
  hedging, figures and the like), for the quality of the first arm and each other arm's gain over it.

Costs are predicted by the standardised ridge of the cost model; an arm that always costs the same costs that.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from apportion.prediction.cost import RIDGE_ALPHA
from apportion.prediction.design import Design, standardised_ridge
from apportion.prediction.ensemble import GainModel
from apportion.prediction.threads import one_thread
from apportion.prediction.training import SEEDS, grouped_folds
from apportion.routing.arms import Arms, Flags, Floats, choose, utilities
from apportion.routing.quadratic import QuadraticRidge

ROUTERS = ("ridge", "boosting", "signals")
BINS = 10
THREADS_FROM = 20_000
"""Rows from which several threads grow or read one tree sooner than one does."""


@dataclass(frozen=True)
class Predicted:
    """What a router expects of every arm, under every seed.

    Attributes:
        quality: in [0, 1], shape (seeds, n, K).
        cost: in units of the price, 0 or more, shape (seeds, n, K).
    """

    quality: Floats
    cost: Floats


class Router:
    """Quality and cost of K arms from features of a stage."""

    def __init__(self, kind: str, seed: int) -> None:
        if kind not in ROUTERS:
            raise ValueError(f"router {kind!r} is unknown: choose {', '.join(ROUTERS)}")
        self.kind = kind
        self._seed = seed
        self._design: Design | None = None
        self._quality: Any = None
        self._costs: list[Any] = []

    def fit(self, features: pl.DataFrame, quality: Floats, cost: Floats, groups: Sequence[str]) -> Router:
        """Fit on logged outcomes.

        Args:
            features: what is known at the stage, n rows; at least one column.
            quality: shape (n, K).
            cost: shape (n, K); NaN rows teach nothing about cost.
            groups: the filing of each row, shape (n,).
        """
        # What is unknown in every row teaches nothing, and trees can't be grown on it.
        features = features.select(
            name for name in features.columns if features[name].null_count() < features.height
        )
        self._design = Design.of(features)
        matrix = self._design.matrix(features)
        if matrix.shape[1] == 0:
            raise ValueError("no feature is known at this stage: a router needs at least one")
        if self.kind == "ridge":
            self._quality = QuadraticRidge(self._seed).fit(matrix, quality, groups)
        else:
            self._quality = self._trees(features, matrix, quality)
        self._costs = [_cost_model(matrix, cost[:, arm]) for arm in range(cost.shape[1])]
        return self

    def _trees(self, features: pl.DataFrame, matrix: Floats, quality: Floats) -> list[Any]:
        columns = [quality[:, arm] for arm in range(quality.shape[1])]
        if self.kind == "boosting":
            return [_boosting(self._seed, matrix, column) for column in columns]
        targets = [columns[0], *(column - columns[0] for column in columns[1:])]
        return [_benefit(self._seed, features, target) for target in targets]

    def predict(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Quality in [0, 1] and cost, both of shape (n, K)."""
        if self._design is None:
            raise ValueError("a router predicts only after fit")
        matrix = self._design.matrix(features)
        if self.kind == "ridge":
            quality = self._quality.predict(matrix)
        elif self.kind == "boosting":
            quality = np.column_stack([_told(model, matrix) for model in self._quality])
        else:
            first, *gains = [_told(model, features) for model in self._quality]
            quality = np.column_stack([first, *(first + gain for gain in gains)])
        cost = np.column_stack([_told(model, matrix) for model in self._costs])
        return np.clip(quality, 0.0, 1.0), np.maximum(cost, 0.0)


def _boosting(seed: int, matrix: Floats, target: Floats) -> Any:
    from sklearn.ensemble import HistGradientBoostingRegressor

    if np.ptp(target) == 0:
        return float(target[0])
    return HistGradientBoostingRegressor(
        learning_rate=0.05, max_iter=150, max_leaf_nodes=7, l2_regularization=1.0, random_state=seed
    ).fit(matrix, target)


def _benefit(seed: int, features: pl.DataFrame, target: Floats) -> Any:
    return float(target[0]) if np.ptp(target) == 0 else GainModel(seed, signals=True).fit(features, target)


def _cost_model(matrix: Floats, cost: Floats) -> Any:
    known = ~np.isnan(cost)
    if not known.any():
        return 0.0
    if np.ptp(cost[known]) == 0:
        return float(cost[known][0])
    return standardised_ridge(RIDGE_ALPHA).fit(matrix[known], cost[known])


def _told(model: Any, rows: Any) -> Floats:
    """A constant stands for a model of a target that never varied."""
    if isinstance(model, float):
        return np.full(len(rows), model)
    return np.asarray(model.predict(rows), dtype=np.float64)


def few_threads(rows: int) -> AbstractContextManager[Any]:
    """One thread for a small log: trees are grown, and read, several times faster than by threads that wait."""
    import sklearn.ensemble  # noqa: F401 - a limit reaches only what is loaded

    return one_thread(None, when=rows < THREADS_FROM)


def held_out(arms: Arms, features: pl.DataFrame, kind: str, seeds: Sequence[int] = SEEDS) -> Predicted:
    """Predictions by models that saw nothing of the question's filing.

    Args:
        arms: the log.
        features: ``question_id`` and what is known at the stage; a row a question of the log.
        kind: of router.
        seeds: each shuffles the folds of filings anew.

    Raises:
        ValueError: a question has no features. TooFewFilings: there is a single filing.
    """
    frame = aligned(arms, features)
    shape = (len(seeds), *arms.quality.shape)
    quality, cost = np.empty(shape), np.empty(shape)
    with few_threads(len(arms)):
        for place, seed in enumerate(seeds):
            folds = grouped_folds(arms.groups, seed)
            for fold in range(int(folds.max()) + 1):
                out = folds == fold
                router = fit_rows(arms, frame, kind, seed, ~out)
                quality[place, out], cost[place, out] = router.predict(frame.filter(pl.Series(out)))
    return Predicted(quality, cost)


def in_sample(arms: Arms, features: pl.DataFrame, kind: str, seeds: Sequence[int] = SEEDS) -> Predicted:
    """Predictions on the rows that the models were fitted on; only ever shown beside the held-out ones."""
    frame = aligned(arms, features)
    everything = np.ones(len(arms), dtype=np.bool_)
    # Trees are grown on all rows the same way whatever the seed; only the ridge's inner folds differ.
    with few_threads(len(arms)):
        told = [
            fit_rows(arms, frame, kind, seed, everything).predict(frame)
            for seed in seeds[: None if kind == "ridge" else 1]
        ]
    told *= len(seeds) // len(told)
    return Predicted(np.stack([quality for quality, _ in told]), np.stack([cost for _, cost in told]))


def fit_rows(arms: Arms, frame: pl.DataFrame, kind: str, seed: int, rows: Flags) -> Router:
    """A router fitted on some rows of the log, its features in the log's order."""
    groups = [group for group, used in zip(arms.groups, rows.tolist(), strict=True) if used]
    return Router(kind, seed).fit(frame.filter(pl.Series(rows)), arms.quality[rows], arms.cost[rows], groups)


def aligned(arms: Arms, features: pl.DataFrame) -> pl.DataFrame:
    """The features in the order of the log.

    Raises:
        ValueError: a question has no features or several rows of them.
    """
    if features["question_id"].n_unique() < features.height:
        raise ValueError("a question has several rows of features: give one a question")
    keys = pl.DataFrame({"question_id": list(arms.keys)}, schema={"question_id": pl.String})
    frame = keys.join(features, on="question_id", how="left", maintain_order="left")
    lacking = keys.join(features, on="question_id", how="anti")
    if lacking.height:
        raise ValueError(
            f"question {lacking['question_id'][0]!r} has no features ({lacking.height} such questions)"
        )
    return frame


def calibration_error(predicted: Floats, actual: Floats, bins: int = BINS) -> float:
    """Expected calibration error of qualities in [0, 1], both of shape (n,).

    Bins of equal width; the mean over questions of |mean predicted − mean actual| in the question's bin.
    """
    place = np.clip((predicted * bins).astype(np.int64), 0, bins - 1)
    apart = np.bincount(place, weights=predicted - actual, minlength=bins)
    return float(np.abs(apart).sum() / max(len(actual), 1))


def arm_calibration(predicted: Predicted, quality: Floats) -> Floats:
    """Expected calibration error of each arm, averaged over the seeds, shape (K,)."""
    errors = [
        [calibration_error(told[:, arm], quality[:, arm]) for arm in range(quality.shape[1])]
        for told in predicted.quality
    ]
    return np.asarray(np.mean(errors, axis=0), dtype=np.float64)


def excess_loss(estimated: Floats, conditional: Floats, cost: Floats, price: float) -> tuple[Floats, Floats]:
    """What each question forgoes by estimates, and its bound: the arms' summed absolute errors (proposition 5).

    Args:
        estimated: Q̂_a(φ), shape (n, K).
        conditional: E[Q_a | φ], shape (n, K).
        cost: known to both, shape (n, K).
        price: λ.

    Returns:
        The loss against the rule that knows E[Q_a | φ], and the bound, both of shape (n,).
    """
    chosen = choose(estimated, cost, price)
    utility = utilities(conditional, cost, price)
    loss = utility.max(axis=1) - utility[np.arange(len(chosen)), chosen]
    return loss, np.abs(estimated - conditional).sum(axis=1)

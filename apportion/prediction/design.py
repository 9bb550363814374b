"""From a frame of features to the matrix that the predictors are fitted on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.features.signals import SIGNALS

Floats = npt.NDArray[np.float64]

PROMPT_PARTS = ("letters", "digits", "signs", "words")
"""What a prompt is made of; the exact cost model alone reads these."""

TEXTS = ("question_text", "answer_text")
"""Texts that a benefit model may read; never features by themselves."""

VECTORS = ("question_vector", "answer_vector")
"""An encoder's vectors of these texts, where one is used."""

NEVER = frozenset(
    {*TEXTS, *VECTORS, "outcome_set", "cheap_route", "deep_route", "question_id"}
    | {f"{side}_prompt_{part}" for side in ("cheap", "deep") for part in PROMPT_PARTS}
)
NOT_FEATURES = NEVER | frozenset(SIGNALS)


def every_signal(features: pl.DataFrame) -> list[str]:
    """Names of the paper's features and the benefit model's signals, of those that are there."""
    return [name for name in features.columns if name not in NEVER]


@dataclass(frozen=True)
class Design:
    """The columns of the matrix, fixed when a model is fitted and used again when it predicts.

    Text columns become one column a level, in alphabetical order; a level not seen before is all zeros. Truth
    values become 0 and 1. Unknown stays NaN: each predictor has its own way with it.
    """

    numeric: tuple[str, ...]
    levels: tuple[tuple[str, tuple[str, ...]], ...]

    @classmethod
    def of(cls, features: pl.DataFrame, columns: Sequence[str] | None = None) -> Design:
        """The design of a frame of features: those named, else all of the paper's; signals are read by name only."""
        barred = NOT_FEATURES if columns is None else frozenset()
        names = [
            name
            for name in (features.columns if columns is None else columns)
            # A column that is never known teaches nothing, and boosting cannot bin it.
            if name not in barred and features[name].null_count() < features.height
        ]
        text = [name for name in names if features.schema[name] == pl.String]
        levels = tuple((name, tuple(features[name].drop_nulls().unique().sort())) for name in text)
        return cls(tuple(name for name in names if name not in text), levels)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the matrix's columns."""
        return (*self.numeric, *(f"{name}={level}" for name, known in self.levels for level in known))

    def matrix(self, features: pl.DataFrame) -> Floats:
        """The matrix, shape (questions, columns).

        Raises:
            ValueError: a feature is missing.
        """
        missing = [n for n in (*self.numeric, *(n for n, _ in self.levels)) if n not in features.columns]
        if missing:
            raise ValueError(f"the features lack {', '.join(missing)}, which the model was fitted on")
        columns = [pl.col(name).cast(pl.Float64).fill_null(np.nan) for name in self.numeric]
        columns += [
            (pl.col(name) == level).fill_null(value=False).cast(pl.Float64).alias(f"{name}={level}")
            for name, known in self.levels
            for level in known
        ]
        if not columns:
            return np.zeros((features.height, 0))
        # One selection for all columns: a call for each costs more than the work in it.
        return np.ascontiguousarray(features.select(columns).to_numpy(), dtype=np.float64)


def standardised_ridge(alpha: float) -> Any:
    """Ridge regression on standardised columns; an unknown value is the column's mean, and flagged."""
    from sklearn.impute import SimpleImputer
    from sklearn.linear_model import Ridge
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(
        SimpleImputer(strategy="mean", add_indicator=True, keep_empty_features=True),
        StandardScaler(),
        Ridge(alpha=alpha),
    )

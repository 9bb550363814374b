"""The escalation paper's ensemble: how much quality a deeper call adds, by a ridge and boosted trees.

Token-budgeted escalation, section II-B: the mean of a standardised ridge (α = 10) and a histogram gradient boosting
regressor (learning rate 0.05, 150 iterations, at most seven leaves, ℓ2 1.0).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from apportion.prediction.design import Design, Floats, every_signal, standardised_ridge

NAME = "ridge_boosting"
RIDGE_ALPHA = 10.0


class GainModel:
    """The paper's ensemble. ``fit`` and ``predict`` take frames of features."""

    name = NAME

    def __init__(self, seed: int, *, signals: bool = False) -> None:
        """Make one.

        Args:
            seed: of the trees.
            signals: whether to read the benefit model's signals beside the paper's features.
        """
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._ridge: Any = standardised_ridge(RIDGE_ALPHA)
        self._boosting: Any = HistGradientBoostingRegressor(
            learning_rate=0.05, max_iter=150, max_leaf_nodes=7, l2_regularization=1.0, random_state=seed
        )
        self._signals = signals
        self._design: Design | None = None
        self._known: Any = None

    def fit(self, features: pl.DataFrame, gain: Floats) -> GainModel:
        """Fit on features and gains, quality of the deep answer less that of the cheap one, shape (n,)."""
        self._design = Design.of(features, every_signal(features) if self._signals else None)
        matrix = self._design.matrix(features)
        self._ridge.fit(matrix, gain)
        # A column that is unknown in every training row can't be binned, and says nothing.
        self._known = np.isfinite(matrix).any(axis=0)
        self._boosting.fit(self._boosted(matrix), gain)
        return self

    def _boosted(self, matrix: Floats) -> Floats:
        return matrix[:, self._known] if self._known.any() else np.zeros((len(matrix), 1))

    def predict(self, features: pl.DataFrame) -> Floats:
        """Predicted gain, shape (n,)."""
        if self._design is None:
            raise ValueError("the gain model predicts only after fit")
        matrix = self._design.matrix(features)
        return np.asarray(
            0.5 * (self._ridge.predict(matrix) + self._boosting.predict(self._boosted(matrix))),
            dtype=np.float64,
        )

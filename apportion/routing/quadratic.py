"""Ridge regression on a quadratic design, its penalty chosen inside the rows it is fitted on.

Columns are standardised, joined by their squares and products, standardised again. The penalty of each arm is the one
with the least squared error under cross-validation grouped by filing, within the calibration rows alone: choosing it
on rows that are tested later would be optimism one level up (adaptive routing).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from apportion.prediction.training import TooFewFilings, grouped_folds
from apportion.routing.arms import Floats

PENALTIES = np.logspace(-1, 5, 13)
INNER_FOLDS = 5
MOST_COLUMNS = 40
"""Standardised columns up to which all products are taken; beyond, only the squares are added."""


class QuadraticRidge:
    """Qualities of K arms from features, one penalty an arm."""

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._fill = self._mean = self._scale = np.zeros(0)
        self._missing = np.zeros(0, dtype=np.int64)
        self._centre = self._spread = np.zeros(0)
        self._coefficients = np.zeros((0, 0))
        self._intercept = np.zeros(0)
        self.penalties = np.zeros(0)

    def fit(self, matrix: Floats, quality: Floats, groups: Sequence[str]) -> QuadraticRidge:
        """Fit.

        Args:
            matrix: features, shape (n, p); NaN is unknown, filled by the mean and flagged.
            quality: shape (n, K).
            groups: the filing of each row; with one filing the strongest penalty is taken.
        """
        known = ~np.isnan(matrix)
        counts = known.sum(axis=0)
        self._fill = np.where(known, matrix, 0.0).sum(axis=0) / np.maximum(counts, 1)
        self._missing = np.flatnonzero(~known.all(axis=0))
        filled = self._filled(matrix)
        self._mean, self._scale = filled.mean(axis=0), _positive(filled.std(axis=0))
        wide = self._products(filled)
        self._centre, self._spread = wide.mean(axis=0), _positive(wide.std(axis=0))
        design = (wide - self._centre) / self._spread
        rotation = None
        if design.shape[1] > design.shape[0]:
            # More columns than rows: ridge sees only the rows' own span.
            rotation = np.linalg.svd(design, full_matrices=False)[2].T
            design = design @ rotation
        self.penalties = self._choose(design, quality, groups)
        self._intercept = quality.mean(axis=0)
        gram, moments = design.T @ design, design.T @ (quality - self._intercept)
        found = _solve(gram, moments, self.penalties)
        self._coefficients = found if rotation is None else rotation @ found
        return self

    def predict(self, matrix: Floats) -> Floats:
        """Qualities within [0, 1], shape (n, K)."""
        design = (self._products(self._filled(matrix)) - self._centre) / self._spread
        return np.asarray(np.clip(self._intercept + design @ self._coefficients, 0.0, 1.0))

    def _filled(self, matrix: Floats) -> Floats:
        unknown = np.isnan(matrix)
        return np.column_stack([np.where(unknown, self._fill, matrix), unknown[:, self._missing]])

    def _products(self, filled: Floats) -> Floats:
        standard = (filled - self._mean) / self._scale
        if standard.shape[1] > MOST_COLUMNS:
            return np.column_stack([standard, standard**2])
        left, right = np.triu_indices(standard.shape[1])
        return np.column_stack([standard, standard[:, left] * standard[:, right]])

    def _choose(self, design: Floats, quality: Floats, groups: Sequence[str]) -> Floats:
        """The penalty of each arm, shape (K,)."""
        try:
            folds = grouped_folds(groups, self._seed, INNER_FOLDS)
        except TooFewFilings:
            return np.full(quality.shape[1], PENALTIES[-1])
        gram, moments = design.T @ design, design.T @ quality
        total, target, n = design.sum(axis=0), quality.sum(axis=0), len(folds)
        errors = np.zeros((len(PENALTIES), quality.shape[1]))
        for fold in range(int(folds.max()) + 1):
            out = folds == fold
            x, y = design[out], quality[out]
            left = n - len(x)
            mean_x, mean_y = (total - x.sum(axis=0)) / left, (target - y.sum(axis=0)) / left
            inner = gram - x.T @ x - left * np.outer(mean_x, mean_x)
            cross = moments - x.T @ y - left * np.outer(mean_x, mean_y)
            values, vectors = np.linalg.eigh(inner)
            turned, aside = vectors.T @ cross, (x - mean_x) @ vectors
            for place, penalty in enumerate(PENALTIES):
                fitted = mean_y + aside @ (turned / (np.maximum(values, 0.0) + penalty)[:, None])
                errors[place] += ((y - fitted) ** 2).sum(axis=0)
        # Of equals the stronger penalty.
        return np.asarray(PENALTIES[len(PENALTIES) - 1 - np.argmin(errors[::-1], axis=0)])


def _solve(gram: Floats, moments: Floats, penalties: Floats) -> Floats:
    values, vectors = np.linalg.eigh(gram)
    turned = vectors.T @ moments
    return np.asarray(vectors @ (turned / (np.maximum(values, 0.0)[:, None] + penalties[None])))


def _positive(spread: Floats) -> Floats:
    return np.where(spread > 1e-12, spread, 1.0)

"""What question and answer are about: vectors with a truncated SVD, and small trees that read it beside the signals.

The vectors are TF-IDF, or an encoder's where the rows have them; their parts are learnt from the training rows
alone. Where no text is known, they are zero and the trees read the signals only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.prediction.design import TEXTS, VECTORS, Design, Floats
from apportion.prediction.pool import AnswerPool

PARTS = 8
"""Parts of a text."""


class TextParts:
    """The truncated SVD of the TF-IDF vectors of a text."""

    def __init__(self, parts: int = PARTS) -> None:
        self._parts = parts
        self._vectors: Any = None
        self._svd: Any = None

    def fit(self, texts: Sequence[str]) -> TextParts:
        """Learn words and parts; texts without two words in common teach nothing."""
        from sklearn.decomposition import TruncatedSVD
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._svd = None
        vectors = TfidfVectorizer(sublinear_tf=True, min_df=2)
        try:
            matrix = vectors.fit_transform(texts)
        except ValueError:  # no word stands in two texts
            return self
        if min(matrix.shape) > 1:
            self._vectors = vectors
            self._svd = TruncatedSVD(min(self._parts, min(matrix.shape) - 1), random_state=0).fit(matrix)
        return self

    def transform(self, texts: Sequence[str]) -> Floats:
        """Parts of each text, shape (n, parts); zeros where nothing was learnt."""
        found = np.zeros((len(texts), self._parts))
        if self._svd is not None and len(texts):
            told = self._svd.transform(self._vectors.transform(texts))
            found[:, : told.shape[1]] = told
        return found


class VectorParts:
    """The truncated SVD of an encoder's vectors."""

    def __init__(self, parts: int = PARTS) -> None:
        self._parts = parts
        self._svd: Any = None

    def fit(self, vectors: Floats) -> VectorParts:
        """Learn parts of vectors, shape (n, size); fewer than two rows or places teach nothing."""
        from sklearn.decomposition import TruncatedSVD

        self._svd = None
        if min(vectors.shape) > 1 and vectors.any():
            self._svd = TruncatedSVD(min(self._parts, min(vectors.shape) - 1), random_state=0).fit(vectors)
        return self

    def transform(self, vectors: Floats) -> Floats:
        """Parts of each vector, shape (n, parts); zeros where nothing was learnt."""
        found = np.zeros((len(vectors), self._parts))
        if self._svd is not None and len(vectors):
            told = self._svd.transform(vectors)
            found[:, : told.shape[1]] = told
        return found


class TextBoosting:
    """Small boosted trees of help on the pair's own signals and the parts of question and answer.

    Calls that hurt are too few for trees: their chance is the base rate.
    """

    name = "text_boosting"

    def __init__(self, seed: int, columns: Sequence[str]) -> None:
        self._seed = seed
        self._columns = tuple(columns)
        self._design: Design | None = None
        self._texts: list[TextParts | VectorParts] = []
        self._model: Any = None
        self._rates = (0.5, 0.5)

    def fit(self, pool: AnswerPool) -> TextBoosting:
        """Fit on the pair's own rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        pairs = pool.pairs()
        own = pairs.filter(pool.is_own(pairs))
        self._design = Design.of(own, [name for name in self._columns if name in own.columns])
        self._texts = [
            VectorParts().fit(_vectors(own, vector))
            if vector in own.columns
            else TextParts().fit(_texts(own, name))
            for name, vector in zip(TEXTS, VECTORS, strict=True)
        ]
        matrix = self._matrix(own)
        cheap, deep = own["correct"].to_numpy(), own["deep_correct"].to_numpy()
        helped, hurt = ~cheap & deep, cheap & ~deep
        self._rates = (_rate(helped), _rate(hurt))
        self._model = None
        if helped.any() and not helped.all():
            self._model = HistGradientBoostingClassifier(
                learning_rate=0.05,
                max_iter=80,
                max_leaf_nodes=4,
                l2_regularization=5.0,
                min_samples_leaf=10,
                random_state=self._seed,
            ).fit(matrix, helped)
        return self

    def chances(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Chance to help, and that to hurt, which is its base rate."""
        matrix = self._matrix(features)
        helps, hurts = (np.full(features.height, rate) for rate in self._rates)
        if self._model is not None:
            helps = np.asarray(self._model.predict_proba(matrix)[:, 1], dtype=np.float64)
        return helps, hurts

    def _matrix(self, rows: pl.DataFrame) -> Floats:
        if self._design is None:
            raise ValueError("the benefit model predicts only after fit")
        parts = [
            told.transform(_vectors(rows, vector))
            if isinstance(told, VectorParts)
            else told.transform(_texts(rows, name))
            for told, name, vector in zip(self._texts, TEXTS, VECTORS, strict=True)
        ]
        return np.column_stack([self._design.matrix(rows), *parts])


def _rate(event: npt.NDArray[np.bool_]) -> float:
    return float((event.sum() + 0.5) / (len(event) + 1))


def _texts(rows: pl.DataFrame, name: str) -> list[str]:
    return rows[name].fill_null("").to_list() if name in rows.columns else [""] * rows.height


def _vectors(rows: pl.DataFrame, name: str) -> Floats:
    if name not in rows.columns:
        raise ValueError(
            f"the features lack {name}, which the model was fitted on; name the same --text-encoder"
        )
    return np.array(rows[name].to_list(), dtype=np.float64).reshape(rows.height, -1)

"""Benefit models beside the paper's: the gain as the chance that a deeper call helps, less that it hurts.

`TwoPart` asks whether the cheap answer is wrong, then whether the deep one would be right given that. `HelpHurt`
asks both questions at once. Each is a logistic regression on the signals, shrunk hard (C = 0.02) since there are
few filings, over a pool of graded answers (`apportion.prediction.pool`). `Blend` is the mean of their log-odds.
`MonotoneBoosting` learns from the pair alone, and may not predict less gain for more signs of refusal; so does
`TextBoosting` (`texts`), which also reads what question and answer are about. What is chosen or weighed among them
is in `selection`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.features.signals import SIGNALS
from apportion.prediction.design import Design, Floats
from apportion.prediction.pool import AnswerPool

STRENGTH = 0.02
"""Inverse strength of the ridge penalty of the logistic models; chosen on the development half."""

INPUTS = ("family", "question_tokens", "question_numbers", "question_years", *SIGNALS)
"""Columns that the benefit models read, of those that are there."""

RISING = ("refuses", "refusal_phrases", "refuses_at_end", "asks_for_more", "apologises")
"""Signals that more of can only mean more to gain."""


class BenefitModel(Protocol):
    """What the benefit models have in common."""

    name: str

    def fit(self, pool: AnswerPool) -> BenefitModel:
        """Fit on graded answers."""
        ...

    def chances(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Chance that the deep call helps, and that it hurts, shapes (n,)."""
        ...


class Chance:
    """A logistic regression of one event on standardised columns; the base rate where it never varies."""

    def __init__(self, columns: Sequence[str]) -> None:
        self._columns = tuple(columns)
        self._design: Design | None = None
        self._model: Any = None
        self._rate = 0.5

    def fit(self, rows: pl.DataFrame, event: npt.NDArray[np.bool_]) -> Chance:
        """Fit on rows and whether the event happened."""
        from sklearn.impute import SimpleImputer
        from sklearn.linear_model import LogisticRegression
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        self._rate = float((event.sum() + 0.5) / (len(event) + 1))
        self._model = None
        self._design = Design.of(rows, [name for name in self._columns if name in rows.columns])
        if event.any() and not event.all():
            self._model = make_pipeline(
                SimpleImputer(strategy="mean", keep_empty_features=True),
                StandardScaler(),
                LogisticRegression(C=STRENGTH, max_iter=500),
            ).fit(self._matrix(rows), event)
        return self

    def predict(self, rows: pl.DataFrame) -> Floats:
        """The event's chance, shape (n,)."""
        if self._model is None:
            return np.full(rows.height, self._rate)
        return np.asarray(self._model.predict_proba(self._matrix(rows))[:, 1], dtype=np.float64)

    def _matrix(self, rows: pl.DataFrame) -> Floats:
        if self._design is None:
            raise ValueError("a chance is predicted only after fit")
        matrix = self._design.matrix(rows)
        words = rows["answer_words"].cast(pl.Float64).to_numpy() if "answer_words" in rows.columns else None
        return matrix if words is None else np.column_stack([matrix, np.log1p(words)])


class TwoPart:
    """Is the cheap answer wrong? Would the deep one be right?"""

    name = "two_part"

    def __init__(self, seed: int) -> None:
        self._wrong = Chance((*INPUTS, "route", "outcome_set"))
        self._mends = Chance((*INPUTS, "route", "outcome_set"))
        self._spoils = Chance((*INPUTS, "route", "outcome_set"))
        self._pool: dict[str, str] = {}

    def fit(self, pool: AnswerPool) -> TwoPart:
        """Fit wrongness on every answer, and the deep route's part on the pairs that end in it."""
        self._pool = _own_columns(pool)
        self._wrong.fit(pool.answers, ~pool.answers["correct"].to_numpy())
        pairs = pool.pairs().filter(pl.col("deep_route") == pool.key.deep)
        wrong = pairs.filter(~pl.col("correct"))
        right = pairs.filter(pl.col("correct"))
        self._mends.fit(wrong, wrong["deep_correct"].to_numpy())
        self._spoils.fit(right, ~right["deep_correct"].to_numpy())
        return self

    def chances(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Chance to help and to hurt."""
        rows = _with(features, self._pool)
        wrong = self._wrong.predict(rows)
        return wrong * self._mends.predict(rows), (1 - wrong) * self._spoils.predict(rows)


class HelpHurt:
    """One classifier of help and one of hurt, over every pair of routes."""

    name = "help_hurt"

    def __init__(self, seed: int) -> None:
        self._help = Chance((*INPUTS, "route", "deep_route", "outcome_set"))
        self._hurt = Chance((*INPUTS, "route", "deep_route", "outcome_set"))
        self._pool: dict[str, str] = {}

    def fit(self, pool: AnswerPool) -> HelpHurt:
        """Fit on every pair of routes."""
        self._pool = _own_columns(pool)
        pairs = pool.pairs()
        cheap, deep = pairs["correct"].to_numpy(), pairs["deep_correct"].to_numpy()
        self._help.fit(pairs, ~cheap & deep)
        self._hurt.fit(pairs, cheap & ~deep)
        return self

    def chances(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Chance to help and to hurt."""
        rows = _with(features, self._pool)
        return self._help.predict(rows), self._hurt.predict(rows)


class Blend:
    """The mean of the log-odds of `TwoPart` and `HelpHurt`."""

    name = "blend"

    def __init__(self, seed: int) -> None:
        self._parts: tuple[TwoPart, HelpHurt] = (TwoPart(seed), HelpHurt(seed))

    @classmethod
    def of(cls, two_part: TwoPart, help_hurt: HelpHurt) -> Blend:
        """The blend of two fitted models."""
        made = cls(0)
        made._parts = (two_part, help_hurt)
        return made

    def fit(self, pool: AnswerPool) -> Blend:
        """Fit both parts."""
        for part in self._parts:
            part.fit(pool)
        return self

    def chances(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Chance to help and to hurt."""
        both = [part.chances(features) for part in self._parts]
        return _mean_odds([helps for helps, _ in both]), _mean_odds([hurts for _, hurts in both])


class MonotoneBoosting:
    """Boosted trees of help and hurt on the pair's own questions, monotone in the signs of refusal."""

    name = "monotone_boosting"

    def __init__(self, seed: int) -> None:
        self._seed = seed
        self._design: Design | None = None
        self._models: list[Any] = []
        self._rates: list[float] = []

    def fit(self, pool: AnswerPool) -> MonotoneBoosting:
        """Fit on the pair's own rows."""
        from sklearn.ensemble import HistGradientBoostingClassifier

        pairs = pool.pairs()
        own = pairs.filter(pool.is_own(pairs))
        self._design = Design.of(own, [name for name in INPUTS if name in own.columns])
        matrix = self._design.matrix(own)
        rising = np.array([name in RISING for name in self._design.names], dtype=np.int64)
        cheap, deep = own["correct"].to_numpy(), own["deep_correct"].to_numpy()
        self._models, self._rates = [], []
        for event, direction in ((~cheap & deep, 1), (cheap & ~deep, -1)):
            self._rates.append(float((event.sum() + 0.5) / (len(event) + 1)))
            model = HistGradientBoostingClassifier(
                learning_rate=0.05,
                max_iter=80,
                max_leaf_nodes=4,
                l2_regularization=5.0,
                min_samples_leaf=10,
                monotonic_cst=direction * rising,
                random_state=self._seed,
            )
            self._models.append(model.fit(matrix, event) if event.any() and not event.all() else None)
        return self

    def chances(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Chance to help and to hurt."""
        if self._design is None:
            raise ValueError("the benefit model predicts only after fit")
        matrix = self._design.matrix(features)
        helps, hurts = (
            np.full(features.height, rate) if model is None else model.predict_proba(matrix)[:, 1]
            for model, rate in zip(self._models, self._rates, strict=True)
        )
        return np.asarray(helps, dtype=np.float64), np.asarray(hurts, dtype=np.float64)


def _own_columns(pool: AnswerPool) -> dict[str, str]:
    return {"outcome_set": pool.key.outcome_set, "route": pool.key.cheap, "deep_route": pool.key.deep}


def _with(features: pl.DataFrame, columns: dict[str, str]) -> pl.DataFrame:
    return features.with_columns(pl.lit(value).alias(name) for name, value in columns.items())


def _mean_odds(chances: Sequence[Floats]) -> Floats:
    bounded = [np.clip(chance, 1e-6, 1 - 1e-6) for chance in chances]
    odds = np.mean([np.log(chance / (1 - chance)) for chance in bounded], axis=0)
    return np.asarray(1 / (1 + np.exp(-odds)), dtype=np.float64)

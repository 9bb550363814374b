"""Choosing among benefit models, and weighing them, by how they do inside the training filings.

`selected` is the model that ranks helped questions best, held out by filing inside the training rows; the paper's
ensemble is one of those to choose from. A choice by so few questions is a coin's toss between models that are nearly
equal, so `weighted` doesn't choose: it takes the mean of the standardised scores of the blend and of the trees that
read texts, weighed by exp(AUROC / 0.04). Chances follow from such a score by a logistic regression on the same inner
held-out scores.

Gains follow from it at a level that the held-out fold can't tilt. A rate learnt from the other folds is low where the
held-out one is high, so predictions of several folds put side by side would lean against the truth. Over all ordered
pairs of routes help and hurt are equally frequent: half of how often two routes differ is a level that hardly depends
on which questions are held out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.prediction.benefit import INPUTS, BenefitModel, Blend, HelpHurt, MonotoneBoosting, TwoPart
from apportion.prediction.design import Floats
from apportion.prediction.ensemble import NAME as PAPER_MODEL
from apportion.prediction.ensemble import GainModel
from apportion.prediction.pool import AnswerPool
from apportion.prediction.quality import auroc
from apportion.prediction.texts import TextBoosting
from apportion.prediction.training import Training

SELECTED = "selected"
WEIGHTED = "weighted"
"""The benefit model that policies should use; chosen on the development half and frozen."""
WEIGHED = (Blend.name, TextBoosting.name)
TEMPERATURE = 0.04
"""AUROC by which a model must be better to weigh e times as much; chosen on the development half."""

BENEFIT_NAMES = (Blend.name, TwoPart.name, HelpHurt.name, MonotoneBoosting.name, TextBoosting.name)


def fitted_models(
    pool: AnswerPool, seed: int, names: Collection[str] = BENEFIT_NAMES
) -> dict[str, BenefitModel]:
    """Benefit models fitted on a pool, by name, in the order of `BENEFIT_NAMES`."""
    made: dict[str, BenefitModel] = {}
    two_part = TwoPart(seed).fit(pool) if {Blend.name, TwoPart.name} & set(names) else None
    help_hurt = HelpHurt(seed).fit(pool) if {Blend.name, HelpHurt.name} & set(names) else None
    if two_part is not None and help_hurt is not None:
        made[Blend.name] = Blend.of(two_part, help_hurt)
    if two_part is not None:
        made[TwoPart.name] = two_part
    if help_hurt is not None:
        made[HelpHurt.name] = help_hurt
    if MonotoneBoosting.name in names:
        made[MonotoneBoosting.name] = MonotoneBoosting(seed).fit(pool)
    if TextBoosting.name in names:
        made[TextBoosting.name] = TextBoosting(seed, INPUTS).fit(pool)
    return {name: model for name, model in made.items() if name in names}


@dataclass(frozen=True)
class Member:
    """A model in a mean of scores, its weight, and how its score is standardised."""

    name: str
    model: BenefitModel | GainModel
    weight: float
    mean: float
    spread: float


class Scored:
    """Chances from a weighed mean of standardised scores."""

    def __init__(self, name: str, members: Sequence[Member]) -> None:
        self.name = name
        self._members = tuple(members)
        self._chances: list[tuple[float, float]] = []
        self._level = 0.0

    @property
    def weights(self) -> dict[str, float]:
        """The weight of each member, by name."""
        return {member.name: member.weight for member in self._members}

    def fit(self, pool: AnswerPool) -> Scored:
        """Its members are fitted, and what their scores mean was learnt beside them: nothing is left to fit."""
        return self

    def learn(
        self, score: Floats, helped: npt.NDArray[np.bool_], hurt: npt.NDArray[np.bool_], level: float
    ) -> Scored:
        """Learn what scores mean.

        Args:
            score: held-out ones, shape (n,).
            helped, hurt: what happened, shape (n,).
            level: share of questions with a gain at the mean score, within (0, 1).
        """
        self._level = float(np.log(level / (1 - level)))
        self._chances = [_logistic(score, helped, 1), _logistic(score, hurt, -1)]
        return self

    def chances(self, features: pl.DataFrame) -> tuple[Floats, Floats]:
        """Chance to help and to hurt."""
        score = self._score(features)
        helps, hurts = (1 / (1 + np.exp(-(start + slope * score))) for start, slope in self._chances)
        return helps, hurts

    def gain(self, features: pl.DataFrame) -> Floats:
        """Expected gain in units of what a helpful call gains, shape (n,): it ranks as the score does."""
        return np.asarray(1 / (1 + np.exp(-(self._level + self._score(features)))), dtype=np.float64)

    def _score(self, features: pl.DataFrame) -> Floats:
        return _mean([_score(member.model, features) for member in self._members], self._members)


def choose_and_weigh(
    training: Training,
    pool: AnswerPool,
    seed: int,
    folds: npt.NDArray[np.int64] | None,
    wanted: str | None = None,
) -> dict[str, BenefitModel]:
    """Every benefit model fitted on the pool, `selected` and `weighted`; or the one wanted and what it is made of.

    Args:
        training: the rows, with helped and hurt.
        pool: what it may learn from.
        seed: of the models.
        folds: inner folds of the rows; None where there are too few filings or nothing to rank: then the first model
            stands for both.
        wanted: name of a model; without it all.
    """
    if wanted in BENEFIT_NAMES:
        return fitted_models(pool, seed, (wanted,))
    names = WEIGHED if wanted == WEIGHTED else (*BENEFIT_NAMES, PAPER_MODEL)
    made = fitted_models(pool, seed, names)
    helped, hurt = training.helped, training.hurt
    if folds is None or helped is None or hurt is None:
        return made | {SELECTED: made[BENEFIT_NAMES[0]], WEIGHTED: made[BENEFIT_NAMES[0]]}
    models: dict[str, BenefitModel | GainModel] = dict(made)
    if PAPER_MODEL in names:
        models[PAPER_MODEL] = GainModel(seed).fit(training.features, training.gain)
    differ = pool.pairs().select(pl.col("correct") != pl.col("deep_correct")).to_series().to_numpy()
    level = float((differ.sum() / 2 + 0.5) / (len(differ) + 1))
    inner = inner_scores(training, pool, seed, folds, names)
    truth = helped.astype(np.float64)
    figures = {name: auroc(truth, told) or 0.0 for name, told in inner.items()}

    def scored(label: str, names: Sequence[str]) -> Scored:
        top = max(figures[name] for name in names)
        raw = [float(np.exp((figures[name] - top) / TEMPERATURE)) for name in names]
        members = [
            Member(
                name,
                models[name],
                weight / sum(raw),
                float(inner[name].mean()),
                float(inner[name].std()) or 1.0,
            )
            for name, weight in zip(names, raw, strict=True)
        ]
        mean = _mean([inner[name] for name in names], members)
        return Scored(label, members).learn(mean, helped, hurt, level)

    made[WEIGHTED] = scored(WEIGHTED, WEIGHED)
    if wanted == WEIGHTED:
        return made
    # Of equals the first.
    best = max(names, key=lambda name: round(figures[name], 9))
    made[SELECTED] = scored(SELECTED, (PAPER_MODEL,)) if best == PAPER_MODEL else made[best]
    return made


def inner_scores(
    training: Training, pool: AnswerPool, seed: int, folds: npt.NDArray[np.int64], names: Collection[str]
) -> dict[str, Floats]:
    """Scores of the models named on rows held out by filing, shapes (n,)."""
    scores = {name: np.zeros(len(folds)) for name in names}
    for fold in range(int(folds.max()) + 1):
        out = folds == fold
        tested, seen = training.features.filter(pl.Series(out)), training.features.filter(pl.Series(~out))
        for name, model in fitted_models(pool.without(training.groups_at(out)), seed, names).items():
            scores[name][out] = _score(model, tested)
        if PAPER_MODEL in names:
            scores[PAPER_MODEL][out] = _score(GainModel(seed).fit(seen, training.gain[~out]), tested)
    return scores


def _score(model: BenefitModel | GainModel, features: pl.DataFrame) -> Floats:
    if isinstance(model, GainModel):
        return model.predict(features)
    helps, hurts = model.chances(features)
    return helps - hurts


def _mean(scores: Sequence[Floats], members: Sequence[Member]) -> Floats:
    parts = [m.weight * (score - m.mean) / m.spread for score, m in zip(scores, members, strict=True)]
    return np.asarray(np.sum(parts, axis=0), dtype=np.float64)


def _logistic(score: Floats, event: npt.NDArray[np.bool_], direction: int) -> tuple[float, float]:
    """Intercept and slope of the event's log-odds; the base rate where it never varies or goes the other way."""
    from sklearn.linear_model import LogisticRegression

    rate = float((event.sum() + 0.5) / (len(event) + 1))
    flat = (float(np.log(rate / (1 - rate))), 0.0)
    if not event.any() or event.all():
        return flat
    model: Any = LogisticRegression(C=1.0).fit(score[:, None], event)
    slope = float(model.coef_[0, 0])
    return (float(model.intercept_[0]), slope) if slope * direction > 0 else flat

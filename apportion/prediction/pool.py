"""What may be learnt from beside the pair itself: every graded answer of the set, and of its sister sets.

A set logs more than the two routes of a pair, and sister sets log other models on the same questions. Each graded
answer teaches when an answer is wrong, each pair of routes when a second one helps. The route and the set stay in
sight as indicators, shrunk like every other coefficient: partial pooling. Whatever is of a held-out filing is held
out with it, in every set.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import polars as pl

MOST_PAIRS = 12_000
"""Rows that the pairs of routes are thinned to, evenly, the pair's own kept whole."""


@dataclass(frozen=True)
class PairKey:
    """The pair of routes and the set that a model is for."""

    outcome_set: str
    cheap: str
    deep: str


@dataclass(frozen=True)
class AnswerPool:
    """Graded answers with what was known of each when it was given.

    Attributes:
        answers: outcome_set, question_id, route, group, correct, and a column a feature.
        key: what the model is for.
    """

    answers: pl.DataFrame
    key: PairKey

    def without(self, groups: Collection[str]) -> AnswerPool:
        """The pool without some filings."""
        return AnswerPool(self.answers.filter(~pl.col("group").is_in(list(groups))), self.key)

    def pairs(self) -> pl.DataFrame:
        """Every ordered pair of routes on every question: features of the first, name and grade of the second."""
        return self._pairs

    @cached_property
    def _pairs(self) -> pl.DataFrame:
        second = self.answers.select(
            "outcome_set",
            "question_id",
            pl.col("route").alias("deep_route"),
            pl.col("correct").alias("deep_correct"),
        )
        joined = (
            self.answers.join(second, on=["outcome_set", "question_id"])
            .filter(pl.col("route") != pl.col("deep_route"))
            .sort("outcome_set", "question_id", "route", "deep_route")
        )
        if joined.height <= MOST_PAIRS:
            return joined
        own = self.is_own(joined)
        others = joined.filter(~own)
        step = -(-others.height // max(MOST_PAIRS - int(own.sum()), 1))
        return pl.concat([joined.filter(own), others.gather_every(max(step, 1))])

    def is_own(self, pairs: pl.DataFrame) -> pl.Series:
        """Which rows of `pairs` are of the pair itself."""
        return pairs.select(
            (pl.col("outcome_set") == self.key.outcome_set)
            & (pl.col("route") == self.key.cheap)
            & (pl.col("deep_route") == self.key.deep)
        ).to_series()

    def fingerprint(self) -> str:
        """SHA-256 of the answers, for the card of a stored model."""
        return "sha256:" + hashlib.sha256(self.answers.write_json().encode()).hexdigest()

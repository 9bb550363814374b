"""Reciprocal rank fusion: Cormack, Clarke and Büttcher 2009, score Σ 1 / (60 + rank)."""

from __future__ import annotations

from collections.abc import Sequence

from apportion.retrieval.fulltext import FullText
from apportion.retrieval.ranking import Ranked, Ranker, Scope, best
from apportion.retrieval.sharded import ShardedTfidf
from apportion.retrieval.shards import IndexFolder

CONSTANT = 60
DEPTH = 200
"""Ranks of each list that count; the rest adds less than 1 / 260."""


class Fusion:
    """Ranks by the ranks that TF-IDF and full text give."""

    name = "fusion"

    def __init__(self, index: IndexFolder, scope: Scope) -> None:
        self._rankers: tuple[Ranker, ...] = (ShardedTfidf(index, scope), FullText(index, scope))

    def rank(self, questions: Sequence[str], filings: Sequence[str | None], k: int) -> list[list[Ranked]]:
        """As `Ranker.rank`; a page that is in both lists stands once."""
        lists = [ranker.rank(questions, filings, max(k, DEPTH)) for ranker in self._rankers]
        return [best(fuse(rankings), k) for rankings in zip(*lists, strict=True)]


def fuse(rankings: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """The pages of several rankings, each once, with the sum of their reciprocal ranks."""
    scores: dict[tuple[str, int], float] = {}
    for ranking in rankings:
        for rank, page in enumerate(ranking, start=1):
            key = (page.filing_id, page.number)
            scores[key] = scores.get(key, 0.0) + 1.0 / (CONSTANT + rank)
    return [Ranked(filing, page, score) for (filing, page), score in scores.items()]

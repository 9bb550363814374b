"""BM25 over full-text shards, with the statistics of the whole scope.

Robertson and Zaragoza 2009, "The Probabilistic Relevance Framework: BM25 and Beyond", with SQLite's constants and the
inverse document frequency that never falls below zero, ln(1 + (N - n + 0.5) / (n + 0.5)). Larger is better.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

from apportion.retrieval.fulltext_shard import FullTextShard, words_of
from apportion.retrieval.ranking import Ranked, Scope, best, by_filing

K1, B = 1.2, 0.75


class Shards(Protocol):
    """Full-text shards by filing, of pages or of chunks."""

    def fulltext(self, filing: str) -> FullTextShard:
        """A filing's full text."""
        ...


class FullText:
    """Ranks the pages of a scope by BM25."""

    name = "fulltext"

    def __init__(self, index: Shards, scope: Scope) -> None:
        self._index = index
        self._scope = scope

    def rank(self, questions: Sequence[str], filings: Sequence[str | None], k: int) -> list[list[Ranked]]:
        """As `Ranker.rank`; pages with none of a question's words stand last, with a score of 0."""
        asked = [words_of(question) for question in questions]
        vocabulary = sorted({word for words in asked for word in words})
        wanted = {filing for filing in filings if filing is not None}
        everywhere = any(filing is None for filing in filings)
        frequencies = dict.fromkeys(vocabulary, 0)
        lengths: dict[str, dict[int, int]] = {}
        counts: dict[str, dict[str, dict[int, int]]] = {}
        for filing, chosen in sorted(self._scope.items()):
            shard = self._index.fulltext(filing)
            try:
                of_pages, found = shard.lengths(), shard.counts(vocabulary)
            finally:
                shard.close()
            if chosen is not None:
                kept = set(chosen)
                of_pages = {page: length for page, length in of_pages.items() if page in kept}
                found = {
                    word: {page: n for page, n in pages.items() if page in kept}
                    for word, pages in found.items()
                }
            lengths[filing] = of_pages
            for word, pages in found.items():
                frequencies[word] += len(pages)
            if everywhere or filing in wanted:
                counts[filing] = found
        pages_in_all = sum(len(of_pages) for of_pages in lengths.values())
        words_in_all = sum(length for of_pages in lengths.values() for length in of_pages.values())
        mean_length = words_in_all / pages_in_all if words_in_all else 1.0
        weights = {
            word: math.log1p((pages_in_all - n + 0.5) / (n + 0.5)) for word, n in frequencies.items() if n
        }
        rankings: list[list[Ranked]] = [[] for _ in questions]
        for asked_about, places in by_filing(filings).items():
            inside = (
                sorted(counts) if asked_about is None else [name for name in counts if name == asked_about]
            )
            for place in places:
                rankings[place] = best(
                    (
                        page
                        for name in inside
                        for page in _scored(
                            name, asked[place], weights, lengths[name], counts[name], mean_length
                        )
                    ),
                    k,
                )
        return rankings


def _scored(
    filing: str,
    words: Sequence[str],
    weights: dict[str, float],
    lengths: dict[int, int],
    counts: dict[str, dict[int, int]],
    mean_length: float,
) -> list[Ranked]:
    scores = dict.fromkeys(lengths, 0.0)
    for word in words:
        for page, count in counts[word].items():
            damped = count + K1 * (1 - B + B * lengths[page] / mean_length)
            scores[page] += weights[word] * count * (K1 + 1) / damped
    return [Ranked(filing, page, score) for page, score in scores.items()]

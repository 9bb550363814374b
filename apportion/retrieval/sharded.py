"""Hybrid TF-IDF over shards: the scores of :class:`apportion.retrieval.tfidf.HybridTfidf`, with no rebuild.

Document frequencies of the filings in scope are summed, which is exact; only the shards of filings that are asked about
are weighted and scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apportion.retrieval.ranking import Ranked, Scope, best, by_filing
from apportion.retrieval.shards import FAMILIES, IndexFolder, TermShard
from apportion.retrieval.terms import Hashes, TermCounts, character_counts, word_counts
from apportion.retrieval.tfidf import CHARACTER_WEIGHT, WORD_WEIGHT

WEIGHTS = {"words": WORD_WEIGHT, "characters": CHARACTER_WEIGHT}
COUNT = {"words": word_counts, "characters": character_counts}


@dataclass(frozen=True)
class Frequencies:
    """On how many of some pages each term stands; terms ascending."""

    terms: Hashes
    pages: npt.NDArray[np.int64]

    @classmethod
    def of(cls, counts: TermCounts) -> Frequencies:
        """Of one shard."""
        found = counts.document_frequencies()
        there = found > 0
        return cls(counts.terms[there], found[there])

    def look_up(self, terms: Hashes) -> npt.NDArray[np.int64]:
        """The frequencies of some terms, 0 for the unknown."""
        if not len(self.terms):
            return np.zeros(len(terms), np.int64)
        places = np.minimum(np.searchsorted(self.terms, terms), len(self.terms) - 1)
        return np.where(self.terms[places] == terms, self.pages[places], 0)


def merge(parts: Sequence[Frequencies]) -> Frequencies:
    """The sum of the frequencies of disjoint pages."""
    if not parts:
        return Frequencies(np.empty(0, np.uint64), np.empty(0, np.int64))
    if len(parts) == 1:
        return parts[0]
    terms = np.concatenate([part.terms for part in parts])
    order = np.argsort(terms, kind="stable")
    terms = terms[order]
    pages = np.concatenate([part.pages for part in parts])[order]
    starts = (
        np.flatnonzero(np.concatenate([[True], terms[1:] != terms[:-1]])) if len(terms) else np.empty(0, int)
    )
    return Frequencies(terms[starts], np.add.reduceat(pages, starts) if len(terms) else pages)


def _pile_up(piles: list[Frequencies], part: Frequencies) -> None:
    """Add a part to piles that at least halve in size: merging all costs n log n, memory twice the result."""
    piles.append(part)
    while len(piles) > 1 and len(piles[-1].terms) * 2 > len(piles[-2].terms):
        last = piles.pop()
        piles[-1] = merge([piles[-1], last])


class ShardedTfidf:
    """Ranks the pages of a scope by hybrid TF-IDF."""

    name = "tfidf"

    def __init__(self, index: IndexFolder, scope: Scope) -> None:
        self._index = index
        self._scope = scope
        self._frequencies: dict[str, Frequencies] | None = None
        self._pages = 0

    def rank(self, questions: Sequence[str], filings: Sequence[str | None], k: int) -> list[list[Ranked]]:
        """As `Ranker.rank`; scores lie in [0, 1]."""
        frequencies = self._statistics()
        queries = {
            name: _weighted(COUNT[name](list(questions)), frequencies[name], self._pages) for name in FAMILIES
        }
        rankings: list[list[Ranked]] = [[] for _ in questions]
        places = by_filing(filings)
        everywhere = places.pop(None, [])
        inside = [name for name in sorted(self._scope) if everywhere or name in places]
        for filing in inside:
            asked = [*places.get(filing, []), *everywhere]
            shard = self._index.terms(filing).select(self._scope[filing])
            scores = self._scores(shard, queries, frequencies, asked)
            for column, place in enumerate(asked):
                pages = [
                    Ranked(filing, int(page), float(score))
                    for page, score in zip(shard.page_numbers, scores[:, column], strict=True)
                ]
                rankings[place] = best([*rankings[place], *pages], k)
        return rankings

    def _statistics(self) -> dict[str, Frequencies]:
        if self._frequencies is None:
            parts: dict[str, list[Frequencies]] = {name: [] for name in FAMILIES}
            for filing, chosen in self._scope.items():
                shard = self._index.terms(filing).select(chosen)
                self._pages += len(shard.page_numbers)
                for name in FAMILIES:
                    _pile_up(parts[name], Frequencies.of(shard.families[name]))
            self._frequencies = {name: merge(pile) for name, pile in parts.items()}
        return self._frequencies

    def _scores(
        self,
        shard: TermShard,
        queries: dict[str, TermCounts],
        frequencies: dict[str, Frequencies],
        asked: Sequence[int],
    ) -> npt.NDArray[np.float64]:
        """(pages of the shard, questions asked)."""
        from scipy.sparse import csr_matrix

        scores = np.zeros((len(shard.page_numbers), len(asked)))
        for name in FAMILIES:
            pages = _weighted(shard.families[name], frequencies[name], self._pages)
            query = queries[name]
            chosen = query.counts[list(asked)].tocoo()
            terms = query.terms[chosen.col]
            if not len(pages.terms) or not len(terms):
                continue
            columns = np.minimum(np.searchsorted(pages.terms, terms), len(pages.terms) - 1)
            there = pages.terms[columns] == terms
            vectors = csr_matrix(
                (chosen.data[there], (columns[there], chosen.row[there])),
                shape=(len(pages.terms), len(asked)),
            )
            scores += WEIGHTS[name] * (pages.counts @ vectors).toarray()
        return scores


def _weighted(counts: TermCounts, frequencies: Frequencies, pages: int) -> TermCounts:
    """Rows of sublinear TF-IDF weights of unit length, over the terms that the scope has.

    As scikit-learn: (1 + ln tf) · (1 + ln((1 + n) / (1 + df))).
    """
    found = frequencies.look_up(counts.terms)
    known = found > 0
    weights = np.where(known, np.log((1 + pages) / (1 + found)) + 1.0, 0.0)
    matrix = counts.counts.astype(np.float64)
    matrix.data = (1.0 + np.log(matrix.data)) * weights[matrix.indices]
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    squares = np.bincount(rows, weights=matrix.data**2, minlength=matrix.shape[0])
    lengths = np.sqrt(squares)
    matrix.data /= np.where(lengths > 0, lengths, 1.0)[rows]
    return TermCounts(counts.terms, matrix)

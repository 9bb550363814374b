"""Dense ranking of pages: cosine of latent semantic vectors (Deerwester et al. 1990), fitted on the scope's own pages.

No model is needed. Vectors by an embedding model search chunks (:mod:`apportion.retrieval.chunk_search`).
"""

from __future__ import annotations

from collections.abc import Sequence

from apportion.retrieval.latent import LatentBasis, fit_counts, sampled
from apportion.retrieval.ranking import Ranked, Scope, best, by_filing
from apportion.retrieval.shards import IndexFolder, TermShard
from apportion.retrieval.terms import TermCounts, word_counts


class Dense:
    """Ranks the pages of a scope by the cosine of their vectors with the question's."""

    name = "dense"

    def __init__(self, index: IndexFolder, scope: Scope) -> None:
        self._index = index
        self._scope = scope
        self._basis: LatentBasis | None = None

    def rank(self, questions: Sequence[str], filings: Sequence[str | None], k: int) -> list[list[Ranked]]:
        """As `Ranker.rank`; scores lie in [-1, 1]."""
        basis = self._fitted()
        queries = basis.project(word_counts(list(questions)))
        rankings: list[list[Ranked]] = [[] for _ in questions]
        places = by_filing(filings)
        everywhere = places.pop(None, [])
        for filing in sorted(self._scope):
            asked = [*places.get(filing, []), *everywhere]
            if not asked:
                continue
            shard = self._shard(filing)
            scores = basis.project(shard.families["words"]) @ queries[asked].T
            for column, place in enumerate(asked):
                pages = [
                    Ranked(filing, int(page), float(score))
                    for page, score in zip(shard.page_numbers, scores[:, column], strict=True)
                ]
                rankings[place] = best([*rankings[place], *pages], k)
        return rankings

    def _fitted(self) -> LatentBasis:
        if self._basis is None:
            # Shards are read twice so that a large scope is never in memory at once.
            rows = sampled({filing: len(self._shard(filing).page_numbers) for filing in sorted(self._scope)})
            parts = []
            for filing, chosen in rows.items():
                words = self._shard(filing).families["words"]
                parts.append(TermCounts(words.terms, words.counts[chosen]))
            self._basis = fit_counts(parts)
        return self._basis

    def _shard(self, filing: str) -> TermShard:
        return self._index.terms(filing).select(self._scope[filing])

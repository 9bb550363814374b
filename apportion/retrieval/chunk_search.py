"""Hybrid search over chunks: full text and vectors, fused, reranked, within a scope (document-routed retrieval, 4.1.2).

The scope is applied before each list is cut: what lies outside it can push nothing out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.fulltext import FullText
from apportion.retrieval.fusion import fuse
from apportion.retrieval.nearest import MAX_DISTANCE, ChunkVectors, NearestChunks
from apportion.retrieval.queries import SearchQuery
from apportion.retrieval.ranking import Ranked, best

FULLTEXT_DEPTH = 20
VECTOR_DEPTH = 30


class Reranker(Protocol):
    """Scores candidates of one query again."""

    name: str

    def rerank(self, query: str, candidates: Sequence[Ranked]) -> list[Ranked]:
        """The candidates with new scores, best first; ties by filing and chunk."""
        ...


class FusedScore:
    """Keeps the fused order: what there is without a reranking model."""

    name = "fused"

    def rerank(self, query: str, candidates: Sequence[Ranked]) -> list[Ranked]:
        """As `Reranker.rerank`."""
        return best(candidates, len(candidates))


@dataclass(frozen=True)
class Search:
    """One question's search: its query and the filings to stay within.

    With ``apart`` each filing is searched and reranked by itself and none falls off.
    """

    query: SearchQuery
    filings: tuple[str, ...]
    apart: bool = False


class ChunkSearch:
    """Searches one index.

    Args:
        index: the shards.
        vectors: those of its chunks and of queries.
        reranker: what orders the candidates anew.
        fulltext_depth: chunks taken from full text.
        vector_depth: chunks taken by vector.
        max_distance: squared distance up to which a chunk is a candidate by vector.
    """

    def __init__(
        self,
        index: ChunkIndex,
        vectors: ChunkVectors,
        reranker: Reranker | None = None,
        *,
        fulltext_depth: int = FULLTEXT_DEPTH,
        vector_depth: int = VECTOR_DEPTH,
        max_distance: float = MAX_DISTANCE,
    ) -> None:
        self._index = index
        self._vectors = vectors
        self._reranker = reranker or FusedScore()
        self._depths = (fulltext_depth, vector_depth)
        self._max_distance = max_distance

    @property
    def filings(self) -> list[str]:
        """Every filing of the index, in order."""
        return self._index.filings

    def find(self, searches: Sequence[Search]) -> list[list[Ranked]]:
        """The candidates of each search, best first.

        Searched apart, scores are those of the filing's own list by its first, so that each filing's best has 1.
        """
        parts = [
            (place, scope)
            for place, search in enumerate(searches)
            for scope in ([(filing,) for filing in search.filings] if search.apart else [search.filings])
        ]
        found = self._candidates([(searches[place].query, scope) for place, scope in parts])
        lists: list[list[list[Ranked]]] = [[] for _ in searches]
        for (place, _), candidates in zip(parts, found, strict=True):
            lists[place].append(self._reranker.rerank(searches[place].query.text, candidates))
        return [
            _together(ranked) if search.apart else (ranked[0] if ranked else [])
            for search, ranked in zip(searches, lists, strict=True)
        ]

    def _candidates(self, wanted: Sequence[tuple[SearchQuery, tuple[str, ...]]]) -> list[list[Ranked]]:
        """The fused lists of queries, those of one scope searched together."""
        by_scope: dict[tuple[str, ...], list[int]] = {}
        for place, (_, scope) in enumerate(wanted):
            by_scope.setdefault(tuple(sorted(set(scope))), []).append(place)
        vectors = self._vectors.of_queries([query.text for query, _ in wanted])
        found: list[list[Ranked]] = [[] for _ in wanted]
        for scope, places in by_scope.items():
            filings = dict.fromkeys(filing for filing in scope if filing in self._held)
            if not filings:
                continue
            by_text = FullText(self._index, filings).rank(
                [wanted[place][0].keywords for place in places], [None] * len(places), self._depths[0]
            )
            near = NearestChunks(self._index, self._vectors, list(filings))
            by_vector = near.search(vectors[places], self._depths[1], self._max_distance)
            for place, worded, close in zip(places, by_text, by_vector, strict=True):
                hits = [one for one in worded if one.score > 0]
                fused = fuse([hits, close])
                found[place] = best(fused, len(fused))
        return found

    @property
    def _held(self) -> frozenset[str]:
        return frozenset(self._index.filings)


def _together(lists: Sequence[Sequence[Ranked]]) -> list[Ranked]:
    """Lists of several filings as one: scores by each list's first, so that every filing's best comes first."""
    scaled = []
    for ranked in lists:
        if not ranked:
            continue
        lowest = min(0.0, ranked[-1].score)
        top = ranked[0].score - lowest
        scaled += [
            Ranked(one.filing_id, one.number, (one.score - lowest) / top if top > 0 else 1.0)
            for one in ranked
        ]
    return best(scaled, len(scaled))

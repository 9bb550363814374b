"""Nearest chunks by vector, through FAISS (Johnson et al. 2021), among the filings in scope only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

import numpy as np

from apportion.retrieval.chunk_index import ChunkIndex, Vectors, in_order
from apportion.retrieval.ranking import Ranked

MAX_DISTANCE = 2.0
"""Squared Euclidean distance of unit vectors: beyond it two texts have nothing in common."""


class ChunkVectors(Protocol):
    """Gives the vectors of a filing's chunks and of queries, all in one space."""

    name: str

    def of_filing(self, filing: str) -> Vectors:
        """One row a chunk, in the order of the index's numbers."""
        ...

    def of_queries(self, texts: list[str]) -> Vectors:
        """One row a text."""
        ...


class NearestChunks:
    """Searches some filings' vectors exactly.

    Only what is in scope is put into the index, so that nothing else can take a place.
    """

    def __init__(self, index: ChunkIndex, vectors: ChunkVectors, filings: Sequence[str]) -> None:
        import faiss

        parts, self._keys = [], []
        for filing in in_order(filings):
            parts.append(vectors.of_filing(filing))
            self._keys += [(filing, int(number)) for number in index.numbers(filing)]
        rows = np.concatenate(parts) if parts else np.zeros((0, 1), np.float32)
        # A chunk without a vector is near to nothing.
        self._there = np.flatnonzero(np.linalg.norm(rows, axis=1) > 0) if len(rows) else np.empty(0, np.int64)
        self._faiss = faiss.IndexFlatL2(rows.shape[1])
        if len(self._there):
            self._faiss.add(np.ascontiguousarray(rows[self._there], np.float32))

    def search(self, queries: Vectors, k: int, max_distance: float = MAX_DISTANCE) -> list[list[Ranked]]:
        """The nearest chunks of each query, at most k.

        The score is minus the squared distance. Ties go to the earlier chunk in (filing_id, chunk_number).
        """
        if not len(self._there) or not len(queries):
            return [[] for _ in queries]
        # A few more than k, so that ties at the cut are broken by place and not by the search.
        wanted = min(k + 16, len(self._there))
        distances, places = self._faiss.search(np.ascontiguousarray(queries, np.float32), wanted)
        found: list[list[Ranked]] = []
        for query, row, at in zip(queries, distances, places, strict=True):
            if not np.any(query):
                found.append([])
                continue
            near = [
                (round(float(distance), 6), self._keys[int(self._there[place])])
                for distance, place in zip(row, at, strict=True)
                # What FAISS pads a short answer with has the number -1.
                if place >= 0 and distance <= max_distance
            ]
            found.append([Ranked(*key, -distance) for distance, key in sorted(near)[:k]])
        return found


def searches(
    index: ChunkIndex, vectors: ChunkVectors, scopes: Sequence[tuple[str, ...]]
) -> Mapping[tuple[str, ...], NearestChunks]:
    """A search for each distinct scope."""
    return {scope: NearestChunks(index, vectors, scope) for scope in dict.fromkeys(scopes)}

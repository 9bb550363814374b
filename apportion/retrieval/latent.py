"""Latent semantic vectors: TF-IDF of words, reduced by a truncated SVD (Deerwester et al. 1990); no model is needed.

The basis is fitted on the chunks of a whole index, on a sample of them where there are many. Which are sampled depends
on the chunks alone, so the same index gives the same basis in whatever order it grew.
"""

from __future__ import annotations

import contextlib
import glob
import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from apportion.retrieval.chunk_index import ChunkIndex, Vectors, save_array
from apportion.retrieval.terms import Hashes, TermCounts, unigram_counts

DIMENSIONS = 128
SAMPLE = 6_000
"""Chunks that the basis is fitted on, at most."""
TERMS = 50_000
"""Words of the basis, at most: those on most chunks."""
UNUSED_S = 3_600
"""Seconds after which a basis that isn't the index's any more is dropped."""
VERSION = "1"


@dataclass(frozen=True)
class LatentBasis:
    """The words of a basis, their inverse document frequencies, and the loadings (words × dimensions)."""

    terms: Hashes
    idf: npt.NDArray[np.float32]
    loadings: npt.NDArray[np.float32]

    def project(self, counted: TermCounts) -> Vectors:
        """Unit vectors of counted texts; a text without any word of the basis is all zero."""
        from scipy.sparse import csr_matrix, diags

        counts = counted.counts
        if not len(self.terms) or not len(counted.terms):
            return np.zeros((counts.shape[0], self.loadings.shape[1]), np.float32)
        places = np.minimum(np.searchsorted(self.terms, counted.terms), len(self.terms) - 1)
        known = self.terms[places] == counted.terms
        weights = csr_matrix(
            (1.0 + np.log(np.maximum(counts.data, 1), dtype=np.float64), counts.indices, counts.indptr),
            shape=counts.shape,
        )
        weighted = weights[:, np.flatnonzero(known)] @ diags(self.idf[places[known]])
        projected = np.asarray(weighted @ self.loadings[places[known]], np.float32)
        lengths = np.linalg.norm(projected, axis=1, keepdims=True)
        vectors: Vectors = np.divide(projected, lengths, out=np.zeros_like(projected), where=lengths > 1e-9)
        return vectors

    def save(self, path: Path) -> None:
        """Write the basis, whole or not at all."""
        draft = path.with_name(f".{path.name}-{os.getpid()}")
        with draft.open("wb") as handle:
            np.savez(handle, terms=self.terms, idf=self.idf, loadings=self.loadings)
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> LatentBasis:
        """Read a basis."""
        with np.load(path) as arrays:
            return cls(arrays["terms"], arrays["idf"], arrays["loadings"])


class LatentVectors:
    """The vectors of an index and of queries, in the basis of that index."""

    name = "latent"

    def __init__(self, index: ChunkIndex) -> None:
        self._index = index
        digest = hashlib.blake2b(f"{VERSION} {DIMENSIONS} {SAMPLE}".encode(), digest_size=8)
        for filing in index.filings:
            digest.update(index.name(filing).encode() + b"\n")
        self._key = digest.hexdigest()
        self._basis: LatentBasis | None = None

    @property
    def basis(self) -> LatentBasis:
        """The basis, fitted once an index."""
        if self._basis is None:
            path = self._index.folder / f"basis-{self._key}.npz"
            if not path.exists():
                fit(self._index).save(path)
                _drop_old(self._index.folder.glob("basis-*.npz"), path)
            self._basis = LatentBasis.load(path)
        return self._basis

    def of_filing(self, filing: str) -> Vectors:
        """A filing's vectors, one row a chunk."""
        path = self._index.path(filing, f"latent-{self._key}.npy")
        if not path.exists():
            save_array(path, self.basis.project(self._index.words(filing)))
            of_filing = f"{glob.escape(self._index.name(filing))}.latent-*.npy"
            _drop_old(self._index.folder.glob(of_filing), path)
        vectors: Vectors = np.load(path)
        return vectors

    def of_queries(self, texts: list[str]) -> Vectors:
        """Vectors of questions, one row each."""
        return self.basis.project(unigram_counts(texts))


def _drop_old(paths: Iterable[Path], kept: Path) -> None:
    """Drop what earlier states of the index left; not what another process may be about to read."""
    for path in paths:
        with contextlib.suppress(FileNotFoundError):
            if path != kept and time.time() - path.stat().st_mtime > UNUSED_S:
                path.unlink()


def fit(index: ChunkIndex) -> LatentBasis:
    """The basis of an index."""
    chosen = sampled({filing: len(index.numbers(filing)) for filing in index.filings})
    counted = {filing: index.words(filing) for filing in chosen}
    return fit_counts(
        [TermCounts(counted[filing].terms, counted[filing].counts[rows]) for filing, rows in chosen.items()]
    )


def fit_counts(parts: Sequence[TermCounts]) -> LatentBasis:
    """The basis of counted texts, those of each part with terms of their own."""
    from scipy.sparse import vstack
    from sklearn.utils.extmath import randomized_svd
    from threadpoolctl import threadpool_limits

    total = sum(part.counts.shape[0] for part in parts)
    if not total:
        return LatentBasis(np.empty(0, np.uint64), np.empty(0, np.float32), np.zeros((0, 1), np.float32))
    terms, frequencies = _frequencies(parts)
    keep = np.flatnonzero(frequencies >= min(2, total))
    if len(keep) > TERMS:
        # Most frequent first, ties by the word's number; then back into order.
        keep = np.sort(keep[np.lexsort((terms[keep], -frequencies[keep]))[:TERMS]])
    terms, frequencies = terms[keep], frequencies[keep]
    if not len(terms):
        return LatentBasis(terms, np.empty(0, np.float32), np.zeros((0, 1), np.float32))
    idf = (np.log((1 + total) / (1 + frequencies)) + 1).astype(np.float32)
    matrix = vstack([_weighted(part, terms, idf) for part in parts]).tocsr()
    dimensions = max(1, min(DIMENSIONS, min(matrix.shape) - 1))
    # One thread, so that sums are always taken in the same order.
    with threadpool_limits(1):
        _, _, loadings = randomized_svd(matrix, n_components=dimensions, n_iter=4, random_state=0)
    return LatentBasis(terms, idf, np.ascontiguousarray(loadings.T, dtype=np.float32))


def _weighted(part: TermCounts, terms: Hashes, idf: npt.NDArray[np.float32]) -> object:
    from scipy.sparse import csr_matrix

    coo = part.counts.tocoo()
    places = np.minimum(np.searchsorted(terms, part.terms), max(len(terms) - 1, 0))
    known = terms[places] == part.terms
    inside = known[coo.col]
    columns = places[coo.col[inside]]
    values = (1.0 + np.log(coo.data[inside], dtype=np.float64)) * idf[columns]
    matrix = csr_matrix((values, (coo.row[inside], columns)), shape=(coo.shape[0], len(terms)))
    lengths = np.sqrt(np.asarray(matrix.multiply(matrix).sum(axis=1)).ravel())
    from scipy.sparse import diags

    return diags(np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)) @ matrix


def _frequencies(parts: Sequence[TermCounts]) -> tuple[Hashes, npt.NDArray[np.int64]]:
    stacked = np.concatenate([part.terms for part in parts])
    counted = np.concatenate([part.document_frequencies() for part in parts])
    terms, places = np.unique(stacked, return_inverse=True)
    return terms, np.bincount(places.ravel(), weights=counted, minlength=len(terms)).astype(np.int64)


def sampled(sizes: Mapping[str, int]) -> dict[str, npt.NDArray[np.int64]]:
    """The rows of each filing that a basis is fitted on: all, or those whose hashes are the smallest.

    Args:
        sizes: how many rows each filing has.
    """
    if sum(sizes.values()) <= SAMPLE:
        return {filing: np.arange(size) for filing, size in sizes.items() if size}
    drawn = sorted(
        (hashlib.blake2b(f"{filing}\x1f{row}".encode(), digest_size=8).digest(), filing, row)
        for filing, size in sizes.items()
        for row in range(size)
    )[:SAMPLE]
    chosen: dict[str, list[int]] = {}
    for _, filing, row in drawn:
        chosen.setdefault(filing, []).append(row)
    return {filing: np.array(sorted(found), np.int64) for filing, found in sorted(chosen.items())}

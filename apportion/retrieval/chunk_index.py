"""The chunk index: full text and word counts of each filing's chunks, a shard a filing, in a local folder.

As with pages, a filing is indexed once; other chunks have another fingerprint. Variants of the index (chunks with a tag
or a description before them) lie in folders of their own. Vectors are made from the shards
(:mod:`apportion.retrieval.latent`) or by a model (:mod:`apportion.retrieval.embedding`), and kept beside them.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.retrieval.fulltext_shard import FullTextShard
from apportion.retrieval.shards import fingerprint
from apportion.retrieval.terms import TermCounts, unigram_counts

Vectors = npt.NDArray[np.float32]
"""One row a chunk, of unit length or all zero."""


class ChunkIndex:
    """The shards of one variant of the chunks."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: dict[str, str] = {}
        self._numbers: dict[str, npt.NDArray[np.int64]] = {}

    def add(self, chunks: pl.DataFrame) -> int:
        """Index the filings of a frame that aren't yet; every chunk of each must be in it.

        Args:
            chunks: columns ``filing_id``, ``chunk_number`` and ``text``.

        Returns:
            How many filings had to be indexed.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        built = 0
        ordered = chunks.select("filing_id", "chunk_number", "text").sort("filing_id", "chunk_number")
        for part in ordered.partition_by("filing_id", maintain_order=True):
            filing = part["filing_id"][0]
            numbers, texts = part["chunk_number"].to_list(), part["text"].to_list()
            name = f"{filing}@{fingerprint(numbers, texts)}"
            self._names[filing] = name
            self._numbers[filing] = np.asarray(numbers, np.int64)
            words, fulltext = self.path(filing, "words.npz"), self.path(filing, "fulltext.sqlite")
            if words.exists() and fulltext.exists():
                continue
            _save(words, unigram_counts(texts))
            FullTextShard.build(fulltext, numbers, texts)
            built += 1
        return built

    def forget_others(self, filings: Iterable[str]) -> int:
        """Drop the shards and vectors of earlier versions of some filings; returns how many files."""
        dropped = 0
        asked = set(filings)
        # The folder is listed once, not once a filing.
        for path in self.folder.glob("[!.]*@*"):
            filing = path.name.partition("@")[0]
            if filing in asked and not path.name.startswith(self._names.get(filing, "") + "."):
                with contextlib.suppress(FileNotFoundError):
                    path.unlink()
                dropped += 1
        return dropped

    @property
    def filings(self) -> list[str]:
        """The filings that were added, in order."""
        return sorted(self._names)

    def name(self, filing: str) -> str:
        """A filing's id and the fingerprint of its chunks."""
        return self._names[filing]

    def numbers(self, filing: str) -> npt.NDArray[np.int64]:
        """The numbers of a filing's chunks, ascending: the rows of its counts and vectors."""
        return self._numbers[filing]

    def fulltext(self, filing: str) -> FullTextShard:
        """A filing's full text; its documents are chunk numbers."""
        return FullTextShard(self.path(filing, "fulltext.sqlite"))

    def words(self, filing: str) -> TermCounts:
        """A filing's word counts, (chunks × words)."""
        from scipy.sparse import csr_matrix

        with np.load(self.path(filing, "words.npz")) as arrays:
            terms, ends = arrays["terms"], arrays["ends"]
            counts = csr_matrix(
                (arrays["data"].astype(np.float32), arrays["indices"], ends),
                shape=(len(ends) - 1, len(terms)),
            )
        return TermCounts(terms, counts)

    def path(self, filing: str, kind: str) -> Path:
        """The file of a kind that belongs to a filing's present chunks."""
        return self.folder / f"{self._names[filing]}.{kind}"


def save_array(path: Path, array: Vectors) -> None:
    """Write an array, whole or not at all."""
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    with draft.open("wb") as handle:
        np.save(handle, array)
    draft.replace(path)


def _save(path: Path, counted: TermCounts) -> None:
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    data = np.minimum(counted.counts.data, 255).astype(np.uint8)
    with draft.open("wb") as handle:
        np.savez(
            handle,
            terms=counted.terms,
            data=data,
            indices=counted.counts.indices.astype(np.int32),
            ends=counted.counts.indptr.astype(np.int64),
        )
    draft.replace(path)


def in_order(filings: Sequence[str]) -> list[str]:
    """Filings once each, in the order that ties are broken by."""
    return sorted(set(filings))

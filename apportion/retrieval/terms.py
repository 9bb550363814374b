"""Terms of pages as 64-bit numbers: what scikit-learn's word 1-2-grams and ``char_wb`` 3-5-grams are, counted faster.

A term's number is a hash of its characters that is the same in every process, so that counts of filings that were
indexed apart can be merged without their vocabularies. Among ten million terms the chance that any two share a number
is below one in 300,000.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Hashes = npt.NDArray[np.uint64]
Counts = Any  # a scipy.sparse CSR matrix

WORD = re.compile(r"(?u)\b\w\w+\b")
"""scikit-learn's default token pattern."""

_MIX_1, _MIX_2, _STEP = (
    np.uint64(0xBF58476D1CE4E5B9),
    np.uint64(0x94D049BB133111EB),
    np.uint64(0x9E3779B97F4A7C15),
)


@dataclass(frozen=True)
class TermCounts:
    """Counts of terms on pages: ``terms`` ascending, ``counts`` (pages × terms)."""

    terms: Hashes
    counts: Counts

    def document_frequencies(self) -> npt.NDArray[np.int64]:
        """On how many of the pages each term stands."""
        return np.bincount(self.counts.indices, minlength=len(self.terms)).astype(np.int64)


def word_counts(texts: Sequence[str]) -> TermCounts:
    """Counts of word 1-2-grams, lower case."""
    index: dict[str, int] = {}
    pages = [
        np.fromiter((index.setdefault(word, len(index)) for word in WORD.findall(text.lower())), np.int64)
        for text in texts
    ]
    lengths = np.array([len(page) for page in pages], dtype=np.int64)
    ids = np.concatenate([*pages, np.empty(0, np.int64)])
    hashes = np.fromiter((text_hash(word) for word in index), np.uint64, len(index))
    rows = np.repeat(np.arange(len(texts)), lengths)
    unigrams = hashes[ids] if len(ids) else np.empty(0, np.uint64)
    beside = rows[1:] == rows[:-1] if len(rows) else np.empty(0, np.bool_)
    bigrams = _mix(unigrams[:-1] * _STEP + unigrams[1:])[beside] if len(ids) else unigrams
    terms = np.concatenate([unigrams, bigrams])
    places = np.concatenate([rows, rows[1:][beside] if len(rows) else rows])
    return _counted(terms, places, len(texts))


def unigram_counts(texts: Sequence[str]) -> TermCounts:
    """Counts of words alone, lower case."""
    index: dict[str, int] = {}
    found = [[index.setdefault(word, len(index)) for word in WORD.findall(text.lower())] for text in texts]
    hashes = np.fromiter((text_hash(word) for word in index), np.uint64, len(index))
    ids = np.array([number for row in found for number in row], np.int64)
    rows = np.repeat(np.arange(len(texts)), [len(row) for row in found])
    return _counted(hashes[ids], rows, len(texts))


def character_counts(texts: Sequence[str]) -> TermCounts:
    """Counts of the 3-5-grams of each word with a blank before and behind, lower case.

    N-grams are taken once from each distinct word and multiplied out: (pages × words) · (words × n-grams).
    """
    from scipy.sparse import csr_matrix

    index: dict[str, int] = {}
    pages = [
        np.fromiter((index.setdefault(word, len(index)) for word in text.lower().split()), np.int64)
        for text in texts
    ]
    lengths = np.array([len(page) for page in pages], dtype=np.int64)
    ids = np.concatenate([*pages, np.empty(0, np.int64)])
    ends = np.concatenate([[0], np.cumsum(lengths)])
    words = csr_matrix((np.ones(len(ids), np.int32), ids, ends), shape=(len(texts), max(len(index), 1)))
    words.sum_duplicates()
    grams, owners = _ngrams(list(index))
    of_words = _counted(grams, owners, max(len(index), 1))
    counts = (words @ of_words.counts).tocsr()
    counts.sort_indices()
    return TermCounts(of_words.terms, counts)


def _ngrams(words: Sequence[str]) -> tuple[Hashes, npt.NDArray[np.int64]]:
    """All 3-5-grams of the padded words, and the word each is of."""
    padded = [f" {word} " for word in words]
    if not padded:
        return np.empty(0, np.uint64), np.empty(0, np.int64)
    points = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), np.uint32).astype(np.uint64)
    owners = np.repeat(np.arange(len(padded)), [len(word) for word in padded])
    grams: list[Hashes] = []
    whose: list[npt.NDArray[np.int64]] = []
    # One more character at a time: the hash of an n-gram goes on from that of its first n - 1.
    running = _mix(points)
    for size in range(2, 6):
        running = _mix(running[:-1] * _STEP + points[size - 1 :])
        inside = owners[: len(running)] == owners[size - 1 :]
        if size >= 3:
            grams.append(running[inside])
            whose.append(owners[: len(running)][inside])
    return np.concatenate(grams), np.concatenate(whose)


def _counted(terms: Hashes, rows: npt.NDArray[np.int64], height: int) -> TermCounts:
    from scipy.sparse import csr_matrix

    distinct, columns = np.unique(terms, return_inverse=True)
    matrix = csr_matrix(
        (np.ones(len(terms), np.int32), (rows, columns.ravel())), shape=(height, len(distinct))
    )
    matrix.sum_duplicates()
    matrix.sort_indices()
    return TermCounts(distinct, matrix)


def text_hash(text: str) -> int:
    """A number that names a text, the same in every process."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little")


def _mix(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014)."""
    mixed = values + _STEP
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _MIX_1
    mixed = (mixed ^ (mixed >> np.uint64(27))) * _MIX_2
    result: Hashes = mixed ^ (mixed >> np.uint64(31))
    return result

"""A shard a filing: its pages' terms, kept in a folder of the filing's name under a fingerprint of its pages.

A filing is indexed once. Pages that change have another fingerprint, so a shard is never stale; one that is missing is
made when it is needed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.knowledge.tables import digest
from apportion.retrieval.fulltext_shard import FullTextShard
from apportion.retrieval.page_shard import VERSION as PAGES_VERSION
from apportion.retrieval.page_shard import PageShard
from apportion.retrieval.terms import TermCounts, character_counts, word_counts

VERSION = "1"
"""Changes whenever the same pages would give another shard."""

FAMILIES = ("words", "characters")


@dataclass(frozen=True)
class TermShard:
    """A filing's pages in ascending order and, by family, the counts of their terms."""

    page_numbers: npt.NDArray[np.int64]
    families: dict[str, TermCounts]

    @classmethod
    def build(cls, page_numbers: Sequence[int], texts: Sequence[str]) -> TermShard:
        """Count the terms of pages."""
        counted = {"words": word_counts(texts), "characters": character_counts(texts)}
        return cls(np.asarray(page_numbers, np.int64), counted)

    def select(self, page_numbers: Sequence[int] | None) -> TermShard:
        """Only some of the pages; terms that stand on none of them stay, with no count."""
        if page_numbers is None:
            return self
        rows = np.flatnonzero(np.isin(self.page_numbers, np.asarray(page_numbers, np.int64)))
        return TermShard(
            self.page_numbers[rows],
            {name: TermCounts(family.terms, family.counts[rows]) for name, family in self.families.items()},
        )

    def save(self, path: Path) -> None:
        """Write the shard, whole or not at all."""
        arrays: dict[str, Any] = {"page_numbers": self.page_numbers}
        for name, family in self.families.items():
            arrays[f"{name}_terms"] = family.terms
            arrays[f"{name}_data"] = _narrow(family.counts.data)
            arrays[f"{name}_indices"] = family.counts.indices.astype(np.int32)
            arrays[f"{name}_ends"] = family.counts.indptr.astype(np.int64)
        draft = path.with_name(f".{path.name}-{os.getpid()}")
        with draft.open("wb") as handle:
            np.savez(handle, **arrays)
        draft.replace(path)

    @classmethod
    def load(cls, path: Path) -> TermShard:
        """Read a shard."""
        from scipy.sparse import csr_matrix

        with np.load(path) as arrays:
            pages = arrays["page_numbers"]
            families = {}
            for name in FAMILIES:
                terms = arrays[f"{name}_terms"]
                counts = csr_matrix(
                    (arrays[f"{name}_data"], arrays[f"{name}_indices"], arrays[f"{name}_ends"]),
                    shape=(len(pages), len(terms)),
                )
                families[name] = TermCounts(terms, counts)
        return cls(pages, families)


def _narrow(counts: npt.NDArray[np.int32]) -> npt.NDArray[np.generic]:
    """Counts in the smallest type that holds them: nearly all are below 256."""
    return counts.astype(np.min_scalar_type(int(counts.max(initial=0))))


def fingerprint(page_numbers: Sequence[int], texts: Sequence[str]) -> str:
    """Names the content of a filing's pages."""
    digest = hashlib.blake2b(VERSION.encode(), digest_size=12)
    for number, text in zip(page_numbers, texts, strict=True):
        digest.update(f"\x1f{number}\x1f".encode())
        digest.update(text.encode())
    return digest.hexdigest()


class IndexFolder:
    """The shards of a warehouse, in a local folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._names: dict[str, str] = {}

    def add(self, pages: pl.DataFrame) -> int:
        """Index the filings of a frame that aren't yet; all pages of each must be in it.

        Args:
            pages: columns ``filing_id``, ``page_number`` and ``text``.

        Returns:
            How many filings had to be indexed.
        """
        built = 0
        ordered = pages.select("filing_id", "page_number", "text").sort("filing_id", "page_number")
        for part in ordered.partition_by("filing_id", maintain_order=True):
            filing = part["filing_id"][0]
            numbers, texts = part["page_number"].to_list(), part["text"].to_list()
            name = self._names[filing] = fingerprint(numbers, texts)
            terms, fulltext = self._path(filing, "terms.npz"), self._path(filing, "fulltext.sqlite")
            accounting = self._path(filing, _accounting_kind())
            terms.parent.mkdir(parents=True, exist_ok=True)
            if terms.exists() and fulltext.exists() and accounting.exists():
                continue
            # Only knowledge of accounting changes under pages that stay: what else there is of them is kept.
            counted = TermShard.load(terms) if terms.exists() else TermShard.build(numbers, texts)
            if not terms.exists():
                counted.save(terms)
            if not fulltext.exists():
                FullTextShard.build(fulltext, numbers, texts)
            PageShard.build(accounting, numbers, texts, counted.families)
            # A folder a filing: looking for earlier versions costs the same however many filings there are.
            for path in terms.parent.glob(f"{name}.accounting-*"):
                if path != accounting:
                    path.unlink(missing_ok=True)
            built += 1
        return built

    def forget_others(self, filings: Iterable[str]) -> int:
        """Drop the shards of earlier versions of some filings; returns how many files."""
        dropped = 0
        for filing in filings:
            for path in (self.folder / filing).glob("[!.]*"):
                if not path.name.startswith(self._names.get(filing, "") + "."):
                    with contextlib.suppress(FileNotFoundError):
                        path.unlink()
                    dropped += 1
        return dropped

    @property
    def filings(self) -> list[str]:
        """The filings that were added, in order."""
        return sorted(self._names)

    def terms(self, filing: str) -> TermShard:
        """A filing's terms."""
        return TermShard.load(self._path(filing, "terms.npz"))

    def fulltext(self, filing: str) -> FullTextShard:
        """A filing's full text."""
        return FullTextShard(self._path(filing, "fulltext.sqlite"))

    def accounting(self, filing: str) -> PageShard:
        """What a filing's pages are and print."""
        return PageShard(self._path(filing, _accounting_kind()))

    def _path(self, filing: str, kind: str) -> Path:
        return self.folder / filing / f"{self._names[filing]}.{kind}"


def _accounting_kind() -> str:
    return f"accounting-{PAGES_VERSION}-{digest()}.sqlite"

"""What the document-routed systems of one run share: the corpus they search, its indices, who asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import polars as pl

from apportion.retrieval.chunk_index import ChunkIndex
from apportion.routes.systems import PLAIN
from assets.chunking import plain_index
from assets.describing import described_index
from assets.reading import held_filings
from assets.resources import Answering, Warehouse
from warehouse.store import Store


@dataclass
class Workplace:
    """What the systems of one run share."""

    context: Any
    warehouse: Warehouse
    answering: Answering
    outcome_set: str
    asked: pl.DataFrame
    version: int | None
    indices: dict[str, ChunkIndex] = field(default_factory=dict)
    slim: pl.DataFrame | None = None

    @property
    def store(self) -> Store:
        """The tables."""
        return self.warehouse.store()

    def corpus(self) -> list[str]:
        """Every filing of the set's snapshot, in order."""
        return held_filings(self.store, self.version)

    def plain(self) -> ChunkIndex:
        """The index of the chunks as they are."""
        if PLAIN not in self.indices:
            index, self.slim, _ = plain_index(self.warehouse, self.store, self.corpus(), self.version)
            self.indices[PLAIN] = index
        return self.indices[PLAIN]

    def index(self, variant: str) -> ChunkIndex:
        """The index of a variant."""
        plain = self.plain()
        if variant == PLAIN:
            return plain
        if variant not in self.indices:
            self.indices[variant] = described_index(
                self.context,
                self.warehouse,
                self.answering,
                self.outcome_set,
                variant,
                self.corpus(),
                self.version,
            )
        return self.indices[variant]

    def pages_of(self) -> Mapping[tuple[str, int], int]:
        """The page that each chunk begins on."""
        self.plain()
        frame = self.slim if self.slim is not None else pl.DataFrame()
        return {(f, n): p for f, n, p in frame.select("filing_id", "chunk_number", "page_number").iter_rows()}

"""Chunks of filings, a batch at a time, and their index: local files, made once a filing and variant."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.chunking import chunk_rows
from assets.checks import specs
from assets.indices import PAGES_AT_ONCE
from assets.partitions import filing_batches
from assets.publishing import column_schema
from assets.resources import Warehouse
from assets.streams import publish_stream
from warehouse.contracts import TABLES
from warehouse.store import Store

PLAIN = "plain"


def chunk_folder(warehouse: Warehouse, variant: str = PLAIN) -> Path:
    """The folder of one variant of the chunk index."""
    return warehouse.local_folder() / "indices" / "chunks" / variant


def chunks_of(store: Store, filings: list[str], version: int | None = None) -> Iterator[pl.DataFrame]:
    """The chunks of some filings, a few filings at a time, from their pages."""
    pages = store.scan("pages", version=version).select("filing_id", "page_number", "text")
    counted = (
        pages.filter(pl.col("filing_id").is_in(filings))
        .group_by("filing_id")
        .len()
        .sort("filing_id")
        .collect()
        .rows()
    )
    group: list[str] = []
    size = 0
    for filing, count in [*counted, (None, PAGES_AT_ONCE + 1)]:
        if group and size + count > PAGES_AT_ONCE:
            yield chunk_rows(pages.filter(pl.col("filing_id").is_in(group)).collect())
            group, size = [], 0
        if filing is not None:
            group.append(filing)
            size += count


def chunk_texts(store: Store, wanted: pl.DataFrame, version: int | None) -> dict[tuple[str, int], str]:
    """The texts of some chunks, by filing and number."""
    filings = wanted["filing_id"].unique().sort().to_list()
    keys = wanted.select("filing_id", "chunk_number").unique()
    found: dict[tuple[str, int], str] = {}
    for part in chunks_of(store, filings, version):
        rows = part.join(keys, on=["filing_id", "chunk_number"], how="semi")
        found |= {(f, n): text for f, n, text in rows.select("filing_id", "chunk_number", "text").iter_rows()}
    return found


def plain_index(
    warehouse: Warehouse, store: Store, filings: list[str], version: int | None = None
) -> tuple[ChunkIndex, pl.DataFrame, int]:
    """The index of some filings' chunks, made where missing; the chunks without text; how many filings were indexed."""
    index, built, slim = ChunkIndex(chunk_folder(warehouse)), 0, []
    for part in chunks_of(store, filings, version):
        built += index.add(part)
        slim.append(part.drop("text"))
    frame = pl.concat(slim) if slim else pl.DataFrame(schema=_SLIM)
    return index, frame, built


_SLIM: Mapping[str, type[pl.DataType]] = {
    "filing_id": pl.String,
    "chunk_number": pl.Int64,
    "page_number": pl.Int64,
    "start_char": pl.Int64,
    "end_char": pl.Int64,
}


def _batch_filings(store: Store, batch: str) -> list[str]:
    return (
        store.scan("pages", {"filing_batch": batch})
        .select(pl.col("filing_id").unique().sort())
        .collect()["filing_id"]
        .to_list()
    )


@dg.asset(
    group_name="corpus",
    partitions_def=filing_batches,
    deps=["pages"],
    check_specs=specs("chunks"),
    automation_condition=dg.AutomationCondition.eager(),
    metadata={"dagster/column_schema": column_schema("chunks")},
    kinds={"deltalake", "polars"},
)
def chunks(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Iterator[Any]:
    """The batch's filings as chunks of 2,500 characters, each half over the one before."""
    store, batch = warehouse.store(), context.partition_key
    filings = _batch_filings(store, batch)
    order = list(TABLES["chunks"].schema)
    slim = [part.with_columns(text=pl.lit("")) for part in chunks_of(store, filings)]
    frame = pl.concat(slim) if slim else pl.DataFrame(schema={**_SLIM, "text": pl.String})

    def frames() -> Iterator[pl.DataFrame]:
        for part in chunks_of(store, filings):
            yield part.with_columns(filing_batch=pl.lit(batch)).select(order)

    yield from publish_stream(
        context,
        store,
        "chunks",
        TABLES["chunks"].arrange(frame.with_columns(filing_batch=pl.lit(batch))),
        frames,
        {"filing_batch": batch},
        # The chunks are the pages' and nothing else's.
        arguments={"content": _pages_commit(store, batch)},
    )


def _pages_commit(store: Store, batch: str) -> str:
    import hashlib

    digest = hashlib.sha256()
    rows = (
        store.scan("filings", {"filing_batch": batch}).select("filing_id", "sha256", "page_count").collect()
    )
    for row in rows.sort("filing_id").iter_rows():
        digest.update(repr(row).encode())
    return digest.hexdigest()


@dg.asset(
    group_name="indices",
    partitions_def=filing_batches,
    deps=["chunks"],
    automation_condition=dg.AutomationCondition.eager(),
    kinds={"sqlite", "faiss"},
)
def chunk_index(context: dg.AssetExecutionContext, warehouse: Warehouse) -> dg.MaterializeResult[Any]:
    """Full text and word counts of the batch's chunks, a shard a filing; only what is new is indexed."""
    store = warehouse.store()
    filings = _batch_filings(store, context.partition_key)
    index, rows, built = plain_index(warehouse, store, filings)
    return dg.MaterializeResult(
        metadata={
            "filings": len(filings),
            "chunks": rows.height,
            "indexed_now": built,
            "dropped": index.forget_others(filings),
        }
    )

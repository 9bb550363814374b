"""Chunks of filings, a batch at a time, and their index: local files, made once a filing and variant."""

import hashlib
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.chunking import chunk_rows
from apportion.routes.systems import PLAIN
from assets.checks import specs
from assets.partitions import filing_batches
from assets.publishing import column_schema
from assets.reading import batch_filings, groups_of_pages
from assets.resources import Warehouse
from assets.streams import publish_stream
from warehouse.contracts import TABLES
from warehouse.store import Store


def chunk_folder(warehouse: Warehouse, variant: str = PLAIN) -> Path:
    """The folder of one variant of the chunk index."""
    return warehouse.local_folder() / "indices" / "chunks" / variant


def chunks_of(store: Store, filings: list[str], version: int | None = None) -> Iterator[pl.DataFrame]:
    """The chunks of some filings, a few filings at a time, from their pages."""
    for pages in groups_of_pages(store, filings, version):
        yield chunk_rows(pages)


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
    filings = batch_filings(store, batch)
    order = list(TABLES["chunks"].schema)
    content = hashlib.sha256()
    slim = []
    for part in chunks_of(store, filings):
        for told in _told(part):
            content.update(told)
        slim.append(part.with_columns(text=pl.lit("")))
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
        arguments={"content": f"sha256:{content.hexdigest()}"},
    )


def _told(part: pl.DataFrame) -> Iterator[bytes]:
    """Chunks as bytes that name their content: whatever reads the pages or cuts them otherwise gives others."""
    for *place, text in part.iter_rows():
        read = text.encode()
        yield repr((*place, len(read))).encode() + read


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
    filings = batch_filings(store, context.partition_key)
    index, rows, built = plain_index(warehouse, store, filings)
    return dg.MaterializeResult(
        metadata={
            "filings": len(filings),
            "chunks": rows.height,
            "indexed_now": built,
            "dropped": index.forget_others(filings),
        }
    )

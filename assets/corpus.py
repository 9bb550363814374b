"""Filings and their pages, a batch at a time."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl
from filelock import FileLock

from apportion.corpus.edgar import day_of
from apportion.corpus.placing import new_filings, place
from apportion.corpus.records import Corpus
from assets.checks import specs
from assets.edgar import Edgar, store_day
from assets.filings import FilingFiles, store_files
from assets.partitions import filing_batches
from assets.provenance import last_commit
from assets.publishing import column_schema, publish
from assets.resources import Source, Warehouse
from assets.sources import read_source
from warehouse.store import Store


@dg.multi_asset(
    name="corpus",
    group_name="corpus",
    partitions_def=filing_batches,
    specs=[
        dg.AssetSpec(
            "filings",
            description="Filings that the batch brought first.",
            metadata={"dagster/column_schema": column_schema("filings")},
            kinds={"deltalake", "polars"},
        ),
        dg.AssetSpec(
            "pages",
            deps=["filings"],
            description="Their pages, with text.",
            metadata={"dagster/column_schema": column_schema("pages")},
            kinds={"deltalake", "polars"},
        ),
    ],
    check_specs=[*specs("filings"), *specs("pages")],
)
def corpus(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    source: Source,
    filing_files: FilingFiles,
    edgar: Edgar,
) -> Iterator[Any]:
    """Read a batch's source once and store what is new in it."""
    store = warehouse.store()
    batch = context.partition_key
    day = day_of(batch)
    if day is not None:
        yield from store_day(context, warehouse, filing_files, edgar, day)
        return
    paths = file_paths(store, source, filing_files, batch)
    if paths:
        yield from store_files(context, warehouse, filing_files, paths)
        return
    read, arguments = read_source(store, source, "filings", batch)
    # Two batches that bring the same filing at once must not both believe they were first.
    with FileLock(warehouse.lock_path("corpus")):
        yield from _store(context, store, batch, read, arguments)


def file_paths(store: Store, source: Source, files: FilingFiles, batch: str) -> list[str]:
    """The files of a batch, as given, else as recorded with it before; none where it came otherwise."""
    if files.paths or source.kind is not None:
        return list(files.paths)
    before = last_commit(store, "filings", batch) or {}
    return list(before.get("arguments", {}).get("paths", []))


def _store(
    context: dg.AssetExecutionContext, store: Store, batch: str, read: Corpus, arguments: dict[str, Any]
) -> Iterator[Any]:
    others = store.scan("filings").filter(pl.col("filing_batch") != batch).collect()
    fresh = new_filings(place(read, others), others)
    context.log.info(f"{fresh.filings.height} new filings of {read.filings.height}")
    for table, rows in (("filings", fresh.filings), ("pages", fresh.pages)):
        yield from publish(
            context,
            store,
            table,
            rows.with_columns(filing_batch=pl.lit(batch)),
            {"filing_batch": batch},
            inputs={},
            arguments={**arguments, "sha256": read.sha256},
            problems=read.problems if table == "filings" else None,
            metadata={"known_from_other_batches": read.filings.height - fresh.filings.height},
        )

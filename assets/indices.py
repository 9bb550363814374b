"""Shards of the page index: local files, made once a filing, never part of a table."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg
import polars as pl

from apportion.retrieval.shards import IndexFolder
from assets.partitions import filing_batches
from assets.resources import Warehouse
from warehouse.store import Store

PAGES_AT_ONCE = 2_000


def index_folder(warehouse: Warehouse) -> IndexFolder:
    """The folder of the page index."""
    return IndexFolder(warehouse.local_folder() / "indices" / "pages")


def index_filings(
    index: IndexFolder, store: Store, filings: Sequence[str], version: int | None = None
) -> tuple[int, int]:
    """Index those filings that aren't yet, a few at a time.

    Args:
        index: the shards.
        store: the tables.
        filings: their ids.
        version: of `pages`.

    Returns:
        How many filings had to be indexed, and how many pages there are of all.
    """
    pages = store.scan("pages", version=version).select("filing_id", "page_number", "text")
    counted = (
        pages.filter(pl.col("filing_id").is_in(list(filings)))
        .group_by("filing_id")
        .len()
        .sort("filing_id")
        .collect()
    )
    built = 0
    for group in _groups(counted.rows()):
        built += index.add(pages.filter(pl.col("filing_id").is_in(group)).collect())
    return built, int(counted["len"].sum())


def _groups(counted: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for filing, pages in counted:
        if group and size + pages > PAGES_AT_ONCE:
            yield group
            group, size = [], 0
        group.append(filing)
        size += pages
    if group:
        yield group


@dg.asset(
    group_name="indices",
    partitions_def=filing_batches,
    deps=["pages"],
    automation_condition=dg.AutomationCondition.eager(),
    kinds={"scipy", "sqlite"},
)
def page_index(context: dg.AssetExecutionContext, warehouse: Warehouse) -> dg.MaterializeResult[Any]:
    """Terms and full text of the batch's filings, a shard a filing; only what is new is indexed."""
    store = warehouse.store()
    filings = (
        store.scan("pages", {"filing_batch": context.partition_key})
        .select(pl.col("filing_id").unique().sort())
        .collect()["filing_id"]
        .to_list()
    )
    index = index_folder(warehouse)
    built, pages = index_filings(index, store, filings)
    return dg.MaterializeResult(
        metadata={
            "filings": len(filings),
            "pages": pages,
            "indexed_now": built,
            "dropped": index.forget_others(filings),
        }
    )

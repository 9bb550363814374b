"""Shards of the page index: local files, made once a filing, never part of a table."""

from collections.abc import Sequence
from typing import Any

import dagster as dg

from apportion.retrieval.shards import IndexFolder
from assets.partitions import filing_batches
from assets.reading import batch_filings, groups_of_pages
from assets.resources import Warehouse
from warehouse.store import Store


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
    built = pages = 0
    for part in groups_of_pages(store, filings, version):
        built += index.add(part)
        pages += part.height
    return built, pages


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
    filings = batch_filings(store, context.partition_key)
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

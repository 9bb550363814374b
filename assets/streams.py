"""Publishing a slice that is too large for memory: checks see it without its text, rows go in as a stream."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterable, Mapping
from typing import Any

import dagster as dg
import polars as pl
from deltalake.exceptions import CommitFailedError

from assets.checks import run_checks
from assets.provenance import last_commit, provenance
from assets.publishing import Published, preview, report_checks
from warehouse.store import Slice, Store

STREAM_ATTEMPTS = 3


def publish_stream(
    context: dg.AssetExecutionContext,
    store: Store,
    table: str,
    slim: pl.DataFrame,
    frames: Callable[[], Iterable[pl.DataFrame]],
    where: Slice,
    *,
    arguments: Mapping[str, Any],
) -> Published:
    """Check a slice, stream it in if every blocking check passes, and report both.

    Args:
        context: the asset's.
        store: where to commit.
        table: the table, which is the asset's name.
        slim: the whole slice with long texts left empty; checks run on it.
        frames: gives the slice's rows as frames in the contract's order.
        where: the slice.
        arguments: recorded with the commit; their ``content`` names the slice's content, so that equal rows are
            not written again.

    Raises:
        dagster.Failure: a blocking check failed; nothing is committed.
    """
    yield from report_checks(table, run_checks(store, table, slim, where=where))
    batch = context.partition_key
    before = last_commit(store, table, batch)
    same = before is not None and before.get("arguments", {}).get("content") == arguments["content"]
    version = store.version(table)
    if not same:
        made_by = provenance(store, context.run.run_id, batch, {}, arguments)
        version = _stream(store, table, frames, where, made_by)
    yield dg.MaterializeResult(
        asset_key=table,
        metadata={
            "dagster/row_count": slim.height,
            "preview": dg.MetadataValue.md(preview(slim.drop("text"))),
            "table_version": version,
            "committed": not same,
            "problems": [],
        },
    )


def _stream(
    store: Store,
    table: str,
    frames: Callable[[], Iterable[pl.DataFrame]],
    where: Slice,
    made_by: Mapping[str, Any],
) -> int:
    """Stream a slice in, from its beginning again where somebody joined the table's files meanwhile."""
    for _ in range(STREAM_ATTEMPTS - 1):
        with contextlib.suppress(CommitFailedError):
            return store.write_slice(table, frames(), where, made_by).version
    return store.write_slice(table, frames(), where, made_by).version

"""Further slices of an asset's table, beside the one that Dagster is shown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from assets.publishing import publish
from warehouse.store import Slice, Store


def commit(
    context: dg.AssetExecutionContext,
    store: Store,
    table: str,
    rows: pl.DataFrame,
    where: Slice,
    *,
    inputs: Mapping[str, int | None],
    arguments: Mapping[str, Any] | None = None,
) -> None:
    """Check and commit one more slice of an asset's table; Dagster is shown the slice that :func:`publish` gives it.

    Raises:
        dagster.Failure: a blocking check failed; nothing is committed.
    """
    # What publish would report is dropped: an asset reports each of its checks once.
    for _ in publish(context, store, table, rows, where, inputs=inputs, arguments=arguments):
        pass

"""How far each judge of a set agrees with its human labels."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl

from apportion.judging.human import agreement
from assets.checks import specs
from assets.partitions import outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import set_questions
from assets.resources import Warehouse
from warehouse.contracts import TABLES


@dg.asset(
    group_name="published",
    partitions_def=outcome_sets,
    deps=["questions", "route_quality"],
    check_specs=specs("human_agreement"),
    description=TABLES["human_agreement"].grain,
    metadata={"dagster/column_schema": column_schema("human_agreement")},
    kinds={"deltalake", "numpy"},
)
def human_agreement(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Iterator[Any]:
    """Every judge against the human labels of the same answers."""
    store = warehouse.store()
    where = {"outcome_set": context.partition_key}
    rows = agreement(store.read("route_quality", where), set_questions(store, context.partition_key))
    yield from publish(
        context,
        store,
        "human_agreement",
        rows.with_columns(pl.lit(context.partition_key).alias("outcome_set")),
        where,
        inputs={"questions": None, "route_quality": None},
    )

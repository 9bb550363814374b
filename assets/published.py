"""The published tables of the escalation paper, from selections, outcomes and grades."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg
import polars as pl

from apportion.evaluation.policy_tables import (
    policy_comparison,
    policy_frontier,
    policy_summary,
    selection_overlap,
)
from apportion.evaluation.prediction_tables import learning_figures, prediction_quality, reliability
from apportion.evaluation.route_tables import (
    cost_quartiles,
    cost_summary,
    family_summary,
    question_audit,
    route_frontier,
    route_summary,
)
from apportion.prediction.crossfit import in_sample
from apportion.report.plots import quality_against_tokens, to_png
from assets.checks import specs
from assets.decisions import pair_slice, read_pairs, read_sweep, read_training, with_pair
from assets.partitions import outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import set_questions
from assets.resources import Comparison, Warehouse
from warehouse.contracts import TABLES
from warehouse.store import Store

Computation = Callable[[Store, str, Comparison], pl.DataFrame]
Picture = Callable[[pl.DataFrame], dict[str, Any]]

SWEEP_INPUTS = ("selections", "predictions", "features", "route_outcomes", "route_quality")
PAIR_INPUTS = ("route_outcomes", "route_quality")


def published_table(
    table: str, inputs: tuple[str, ...], compute: Computation, picture: Picture | None = None
) -> dg.AssetsDefinition:
    """The asset of one published table of a pair of routes, and what Dagster shows with it."""

    @dg.asset(
        name=table,
        group_name="published",
        partitions_def=outcome_sets,
        deps=["questions", *inputs],
        check_specs=specs(table),
        description=TABLES[table].grain,
        metadata={"dagster/column_schema": column_schema(table)},
        kinds={"deltalake", "numpy"},
    )
    def asset(
        context: dg.AssetExecutionContext, warehouse: Warehouse, comparison: Comparison
    ) -> Iterator[Any]:
        store = warehouse.store()
        outcome_set = context.partition_key
        rows = compute(store, outcome_set, comparison)
        yield from publish(
            context,
            store,
            table,
            with_pair(rows, outcome_set, comparison),
            pair_slice(outcome_set, comparison),
            inputs=dict.fromkeys(("questions", *inputs)),
            arguments={
                "budgets": list(comparison.budgets),
                "judge": comparison.judge,
                "gain_model": comparison.gain_model,
            },
            metadata=picture(rows) if picture else None,
        )

    return asset


def _prediction_quality(store: Store, outcome_set: str, comparison: Comparison) -> pl.DataFrame:
    where = pair_slice(outcome_set, comparison)
    pairs, training = read_training(store, outcome_set, comparison)
    held_out = store.read("predictions", where)
    figures = prediction_quality(pairs, held_out, in_sample(training), gain_model=comparison.gain_model)
    learnt = learning_figures(training, comparison.gain_model)
    return pl.concat([figures, learnt], how="diagonal_relaxed")


def _question_audit(store: Store, outcome_set: str, comparison: Comparison) -> pl.DataFrame:
    where = pair_slice(outcome_set, comparison)
    return question_audit(
        read_pairs(store, outcome_set, comparison),
        store.read("features", where),
        store.read("predictions", where),
        comparison.gain_model,
    )


def _frontier(store: Store, outcome_set: str, comparison: Comparison) -> pl.DataFrame:
    sweep = read_sweep(store, outcome_set, comparison)
    routes = route_rows(store, outcome_set)
    judge = comparison.judge or routes["judge"][0]
    return pl.concat(
        [policy_frontier(sweep), route_frontier(routes.filter(pl.col("judge") == judge))],
        how="vertical_relaxed",
    )


def route_rows(store: Store, outcome_set: str) -> pl.DataFrame:
    """Rows of `route_summary` of a set."""
    where = {"outcome_set": outcome_set}
    return route_summary(
        set_questions(store, outcome_set),
        store.read("route_outcomes", where),
        store.read("route_quality", where),
    )


@dg.asset(
    name="route_summary",
    group_name="published",
    partitions_def=outcome_sets,
    deps=["questions", *PAIR_INPUTS],
    check_specs=specs("route_summary"),
    description=TABLES["route_summary"].grain,
    metadata={"dagster/column_schema": column_schema("route_summary")},
    kinds={"deltalake", "numpy"},
)
def route_summary_asset(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Iterator[Any]:
    """Each route taken for every question."""
    store = warehouse.store()
    yield from publish(
        context,
        store,
        "route_summary",
        route_rows(store, context.partition_key).with_columns(outcome_set=pl.lit(context.partition_key)),
        {"outcome_set": context.partition_key},
        inputs=dict.fromkeys(("questions", *PAIR_INPUTS)),
    )


def _of_sweep(compute: Callable[..., pl.DataFrame]) -> Computation:
    return lambda store, outcome_set, comparison: compute(read_sweep(store, outcome_set, comparison))


def _of_pairs(compute: Callable[..., pl.DataFrame], *tables: str) -> Computation:
    def computation(store: Store, outcome_set: str, comparison: Comparison) -> pl.DataFrame:
        where = pair_slice(outcome_set, comparison)
        return compute(
            read_pairs(store, outcome_set, comparison), *(store.read(table, where) for table in tables)
        )

    return computation


def frontier_plot(rows: pl.DataFrame) -> dict[str, Any]:
    """The frontier as a picture that Dagster shows with the asset."""
    picture = base64.b64encode(to_png(quality_against_tokens(rows), dpi=80)).decode()
    return {"plot": dg.MetadataValue.md(f"![quality against tokens](data:image/png;base64,{picture})")}


published = [
    route_summary_asset,
    published_table("policy_summary", SWEEP_INPUTS, _of_sweep(policy_summary)),
    published_table("policy_comparison", SWEEP_INPUTS, _of_sweep(policy_comparison)),
    published_table("selection_overlap", SWEEP_INPUTS, _of_sweep(selection_overlap)),
    published_table("frontier", SWEEP_INPUTS, _frontier, picture=frontier_plot),
    published_table("prediction_quality", ("predictions", "features", *PAIR_INPUTS), _prediction_quality),
    published_table(
        "reliability",
        ("predictions",),
        lambda store, name, comparison: reliability(store.read("predictions", pair_slice(name, comparison))),
    ),
    published_table("family_summary", PAIR_INPUTS, _of_pairs(family_summary)),
    published_table("cost_summary", PAIR_INPUTS, _of_pairs(cost_summary)),
    published_table(
        "cost_quartiles", ("predictions", *PAIR_INPUTS), _of_pairs(cost_quartiles, "predictions")
    ),
    published_table("question_audit", ("features", "predictions", *PAIR_INPUTS), _question_audit),
]

PUBLISHED_TABLES = tuple(asset.key.to_user_string() for asset in published)
"""The published tables of a set and a pair of routes."""

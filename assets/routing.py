"""Routing among K arms: the gap, the frontiers and what fitted routers collect, from logged outcomes alone."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl

from apportion.evaluation.pairs import question_groups
from apportion.features.decision import answer_features, question_features
from apportion.features.logged import answer_rows
from apportion.routing.arms import Arms, arms_of
from apportion.routing.certified import RISK
from apportion.routing.tables import PRICES, stage_tables
from assets.checks import specs
from assets.learning import contexts_of
from assets.partitions import outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import set_questions
from assets.resources import Warehouse
from warehouse.contracts import STAGES, TABLES
from warehouse.store import Store

ROUTING_TABLES = (
    "routing_gap",
    "routing_reversals",
    "routing_frontier",
    "routing_area",
    "router_summary",
    "router_calibration",
)
INPUTS = ("questions", "features", "route_outcomes", "route_quality")


class Routing(dg.ConfigurableResource):  # type: ignore[type-arg]
    """What is routed among, and at which prices.

    Without routes all that the set was answered by are taken, cheapest first; the first one given is the cheap answer
    of the stage after it. ``judge`` is whose grades count where there are several; ``risk`` is that of the certified
    router.
    """

    routes: list[str] = []  # noqa: RUF012 - pydantic copies it for each resource
    prices: list[float] = list(PRICES)  # noqa: RUF012
    judge: str | None = None
    risk: float = RISK


def routes_of(store: Store, outcome_set: str, wanted: list[str]) -> list[str]:
    """The routes to compare: those wanted, else all of the set by mean tokens, unknown ones last, then by name."""
    if wanted:
        return list(wanted)
    outcomes = store.read("route_outcomes", {"outcome_set": outcome_set})
    means = outcomes.group_by("route").agg(pl.col("total_tokens").mean().alias("tokens"))
    return means.sort(pl.col("tokens"), "route", nulls_last=True)["route"].to_list()


def stage_inputs(
    store: Store, outcome_set: str, routes: list[str], stage: str, judge: str | None
) -> tuple[Arms, pl.DataFrame]:
    """The log of a stage and what is known of each question there."""
    where = {"outcome_set": outcome_set}
    questions = set_questions(store, outcome_set)
    outcomes = store.read("route_outcomes", where)
    quality = store.read("route_quality", where)
    if judge is not None:
        quality = quality.filter(pl.col("judge") == judge)
    arms = arms_of(question_groups(questions), outcomes, quality, routes, stage)
    if stage == "front_door":
        return arms, question_features(questions)
    # The richest features there are of this cheap route: those of the deepest call it was compared with.
    for deep in reversed(routes[1:]):
        rows = store.read("features", {**where, "cheap_route": routes[0], "deep_route": deep})
        if set(arms.keys) <= set(rows["question_id"]):
            return arms, rows.drop("outcome_set", "cheap_route", "deep_route")
    cheap = outcomes.filter(pl.col("route") == routes[0])
    signals = answer_rows(questions, cheap, contexts_of(store, outcome_set, cheap)).drop("route")
    return arms, answer_features(questions, cheap).join(signals, on="question_id", how="left")


@dg.multi_asset(
    name="routing_tables",
    group_name="routing",
    partitions_def=outcome_sets,
    specs=[
        dg.AssetSpec(
            table,
            deps=list(INPUTS),
            description=TABLES[table].grain,
            metadata={"dagster/column_schema": column_schema(table)},
            kinds={"deltalake", "scikitlearn"},
        )
        for table in ROUTING_TABLES
    ],
    check_specs=[spec for table in ROUTING_TABLES for spec in specs(table)],
)
def routing(
    context: dg.AssetExecutionContext, warehouse: Warehouse, routing_setting: Routing
) -> Iterator[Any]:
    """Whether routing could pay on a set, how much of that a router collects, and where it is certified."""
    store = warehouse.store()
    outcome_set = context.partition_key
    routes = routes_of(store, outcome_set, routing_setting.routes)
    joined = ",".join(routes)
    found: dict[str, list[pl.DataFrame]] = {table: [] for table in ROUTING_TABLES}
    for stage in STAGES:
        arms, known = stage_inputs(store, outcome_set, routes, stage, routing_setting.judge)
        tables = stage_tables(
            arms,
            known,
            sorted(set(routing_setting.prices)),
            risk=routing_setting.risk,
            label=f"routing {outcome_set}, {stage.replace('_', ' ')}: {len(routes)} routes",
        )
        for table, rows in tables.items():
            if not rows.is_empty():
                found[table].append(rows.with_columns(pl.lit(stage).alias("stage")))
    for table in ROUTING_TABLES:
        rows = (
            pl.concat(found[table], how="vertical_relaxed").with_columns(
                pl.lit(outcome_set).alias("outcome_set"), pl.lit(joined).alias("routes")
            )
            if found[table]
            else TABLES[table].empty()
        )
        yield from publish(
            context,
            store,
            table,
            rows,
            {"outcome_set": outcome_set, "routes": joined},
            inputs=dict.fromkeys(INPUTS),
            arguments={
                "prices": list(routing_setting.prices),
                "judge": routing_setting.judge,
                "risk": routing_setting.risk,
            },
        )

"""Answers, grades and the quality they add up to. What calls a model stands here and nowhere else."""

from collections.abc import Iterator, Sequence
from typing import Any

import dagster as dg
import polars as pl

from apportion.judging.quality import route_quality as quality_of
from apportion.judging.sessions import judgement_rows, plan_passes, plan_sessions
from apportion.llm.requests import CallResult
from apportion.routes.answering import check_routes, outcome_rows, plan_answers
from assets.answered import check_one_ranking
from assets.calling import call_models, generator_model
from assets.checks import specs
from assets.partitions import every_batch, outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import pages_version, retrieved_pages, set_questions
from assets.resources import Answering, Warehouse
from assets.systems import system_contexts
from assets.workplace import Workplace
from warehouse.contracts import TABLES


@dg.asset(
    group_name="outcomes",
    partitions_def=outcome_sets,
    deps=["questions", "resolutions", "retrievals", every_batch("pages")],
    check_specs=specs("route_outcomes"),
    metadata={"dagster/column_schema": column_schema("route_outcomes")},
    kinds={"deltalake", "litellm"},
)
def route_outcomes(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """Every question answered on every route asked for; answers of other routes stay."""
    store = warehouse.store()
    outcome_set = context.partition_key
    asked = set_questions(store, outcome_set)
    routes = check_routes(answering.routes)
    model = generator_model(store, outcome_set, answering.model)
    ranking = {"retriever": answering.retriever, "pool": answering.pool}
    check_one_ranking(store, outcome_set, ranking, routes)
    ranked = store.read("retrievals", {"outcome_set": outcome_set, **ranking})
    contexts, before = system_contexts(
        Workplace(context, warehouse, answering, outcome_set, asked, pages_version(store, outcome_set)),
        routes,
    )
    planned = plan_answers(
        asked, ranked, retrieved_pages(store, outcome_set, ranked), routes, model, system_contexts=contexts
    )
    results = call_models(context, warehouse, answering, planned, f"answering {outcome_set}")
    rows = pl.DataFrame(
        outcome_rows(planned, results, before),
        schema=TABLES["route_outcomes"].schema,
        infer_schema_length=None,
    )
    others = store.read("route_outcomes", {"outcome_set": outcome_set}).filter(~pl.col("route").is_in(routes))
    left_out = sum(result.status == "left_out" for result in results)
    yield from publish(
        context,
        store,
        "route_outcomes",
        pl.concat([rows, others]),
        {"outcome_set": outcome_set},
        inputs={"questions": None, "retrievals": None},
        arguments={"routes": list(routes), "model": model, **ranking},
        metadata={"answers_sent": _sent(results), "left_out_for_budget": left_out, **_statuses(results)},
    )


@dg.asset(
    group_name="outcomes",
    partitions_def=outcome_sets,
    deps=["questions", "route_outcomes"],
    check_specs=specs("judgements"),
    metadata={"dagster/column_schema": column_schema("judgements")},
    kinds={"deltalake", "litellm"},
)
def judgements(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """Route-blind joint grades, three passes a session."""
    store = warehouse.store()
    outcome_set = context.partition_key
    asked = set_questions(store, outcome_set)
    outcomes = store.read("route_outcomes", {"outcome_set": outcome_set})
    where = {"outcome_set": outcome_set, "judge": answering.judge}
    earlier = store.read("judgements", where)["session"].unique().sort().to_list()
    routes = outcomes["route"].unique().sort().to_list()
    planned = [
        plan
        for session in plan_sessions(earlier, routes)
        for plan in plan_passes(asked, outcomes, session, answering.judge)
    ]
    results = call_models(context, warehouse, answering, planned, f"judging {outcome_set}")
    yield from publish(
        context,
        store,
        "judgements",
        pl.DataFrame(
            judgement_rows(planned, results, answering.judge),
            schema=TABLES["judgements"].schema,
            infer_schema_length=None,
        ),
        where,
        inputs={"questions": None, "route_outcomes": None},
        arguments={"judge": answering.judge},
        metadata={"grades_sent": _sent(results), **_statuses(results)},
    )


@dg.asset(
    group_name="outcomes",
    partitions_def=outcome_sets,
    deps=["questions", "route_outcomes", "judgements"],
    check_specs=specs("route_quality"),
    metadata={"dagster/column_schema": column_schema("route_quality")},
    kinds={"deltalake", "polars"},
)
def route_quality(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """Mean grade, majority correctness and the deterministic diagnostics of every answer."""
    store = warehouse.store()
    where = {"outcome_set": context.partition_key, "judge": answering.judge}
    rows = quality_of(
        store.read("judgements", where),
        store.read("route_outcomes", {"outcome_set": context.partition_key}),
        set_questions(store, context.partition_key),
    )
    yield from publish(
        context,
        store,
        "route_quality",
        rows,
        where,
        inputs={"questions": None, "route_outcomes": None, "judgements": None},
        arguments={"judge": answering.judge},
    )


@dg.asset(
    group_name="outcomes",
    partitions_def=outcome_sets,
    deps=["route_outcomes", "judgements", "final_answers"],
    check_specs=specs("calls"),
    metadata={"dagster/column_schema": column_schema("calls")},
    kinds={"deltalake", "sqlite"},
)
def calls(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Iterator[Any]:
    """The ledger's calls made first for this set, as a table."""
    from apportion.llm.ledger import Ledger

    ledger = Ledger(warehouse.ledger_path())
    try:
        rows = ledger.calls_rows(context.partition_key)
    finally:
        ledger.close()
    yield from publish(
        context,
        warehouse.store(),
        "calls",
        pl.DataFrame(rows, schema=TABLES["calls"].schema, infer_schema_length=None),
        {"outcome_set": context.partition_key},
        inputs={},
    )


def _sent(results: Sequence[CallResult]) -> int:
    return sum(not result.served and result.status != "left_out" for result in results)


def _statuses(results: Sequence[CallResult]) -> dict[str, int]:
    counts: dict[str, int] = {}
    for result in results:
        if result.status != "ok":
            counts[f"status_{result.status}"] = counts.get(f"status_{result.status}", 0) + 1
    return counts

"""The document-routed systems' published tables: scores by a rubric, comparisons, coverage, costs."""

from collections.abc import Callable, Iterator
from typing import Any

import dagster as dg
import polars as pl

from apportion.evaluation.coverage import coverage_summary as coverage
from apportion.evaluation.system_costs import system_costs as costs
from apportion.evaluation.systems import judge_agreement as agreement
from apportion.evaluation.systems import second_sample
from apportion.evaluation.systems import system_comparison as compare
from apportion.evaluation.systems import system_summary as summarise
from apportion.judging.rubric import by_rules, plan_rubric, rubric_rows
from assets.calling import call_models
from assets.checks import specs
from assets.partitions import outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import pages_version, set_questions
from assets.resources import Answering, Warehouse
from assets.slices import commit
from warehouse.contracts import TABLES
from warehouse.store import Store


@dg.asset(
    group_name="outcomes",
    partitions_def=outcome_sets,
    deps=["questions", "route_outcomes"],
    check_specs=specs("rubric_scores"),
    metadata={"dagster/column_schema": column_schema("rubric_scores")},
    kinds={"deltalake", "litellm"},
)
def rubric_scores(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """Every answer scored from 1 to 10; by a second judge, those of a sample of questions."""
    store, outcome_set = warehouse.store(), context.partition_key
    asked = set_questions(store, outcome_set)
    outcomes = store.read("route_outcomes", {"outcome_set": outcome_set})
    judges = [answering.judge]
    if answering.second_judge and answering.second_judge != answering.judge:
        judges.append(answering.second_judge)
    for judge in reversed(judges):
        graded = asked
        if judge != answering.judge:
            graded = asked.filter(pl.col("question_id").is_in(second_sample(asked["question_id"].to_list())))
        planned = [] if by_rules(judge) else plan_rubric(graded, outcomes, judge)
        results = (
            call_models(context, warehouse, answering, planned, f"scoring {outcome_set}") if planned else []
        )
        rows = pl.DataFrame(
            rubric_rows(graded, outcomes, judge, zip(planned, results, strict=True)),
            schema=TABLES["rubric_scores"].schema,
        )
        where = {"outcome_set": outcome_set, "judge": judge}
        made: dict[str, Any] = {
            "inputs": {"questions": None, "route_outcomes": None},
            "arguments": {"judge": judge},
        }
        if judge == answering.judge:
            yield from publish(context, store, "rubric_scores", rows, where, **made)
        else:
            commit(context, store, "rubric_scores", rows, where, **made)


Computation = Callable[[Store, str, Answering], tuple[pl.DataFrame, dict[str, str]]]


def system_table(table: str, inputs: tuple[str, ...], compute: Computation) -> dg.AssetsDefinition:
    """The asset of one published table of the systems."""

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
    def asset(context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering) -> Iterator[Any]:
        store, outcome_set = warehouse.store(), context.partition_key
        rows, extra = compute(store, outcome_set, answering)
        where = {"outcome_set": outcome_set, **extra}
        fixed = [pl.lit(value).alias(name) for name, value in where.items() if name not in rows.columns]
        filled = rows.with_columns(fixed) if rows.width else pl.DataFrame(schema=TABLES[table].schema)
        yield from publish(
            context,
            store,
            table,
            filled,
            where,
            inputs=dict.fromkeys(("questions", *inputs)),
            arguments=extra,
        )

    return asset


def _scores(store: Store, outcome_set: str, judge: str) -> pl.DataFrame:
    return store.read("rubric_scores", {"outcome_set": outcome_set, "judge": judge})


def _clusters(store: Store, outcome_set: str) -> dict[str, str]:
    """The filing of each question, else its group, else itself; for questions on several, the first cited."""
    asked = set_questions(store, outcome_set).with_columns(
        cited=pl.col("evidence").list.first().struct.field("filing_id")
    )
    return {
        row["question_id"]: row["filing_id"] or row["cited"] or row["question_group"] or row["question_id"]
        for row in asked.iter_rows(named=True)
    }


def _summary(store: Store, outcome_set: str, answering: Answering) -> tuple[pl.DataFrame, dict[str, str]]:
    outcomes = store.read("route_outcomes", {"outcome_set": outcome_set})
    scores = _scores(store, outcome_set, answering.judge)
    return summarise(scores, outcomes, _clusters(store, outcome_set)), {"judge": answering.judge}


def _comparison(store: Store, outcome_set: str, answering: Answering) -> tuple[pl.DataFrame, dict[str, str]]:
    scores = _scores(store, outcome_set, answering.judge)
    return compare(scores, _clusters(store, outcome_set)), {"judge": answering.judge}


def _agreement(store: Store, outcome_set: str, answering: Answering) -> tuple[pl.DataFrame, dict[str, str]]:
    second = answering.second_judge or ""
    scores = store.read("rubric_scores", {"outcome_set": outcome_set})
    return agreement(scores, answering.judge, second), {"judge": answering.judge, "second_judge": second}


def _coverage(store: Store, outcome_set: str, answering: Answering) -> tuple[pl.DataFrame, dict[str, str]]:
    from assets.resolving import make_resolver

    where = {"outcome_set": outcome_set}
    rows = coverage(
        set_questions(store, outcome_set),
        store.read("resolutions", where),
        store.read("route_outcomes", where),
        make_resolver(store, answering, pages_version(store, outcome_set)).tickers(),
    )
    return rows, {}


def _costs(store: Store, outcome_set: str, answering: Answering) -> tuple[pl.DataFrame, dict[str, str]]:
    where = {"outcome_set": outcome_set}
    return costs(store.read("route_outcomes", where), store.read("calls", where)), {}


system_tables = [
    system_table("system_summary", ("route_outcomes", "rubric_scores"), _summary),
    system_table("system_comparison", ("rubric_scores",), _comparison),
    system_table("judge_agreement", ("rubric_scores",), _agreement),
    system_table("coverage_summary", ("resolutions", "route_outcomes"), _coverage),
    system_table("system_costs", ("route_outcomes", "calls"), _costs),
]

SYSTEM_TABLES = tuple(asset.key.to_user_string() for asset in system_tables)
"""The tables that compare a set's systems."""

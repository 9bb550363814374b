"""Which filings each question is about, and how often that is right."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from apportion.evaluation.resolving import resolver_summary as summarise
from apportion.llm.requests import CallPurpose, CallResult, ChatRequest, is_embedded
from apportion.retrieval.queries import query_request
from apportion.retrieval.resolver.resolver import Resolution, Resolver
from apportion.retrieval.resolver.schema import SchemaResolver, read_schema
from apportion.retrieval.resolver.tables import known_companies
from apportion.routes.systems import SYSTEMS
from assets.calling import call_models, generator_model
from assets.checks import specs
from assets.partitions import every_batch, outcome_sets
from assets.provenance import current_version, last_commit
from assets.publishing import column_schema, publish
from assets.reading import corpus_version, held_filings, set_questions
from assets.resources import Answering, Warehouse
from warehouse.contracts import TABLES
from warehouse.store import Store


class QueryCall:
    """The call that rewrites one question, and names its filings where its systems ask for that."""

    def __init__(
        self, outcome_set: str, question_id: str, text: str, model: str, *, with_route: bool
    ) -> None:
        self.question_id = question_id
        self.request: ChatRequest = query_request(text, model, with_route=with_route)
        self.purpose = CallPurpose(outcome_set, question_id, None, "resolve" if with_route else "rewrite")


def router_model(store: Store, outcome_set: str, answering: Answering) -> str | None:
    """The model that reads questions; None where rules do."""
    model = answering.router or generator_model(store, outcome_set, answering.model)
    return None if is_embedded(model) else model


def query_calls(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    answering: Answering,
    outcome_set: str,
    asked: pl.DataFrame,
    *,
    with_route: bool,
) -> Mapping[str, CallResult]:
    """What a model made of each question; nothing where there is no model. Calls made before cost nothing."""
    model = router_model(warehouse.store(), outcome_set, answering)
    if model is None:
        return {}
    planned = [
        QueryCall(outcome_set, question, text, model, with_route=with_route)
        for question, text in asked.select("question_id", "text").iter_rows()
    ]
    results = call_models(context, warehouse, answering, planned, f"reading the questions of {outcome_set}")
    return {
        plan.question_id: result
        for plan, result in zip(planned, results, strict=True)
        if result.status != "left_out"
    }


def make_resolver(store: Store, answering: Answering, version: int | None) -> Resolver | SchemaResolver:
    """A resolver over a snapshot of the corpus: of filings, or of documents that a schema names."""
    held = pl.col("filing_id").is_in(held_filings(store, version))
    if answering.document_schema:
        names = store.scan("filings").filter(held).select("filing_id").collect()["filing_id"]
        return SchemaResolver(names, read_schema(Path(answering.document_schema)))
    folder = Path(answering.companies) if answering.companies else None
    return Resolver(
        store.scan("filings")
        .filter(held)
        .select(
            "filing_id",
            "company",
            "ticker",
            "cik",
            "form",
            "fiscal_year",
            "period_end",
            "filed_at",
            "amends",
            "status",
        )
        .collect()
        .iter_rows(named=True),
        known_companies(folder),
        answering.default_year,
    )


@dg.asset(
    group_name="questions",
    partitions_def=outcome_sets,
    deps=["questions", every_batch("filings")],
    check_specs=specs("resolutions"),
    metadata={"dagster/column_schema": column_schema("resolutions")},
    kinds={"deltalake", "polars"},
)
def resolutions(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """The filings that each question's words name; never what its source says of its filing.

    What a model read of a set's questions is kept, over the same questions and pages, until a route that names
    filings runs again: ranking pages must not replace it by rules.
    """
    store = warehouse.store()
    outcome_set = context.partition_key
    everything = set_questions(store, outcome_set)
    version = corpus_version(store, outcome_set, everything, refresh=answering.refresh)
    # The filing that a source names with its question goes no further than this.
    asked = everything.select("question_id", "text")
    routed = any(SYSTEMS[route].resolves for route in answering.routes if route in SYSTEMS)
    router = router_model(store, outcome_set, answering) if routed else None
    before = last_commit(store, "resolutions", outcome_set)
    if not routed and before is not None and before["arguments"].get("router"):
        now = {"questions": current_version(store, "questions", outcome_set), "pages": version}
        if before["inputs"] == now:
            # What a model was paid to read stands until a system that names filings runs again.
            yield from publish(
                context,
                store,
                "resolutions",
                store.read("resolutions", {"outcome_set": outcome_set}),
                {"outcome_set": outcome_set},
                inputs=now,
                arguments=before["arguments"],
            )
            return
    read = query_calls(context, warehouse, answering, outcome_set, asked, with_route=True) if routed else {}
    resolver = make_resolver(store, answering, version)
    rows = []
    for question, text in asked.iter_rows():
        result = read.get(question)
        found = resolver.resolve(text, None if result is None else result.parsed)
        rows.append(
            {
                "outcome_set": outcome_set,
                "question_id": question,
                "status": found.status,
                "filing_ids": list(found.filing_ids),
                "candidates": list(found.candidates),
                "tickers": list(found.tickers),
                "fiscal_years": list(found.fiscal_years),
                "missing": list(found.missing),
                "confidence": found.confidence,
            }
        )
    yield from publish(
        context,
        store,
        "resolutions",
        pl.DataFrame(rows, schema=TABLES["resolutions"].schema),
        {"outcome_set": outcome_set},
        inputs={"questions": None, "pages": version},
        arguments={
            "default_year": answering.default_year,
            "companies": answering.companies,
            "router": router,
        },
        metadata={"readings_sent": sum(not result.served for result in read.values())},
    )


def read_resolutions(store: Store, outcome_set: str) -> dict[str, Resolution]:
    """A set's resolutions by question."""
    return {
        row["question_id"]: Resolution(
            row["status"],
            tuple(row["filing_ids"]),
            tuple(row["candidates"]),
            tuple(row["tickers"]),
            tuple(row["fiscal_years"]),
            row["confidence"],
            tuple(row["missing"]),
        )
        for row in store.read("resolutions", {"outcome_set": outcome_set}).iter_rows(named=True)
    }


@dg.asset(
    group_name="questions",
    partitions_def=outcome_sets,
    deps=["questions", "resolutions"],
    check_specs=specs("resolver_summary"),
    metadata={"dagster/column_schema": column_schema("resolver_summary")},
    kinds={"deltalake", "numpy"},
)
def resolver_summary(context: dg.AssetExecutionContext, warehouse: Warehouse) -> Iterator[Any]:
    """How questions were resolved, and how often to the filing that their source names."""
    store = warehouse.store()
    where = {"outcome_set": context.partition_key}
    rows = summarise(
        set_questions(store, context.partition_key),
        store.read("resolutions", where),
        store.read("filings").select("filing_id", "company"),
    )
    yield from publish(
        context,
        store,
        "resolver_summary",
        rows.with_columns(outcome_set=pl.lit(context.partition_key)),
        where,
        inputs={"questions": None, "resolutions": None},
    )

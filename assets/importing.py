"""Outcome logs from elsewhere as an outcome set: read once, then questions, outcomes and grades, each checked."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from apportion.corpus.records import Problem
from apportion.importing.filing_tokens import count_filings
from apportion.importing.financebench_results import (
    Passages,
    questions_near,
    read_results,
)
from apportion.importing.generic import read_outcomes
from apportion.importing.litellm_log import read_litellm
from apportion.importing.records import ImportedLog
from apportion.importing.routerarena import read_routerarena
from assets.partitions import outcome_sets
from assets.provenance import last_commit
from assets.publishing import publish
from assets.resources import Warehouse
from warehouse.store import Store

FINANCEBENCH_RESULTS, ROUTERARENA, OUTCOMES, LITELLM = KINDS = (
    "financebench-results",
    "routerarena",
    "outcomes",
    "litellm",
)


class OutcomeLog(dg.ConfigurableResource):  # type: ignore[type-arg]
    """A log to import: where it is, what it is, and how to read it.

    ``model`` chooses one model of FinanceBench's results, ``pdfs`` is the folder of their filings, and
    ``context_passages`` is what a vector store is assumed to put into the context. ``mapping`` gives our field by the
    source's name of it. ``scores`` is the file that grades LiteLLM's calls.
    """

    path: str = ""
    kind: str = OUTCOMES
    model: str | None = None
    pdfs: str | None = None
    context_passages: str = "4x256"
    mapping: dict[str, str] = {}  # noqa: RUF012 - pydantic copies it for each resource
    scores: str | None = None


@dg.asset(
    group_name="outcomes",
    partitions_def=outcome_sets,
    description="A log of outcomes from elsewhere, as the questions, outcomes and grades of a set.",
    kinds={"polars", "deltalake"},
)
def imported_log(
    context: dg.AssetExecutionContext, warehouse: Warehouse, outcome_log: OutcomeLog
) -> dg.MaterializeResult[Any]:
    """Read a log once; commit its questions, then its outcomes, then its grades, each after its checks."""
    store = warehouse.store()
    outcome_set = context.partition_key
    refuse_foreign(store, outcome_set)
    log, problems = read_log(store, warehouse, outcome_log)
    arguments = {
        "imported": outcome_log.kind,
        "path": outcome_log.path,
        "mapping": dict(outcome_log.mapping),
        "context_passages": outcome_log.context_passages,
    }
    for table, rows, inputs in (
        ("questions", log.questions, ()),
        ("route_outcomes", log.outcomes, ("questions",)),
        ("route_quality", log.quality, ("questions", "route_outcomes")),
    ):
        report(
            context,
            publish(
                context,
                store,
                table,
                rows.with_columns(outcome_set=pl.lit(outcome_set)),
                {"outcome_set": outcome_set},
                inputs=dict.fromkeys(inputs),
                arguments=arguments,
            ),
        )
    kept = keep_refusals(warehouse, outcome_set, log)
    told = [*problems, *log.problems()]
    return dg.MaterializeResult(
        metadata={
            "rows_read": log.rows,
            "rows_refused": log.refusals.height,
            "questions": log.questions.height,
            "routes": log.outcomes["route"].n_unique(),
            "problems": [str(problem) for problem in told],
            "notes": list(log.notes),
            "refusals": str(kept) if kept else "",
        }
    )


def report(context: dg.AssetExecutionContext, results: Iterator[Any]) -> None:
    """Tell Dagster of checks and tables that another asset stands for: the set's, from wherever its rows came."""
    for result in results:
        if isinstance(result, dg.AssetCheckResult):
            context.log_event(
                dg.AssetCheckEvaluation(
                    asset_key=result.asset_key,
                    check_name=str(result.check_name),
                    passed=bool(result.passed),
                    severity=result.severity,
                    description=result.description,
                    metadata=result.metadata,
                )
            )
        else:
            context.log_event(
                dg.AssetMaterialization(
                    asset_key=result.asset_key, partition=context.partition_key, metadata=result.metadata
                )
            )


def refuse_foreign(store: Store, outcome_set: str) -> None:
    """Refuse a set that holds anything else than an imported log.

    Raises:
        ValueError: the set was ingested, or answered here.
    """
    commit = last_commit(store, "questions", outcome_set)
    if commit is not None and "imported" not in commit.get("arguments", {}):
        raise ValueError(f"set {outcome_set!r} was not imported; import under another name (--set NAME)")


def read_log(store: Store, warehouse: Warehouse, log: OutcomeLog) -> tuple[ImportedLog, list[Problem]]:
    """Read a log, and what its reader had to say before.

    Raises:
        ValueError: the kind is unknown, or the log cannot be read.
    """
    path = Path(log.path)
    if log.kind == OUTCOMES:
        return read_outcomes(path, log.mapping), []
    if log.kind == ROUTERARENA:
        return read_routerarena(path), []
    if log.kind == LITELLM:
        return read_litellm(path, None if log.scores is None else Path(log.scores)), []
    if log.kind != FINANCEBENCH_RESULTS or log.model is None:
        raise ValueError(f"there is no kind of log {log.kind!r}; kinds: {', '.join(KINDS)}")
    benchmark = questions_near(path)
    tokens, problems = filing_tokens(
        store, warehouse, log, [] if benchmark is None else benchmark.filings["filing_id"].to_list()
    )
    pages = store.scan("pages").select("filing_id", "page_number").collect().rows()
    read = read_results(
        path,
        log.model,
        benchmark=benchmark,
        filing_tokens=tokens,
        passages=Passages.of(log.context_passages),
        known_pages=frozenset(pages),
    )
    return read, problems


def filing_tokens(
    store: Store, warehouse: Warehouse, log: OutcomeLog, wanted: list[str]
) -> tuple[dict[str, int], list[Problem]]:
    """Tokens of whole filings: of those that are in the corpus whole, else counted from their PDFs."""
    whole = store.scan("filings").filter((pl.col("coverage") == "whole") & (pl.col("status") == "ok"))
    held = (
        store.scan("pages")
        .join(whole.select("filing_id"), on="filing_id", how="semi")
        .group_by("filing_id")
        .agg(pl.col("token_count").sum())
        .collect()
    )
    tokens = dict(held.iter_rows())
    if log.pdfs is None:
        return tokens, []
    counted, problems = count_filings(
        Path(log.pdfs),
        [name for name in wanted if name not in tokens],
        warehouse.local_folder() / "imports" / "filing-tokens.json",
    )
    return {**counted, **tokens}, problems


def keep_refusals(warehouse: Warehouse, outcome_set: str, log: ImportedLog) -> Path | None:
    """Write every refused row with its line, field, value and reason beside the tables; None where there is none."""
    path = warehouse.local_folder() / "imports" / f"{outcome_set.replace(':', '_')}-refused.csv"
    path.unlink(missing_ok=True)
    if log.refusals.is_empty():
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    log.refusals.write_csv(path)
    return path

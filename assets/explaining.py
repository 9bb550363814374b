"""Why pages stand where they do: what each signal of the retriever ``accounting`` adds, page by page and in all."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl

from apportion.retrieval.accounting.ablation import SCHEMA, signal_shares
from apportion.retrieval.accounting.covering import FIRST
from apportion.retrieval.accounting.ranker import Accounting, Explained
from apportion.retrieval.accounting.signals import COLUMNS
from apportion.retrieval.ranking import Scope
from apportion.retrieval.retrievers import ACCOUNTING
from apportion.retrieval.shards import IndexFolder
from assets.checks import specs
from assets.indices import index_filings, index_folder
from assets.partitions import every_batch, outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import DEPTH, pages_version, pool_scope, set_questions
from assets.resources import Answering, Warehouse
from warehouse.contracts import TABLES
from warehouse.store import Store


@dg.asset(
    group_name="questions",
    partitions_def=outcome_sets,
    deps=["questions", "retrievals", every_batch("pages")],
    check_specs=specs("retrieval_reasons"),
    metadata={"dagster/column_schema": column_schema("retrieval_reasons")},
    kinds={"deltalake", "sqlite"},
)
def retrieval_reasons(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """The first pages of each question and what speaks for them; empty for other retrievers."""
    store = warehouse.store()
    asked, where = set_questions(store, context.partition_key), _where(context, answering)
    rows: list[dict[str, Any]] = []
    if answering.retriever == ACCOUNTING:
        index, scope = _indexed(warehouse, store, asked, where)
        within = [None if answering.pool == "corpus" else name or "" for name in asked["filing_id"].to_list()]
        # As deep as the ranking went: among several filings, what stands first depends on how many were compared.
        explained = Accounting(index, scope).explain(asked["text"].to_list(), within, DEPTH)
        for question, pages in zip(asked["question_id"], explained, strict=True):
            rows += [_row(question, rank, one) for rank, one in enumerate(pages[:FIRST], start=1)]
    frame = pl.DataFrame(rows) if rows else TABLES["retrieval_reasons"].empty().drop(*where)
    yield from publish(
        context,
        store,
        "retrieval_reasons",
        frame.with_columns(pl.lit(value).alias(name) for name, value in where.items()),
        where,
        inputs={"questions": None, "retrievals": None},
        arguments={"retriever": answering.retriever, "pool": answering.pool},
    )


@dg.asset(
    group_name="questions",
    partitions_def=outcome_sets,
    deps=["questions", "retrievals", every_batch("pages")],
    check_specs=specs("retrieval_shares"),
    metadata={"dagster/column_schema": column_schema("retrieval_shares")},
    kinds={"deltalake", "numpy"},
)
def retrieval_shares(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """Hit rates without each signal, within the questions' filings; empty for other retrievers and the whole corpus."""
    store = warehouse.store()
    asked, where = set_questions(store, context.partition_key), _where(context, answering)
    rows = pl.DataFrame(schema=SCHEMA)
    if answering.retriever == ACCOUNTING and answering.pool != "corpus":
        index, scope = _indexed(warehouse, store, asked, where)
        rows = signal_shares(index, scope, asked)
    yield from publish(
        context,
        store,
        "retrieval_shares",
        rows.with_columns(pl.lit(value).alias(name) for name, value in where.items()),
        where,
        inputs={"questions": None, "retrievals": None},
        arguments={"retriever": answering.retriever, "pool": answering.pool},
    )


def _where(context: dg.AssetExecutionContext, answering: Answering) -> dict[str, str]:
    return {"outcome_set": context.partition_key, "retriever": answering.retriever, "pool": answering.pool}


def _indexed(
    warehouse: Warehouse, store: Store, asked: pl.DataFrame, where: dict[str, str]
) -> tuple[IndexFolder, Scope]:
    """The shards and pages of the snapshot that the set's rankings were made over."""
    version = pages_version(store, where["outcome_set"], where)
    scope = pool_scope(store, asked, where["pool"], version)
    index = index_folder(warehouse)
    index_filings(index, store, sorted(scope), version)
    return index, scope


def _row(question: str, rank: int, one: Explained) -> dict[str, Any]:
    return {
        "question_id": question,
        "rank": rank,
        "filing_id": one.page.filing_id,
        "page_number": one.page.number,
        "page_kind": one.kind,
        "line_items": sorted(one.items),
        **{COLUMNS.get(name, name): value for name, value in one.shares.items()},
    }

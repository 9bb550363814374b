"""The tagged and described variants of the chunk index, and what stands before each chunk in them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import dagster as dg
import polars as pl

from apportion.llm.requests import CallPurpose, is_embedded
from apportion.retrieval.chunk_index import ChunkIndex
from apportion.routes.describing import SEPARATOR, description, description_request, tag
from apportion.routes.prompts import ContextPage
from apportion.routes.systems import DESCRIBED, TAGGED, whole_context
from assets.calling import call_models, generator_model
from assets.chunking import chunk_folder, chunks_of
from assets.resolving import make_resolver
from assets.resources import Answering, Warehouse
from warehouse.store import Store


def describer_model(store: Store, outcome_set: str, answering: Answering) -> str | None:
    """The model that describes chunks; None where rules do."""
    model = answering.describer or generator_model(store, outcome_set, answering.model)
    return None if is_embedded(model) else model


def described_index(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    answering: Answering,
    outcome_set: str,
    variant: str,
    filings: list[str],
    version: int | None,
) -> ChunkIndex:
    """The index of a variant, made where it is missing."""
    store = warehouse.store()
    before = prefixes(context, warehouse, answering, outcome_set, variant, filings, version)
    model = describer_model(store, outcome_set, answering) if variant == DESCRIBED else None
    folder = variant if model is None else f"{variant}-{_safe(model)}"
    index = ChunkIndex(chunk_folder(warehouse, folder))
    for part in chunks_of(store, filings, version):
        texts = [
            before[filing, number] + text
            for filing, number, text in part.select("filing_id", "chunk_number", "text").iter_rows()
        ]
        index.add(part.with_columns(text=pl.Series(texts, dtype=pl.String)))
    return index


def prefixes(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    answering: Answering,
    outcome_set: str,
    variant: str,
    filings: list[str],
    version: int | None,
) -> Mapping[tuple[str, int], str]:
    """What stands before each chunk of some filings.

    A model's descriptions are calls like any other: priced and capped before they start, and made once.
    """
    store = warehouse.store()
    known = {
        row["filing_id"]: row
        for row in store.read("filings").filter(pl.col("filing_id").is_in(filings)).iter_rows(named=True)
    }
    tickers = make_resolver(store, answering, version).tickers()
    found: dict[tuple[str, int], str] = {}
    if variant == TAGGED:
        for part in chunks_of(store, filings, version):
            for filing, number in part.select("filing_id", "chunk_number").iter_rows():
                found[filing, number] = (
                    tag(known.get(filing, {"filing_id": filing}), tickers.get(filing)) + "\n"
                )
        return found
    model = describer_model(store, outcome_set, answering)
    if model is None:
        items = {
            (f, n): item
            for f, n, item in store.scan("pages", version=version)
            .filter(pl.col("filing_id").is_in(filings))
            .select("filing_id", "page_number", "item")
            .collect()
            .iter_rows()
        }
        for part in chunks_of(store, filings, version):
            for filing, number, page in part.select("filing_id", "chunk_number", "page_number").iter_rows():
                row = known.get(filing, {"filing_id": filing})
                text = description(row, tickers.get(filing), items.get((filing, page)))
                found[filing, number] = text + SEPARATOR
        return found
    return _by_model(context, warehouse, answering, outcome_set, model, filings, version)


class _Describing:
    def __init__(self, outcome_set: str, key: tuple[str, int], request: Any) -> None:
        self.key = key
        self.request = request
        self.purpose = CallPurpose(outcome_set, None, "cbr_context", "contextualise")


def _by_model(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    answering: Answering,
    outcome_set: str,
    model: str,
    filings: list[str],
    version: int | None,
) -> Mapping[tuple[str, int], str]:
    from apportion.llm.windows import context_window

    store = warehouse.store()
    window = answering.window or context_window(model)
    pages = (
        store.scan("pages", version=version)
        .filter(pl.col("filing_id").is_in(filings))
        .select("filing_id", "page_number", "text", "token_count")
        .collect()
    )
    whole: dict[str, tuple[ContextPage, ...]] = {
        filing: whole_context([filing], pages.filter(pl.col("filing_id") == filing), window)
        for filing in filings
    }
    planned = [
        _Describing(outcome_set, (filing, number), description_request(whole[filing], text, model))
        for part in chunks_of(store, filings, version)
        for filing, number, text in part.select("filing_id", "chunk_number", "text").iter_rows()
    ]
    results = call_models(context, warehouse, answering, planned, "describing chunks")
    return {
        # A chunk whose description failed or wasn't paid for is indexed as it is.
        plan.key: (result.text or "").strip() + SEPARATOR if result.status == "ok" else ""
        for plan, result in zip(planned, results, strict=True)
    }


def _safe(model: str) -> str:
    from apportion.corpus.records import safe_name

    return safe_name(model)

"""What the document-routed systems find and read. They search every filing of the corpus."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import polars as pl

from apportion.llm.requests import CallPurpose, CallResult
from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.chunk_search import ChunkSearch, FusedScore, Search
from apportion.retrieval.embedding import LOCAL
from apportion.retrieval.latent import LatentVectors
from apportion.retrieval.nearest import ChunkVectors
from apportion.retrieval.queries import SearchQuery, lexical_query, read_query
from apportion.retrieval.ranking import Ranked
from apportion.retrieval.resolver.resolver import Resolution
from apportion.routes.prompts import ContextPage
from apportion.routes.systems import (
    CHUNKED,
    PLAIN,
    SYSTEMS,
    plan_search,
    read_chunks,
    searched_apart,
    whole_context,
)
from apportion.routes.verifying import CHECKED, RETRIES, anchored, mostly_of, verdict, verify_request
from assets.calling import call_models, generator_model
from assets.chunking import chunk_texts
from assets.describing import describer_model, prefixes
from assets.embedding import ModelReranker, model_vectors
from assets.reading import pages_version
from assets.resolving import make_resolver, query_calls, read_resolutions, router_model
from assets.resources import Answering, Warehouse
from assets.workplace import Workplace
from warehouse.store import Store

Calls = dict[tuple[str, str], list[CallResult]]
"""The calls made for a question before a route could answer it, by question and route."""


def chunk_vectors(work: Workplace, index: ChunkIndex, variant: str) -> ChunkVectors:
    """The vectors that the settings ask for."""
    if work.answering.embedder == LatentVectors.name:
        return LatentVectors(index)
    return model_vectors(work, index, variant)


def system_queries(work: Workplace, system: str) -> tuple[dict[str, SearchQuery], Mapping[str, CallResult]]:
    """What a system searches for each question, and the calls that said so."""
    made: Mapping[str, CallResult] = {}
    if router_model(work.store, work.outcome_set, work.answering) is not None:
        made = query_calls(
            work.context,
            work.warehouse,
            work.answering,
            work.outcome_set,
            work.asked.select("question_id", "text"),
            with_route=SYSTEMS[system].resolves,
        )
    queries = {
        question: read_query(text, made[question].parsed) if question in made else lexical_query(text)
        for question, text in work.asked.select("question_id", "text").iter_rows()
    }
    return queries, made


def searched_by(store: Store, outcome_set: str, answering: Answering, system: str) -> dict[str, str]:
    """The models that a system's search calls, by what they do; empty where rules and the latent vectors do it all."""
    models = {
        "router": router_model(store, outcome_set, answering),
        "describer": describer_model(store, outcome_set, answering) if system == "cbr_context" else None,
        "embedder": None if answering.embedder == LatentVectors.name else answering.embedder,
        "reranker": None if answering.reranker == FusedScore.name else answering.reranker,
    }
    return {part: model for part, model in models.items() if model is not None}


def search_system(work: Workplace, system: str) -> tuple[dict[str, list[Ranked]], Calls]:
    """The ranked chunks of every question, and the calls that it took to find them."""
    queries, made = system_queries(work, system)
    calls: Calls = {(question, system): [result] for question, result in made.items()}
    resolutions = read_resolutions(work.store, work.outcome_set)
    variant = SYSTEMS[system].variant
    if variant is None:
        return {}, calls
    index = work.index(variant)
    corpus = index.filings
    reranker = _reranker(work, variant)
    search = ChunkSearch(index, chunk_vectors(work, index, variant), reranker)
    questions = work.asked["question_id"].to_list()
    searches = [plan_search(system, queries[q], resolutions.get(q), corpus) for q in questions]
    found = dict(zip(questions, search.find(searches), strict=True))
    if system == "agentic":
        _verify(work, search, queries, resolutions, found, calls)
    if reranker is not None:
        for question in questions:
            asked = [queries[question].text]
            tickers = resolutions[question].tickers if question in resolutions else ()
            if system == "agentic" and tickers:
                asked.append(anchored(queries[question], tickers[0]).text)
            for text in asked:
                calls.setdefault((question, system), []).extend(reranker.calls.get(text, []))
    return found, calls


def _reranker(work: Workplace, variant: str) -> ModelReranker | None:
    if work.answering.reranker == FusedScore.name:
        return None
    return ModelReranker(work, variant)


def _verify(
    work: Workplace,
    search: ChunkSearch,
    queries: Mapping[str, SearchQuery],
    resolutions: Mapping[str, Resolution],
    found: dict[str, list[Ranked]],
    calls: Calls,
) -> None:
    """Check what was found, and search again where it is of another company; the last search stands."""
    model = router_model(work.store, work.outcome_set, work.answering)
    resolver = make_resolver(work.store, work.answering, work.version)
    texts = dict(work.asked.select("question_id", "text").iter_rows())
    named = {q: one.tickers for q, one in resolutions.items() if one.tickers and q in found}
    open_ones = sorted(named)
    for attempt in range(RETRIES + 1):
        if model is None:
            belongs = {
                q: mostly_of(
                    [one.filing_id for one in found[q]],
                    resolver.filings_of(named[q][:1] if work.answering.verifier == "one" else named[q]),
                )
                for q in open_ones
            }
        else:
            belongs = _ask(work, model, {q: named[q] for q in open_ones}, found, calls)
        open_ones = [q for q in open_ones if not belongs[q]]
        if not open_ones or attempt == RETRIES:
            break
        again = [
            Search(anchored(queries.get(q) or lexical_query(texts[q]), named[q][0]), tuple(search.filings))
            for q in open_ones
        ]
        found.update(zip(open_ones, search.find(again), strict=True))


class _VerifyCall:
    def __init__(self, outcome_set: str, question: str, request: Any) -> None:
        self.question_id = question
        self.request = request
        self.purpose = CallPurpose(outcome_set, question, "agentic", "verify")


def _ask(
    work: Workplace,
    model: str,
    named: Mapping[str, Sequence[str]],
    found: Mapping[str, list[Ranked]],
    calls: Calls,
) -> dict[str, bool]:
    first = {q: found[q][:CHECKED] for q in named}
    keys = [(one.filing_id, one.number) for ranked in first.values() for one in ranked]
    texts = chunk_texts(work.store, _keys(keys), work.version)
    planned = [
        _VerifyCall(
            work.outcome_set,
            q,
            verify_request(
                named[q],
                [
                    ContextPage(one.filing_id, one.number, texts[one.filing_id, one.number])
                    for one in first[q]
                ],
                model,
                work.answering.verifier,
            ),
        )
        for q in named
        if first[q]
    ]
    results = call_models(
        work.context, work.warehouse, work.answering, planned, f"verifying {work.outcome_set}"
    )
    belongs = dict.fromkeys(named, True)
    for plan, result in zip(planned, results, strict=True):
        if result.status != "left_out":
            calls.setdefault((plan.question_id, "agentic"), []).append(result)
            belongs[plan.question_id] = verdict(result.parsed)
    return belongs


def _keys(keys: Sequence[tuple[str, int]]) -> pl.DataFrame:
    return pl.DataFrame(keys, schema={"filing_id": pl.String, "chunk_number": pl.Int64}, orient="row")


def ranking_rows(work: Workplace, found: Mapping[str, Sequence[Ranked]]) -> pl.DataFrame:
    """Rows of `retrievals` but for set, retriever and pool."""
    pages = work.pages_of()
    return pl.DataFrame(
        [
            (q, rank, one.filing_id, pages[one.filing_id, one.number], one.number, one.score)
            for q, ranked in found.items()
            for rank, one in enumerate(ranked, start=1)
        ],
        schema={
            "question_id": pl.String,
            "rank": pl.Int64,
            "filing_id": pl.String,
            "page_number": pl.Int64,
            "chunk_number": pl.Int64,
            "score": pl.Float64,
        },
        orient="row",
    )


def searched_contexts(
    store: Store, answering: Answering, asked: pl.DataFrame, outcome_set: str, system: str
) -> dict[str, tuple[ContextPage, ...]]:
    """What a system reads for questions that it has searched for before.

    Raises:
        ValueError: it hasn't.
    """

    work = Workplace(
        None, Warehouse(root=store.root), answering, outcome_set, asked, pages_version(store, outcome_set)
    )
    where = {"outcome_set": outcome_set, "retriever": system, "pool": "corpus"}
    if system in CHUNKED and store.read("retrievals", where).is_empty():
        raise ValueError(
            f"{system} has not searched for set {outcome_set!r}; "
            f"`apportion retrieve --set {outcome_set} --retriever {system}` first"
        )
    return _chunk_contexts(work, system) if system in CHUNKED else _whole_contexts(work, system)


Contexts = dict[str, dict[str, tuple[ContextPage, ...]]]


def system_contexts(work: Workplace, routes: Sequence[str]) -> tuple[Contexts, Calls]:
    """What each system reads for each question, and the calls made on the way; those made before are not paid again."""
    contexts: Contexts = {}
    calls: Calls = {}
    by_model = router_model(work.store, work.outcome_set, work.answering) is not None
    reranked = work.answering.reranker not in (FusedScore.name, LOCAL)
    for route in routes:
        if route not in SYSTEMS:
            continue
        if (by_model or reranked) and route != "full_filing":
            # What was spent while searching is known only by searching again, which the ledger serves.
            searched = route == "agentic" or (reranked and route in CHUNKED)
            _, made = search_system(work, route) if searched else ({}, _read_calls(work, route))
            calls |= made
        contexts[route] = _chunk_contexts(work, route) if route in CHUNKED else _whole_contexts(work, route)
    return contexts, calls


def _read_calls(work: Workplace, route: str) -> Calls:
    _, made = system_queries(work, route)
    return {(question, route): [result] for question, result in made.items()}


def _chunk_contexts(work: Workplace, system: str) -> dict[str, tuple[ContextPage, ...]]:
    ranked = work.store.read(
        "retrievals", {"outcome_set": work.outcome_set, "retriever": system, "pool": "corpus"}
    )
    resolutions = read_resolutions(work.store, work.outcome_set) if system == "hdrr" else {}
    read: dict[str, list[Mapping[str, Any]]] = {}
    for part in ranked.sort("question_id", "rank").partition_by("question_id", maintain_order=True):
        question = part["question_id"][0]
        apart = searched_apart(resolutions.get(question))
        read[question] = read_chunks(part.rows(named=True), apart=apart)
    keys = _keys([(row["filing_id"], row["chunk_number"]) for rows in read.values() for row in rows])
    texts = chunk_texts(work.store, keys, work.version)
    before = _prefixes(work, system, keys)
    return {
        question: tuple(
            ContextPage(
                row["filing_id"],
                row["page_number"],
                before(row["filing_id"], row["chunk_number"]) + texts[row["filing_id"], row["chunk_number"]],
            )
            for row in rows
        )
        for question, rows in read.items()
    }


def _prefixes(work: Workplace, system: str, keys: pl.DataFrame) -> Callable[[str, int], str]:
    variant = SYSTEMS[system].variant or PLAIN
    if variant == PLAIN or keys.is_empty():
        return lambda filing, number: ""
    held = prefixes(
        work.context,
        work.warehouse,
        work.answering,
        work.outcome_set,
        variant,
        keys["filing_id"].unique().sort().to_list(),
        work.version,
    )
    return lambda filing, number: held[filing, number]


def _whole_contexts(work: Workplace, route: str) -> dict[str, tuple[ContextPage, ...]]:
    if route == "full_filing":
        wanted = {
            q: [f] for q, f in work.asked.select("question_id", "filing_id").iter_rows() if f is not None
        }
    else:
        wanted = {
            q: list(one.filing_ids) for q, one in read_resolutions(work.store, work.outcome_set).items()
        }
    window = _window(work)
    names = sorted({filing for filings in wanted.values() for filing in filings})
    pages = (
        work.store.scan("pages", version=work.version)
        .filter(pl.col("filing_id").is_in(names))
        .select("filing_id", "page_number", "text", "token_count")
        .collect()
    )
    held = {part["filing_id"][0]: part for part in pages.partition_by("filing_id")}
    made: dict[tuple[str, ...], tuple[ContextPage, ...]] = {}
    contexts = {}
    for question, filings in wanted.items():
        key = tuple(filing for filing in filings if filing in held)
        if key not in made:
            made[key] = whole_context(
                key, pl.concat([held[f] for f in key]) if key else pages.clear(), window
            )
        contexts[question] = made[key]
    return contexts


def _window(work: Workplace) -> int:
    from apportion.llm.windows import context_window

    model = generator_model(work.store, work.outcome_set, work.answering.model)
    return work.answering.window or context_window(model)

"""Questions of a set, and the pages that retrieval ranks for them."""

import difflib
from collections.abc import Collection, Iterator
from typing import Any

import dagster as dg
import polars as pl

from apportion.corpus.placing import place
from apportion.corpus.records import Problem
from apportion.retrieval.retrievers import RETRIEVERS, check_retriever, rank_within_filings
from apportion.retrieval.summary import retrieval_summary as summarise
from apportion.routes.systems import CHUNKED
from assets.checks import specs
from assets.indices import index_filings, index_folder
from assets.partitions import every_batch, outcome_sets
from assets.provenance import current_version, last_commit
from assets.publishing import column_schema, publish
from assets.reading import DEPTH, corpus_version, filing_coverage, pool_scope, set_questions
from assets.resources import Answering, Source, Warehouse
from assets.slices import commit
from assets.sources import read_source
from assets.systems import ranking_rows, search_system, searched_by
from assets.workplace import Workplace
from warehouse.contracts import POOLS
from warehouse.store import Store

SHOWN_PROBLEMS = 3
"""Reasons that are told where nothing could be taken in."""


@dg.asset(
    group_name="questions",
    partitions_def=outcome_sets,
    deps=[every_batch("filings"), every_batch("pages")],
    check_specs=specs("questions"),
    metadata={"dagster/column_schema": column_schema("questions")},
    kinds={"deltalake", "polars"},
)
def questions(context: dg.AssetExecutionContext, warehouse: Warehouse, source: Source) -> Iterator[Any]:
    """Questions whose filings and cited pages are in the corpus."""
    store = warehouse.store()
    read, arguments = read_source(store, source, "questions", context.partition_key)
    filings = store.read("filings")
    placed = place(read, filings)
    kept, problems = _known_only(
        placed.questions, filings, store, str(arguments.get("path", arguments["kind"]))
    )
    if kept.is_empty() and (read.problems or problems):
        told = "; ".join(str(problem) for problem in [*read.problems, *problems][:SHOWN_PROBLEMS])
        raise ValueError(f"not one question can be taken in: {told}")
    yield from publish(
        context,
        store,
        "questions",
        kept.with_columns(outcome_set=pl.lit(context.partition_key)),
        {"outcome_set": context.partition_key},
        inputs={"filings": None, "pages": None},
        arguments={**arguments, "sha256": read.sha256},
        problems=[*read.problems, *problems],
    )


def _near(filing: str, known: Collection[str]) -> str:
    lowered = {name.lower(): name for name in sorted(known, reverse=True)}
    near = difflib.get_close_matches(filing.lower(), lowered, n=1)
    return f", or did you mean {lowered[near[0]]}?" if near else ""


def _known_only(
    asked: pl.DataFrame, filings: pl.DataFrame, store: Store, source: str
) -> tuple[pl.DataFrame, list[Problem]]:
    """Questions whose filing is known and whose cited pages exist, and a line for each of the others."""
    known = set(filings["filing_id"])
    wanted = asked["filing_id"].drop_nulls().unique().to_list()
    pages = set(
        store.scan("pages")
        .filter(pl.col("filing_id").is_in(wanted))
        .select("filing_id", "page_number")
        .collect()
        .rows()
    )
    problems = []
    kept = []
    for row in asked.iter_rows(named=True):
        cited = [(page["filing_id"], page["page_number"]) for page in row["evidence"]]
        missing = next((page for page in cited if page[0] in wanted and page not in pages), None)
        if row["filing_id"] is not None and row["filing_id"] not in known:
            problems.append(
                Problem(
                    source,
                    None,
                    f"question {row['question_id']}: filing",
                    row["filing_id"],
                    "not in the corpus; ingest it first" + _near(row["filing_id"], known),
                )
            )
        elif missing is not None:
            problems.append(
                Problem(
                    source,
                    None,
                    f"question {row['question_id']}: page",
                    f"{missing[1]} of {missing[0]}",
                    "out of range of that filing",
                )
            )
        else:
            kept.append(row["question_id"])
    return asked.filter(pl.col("question_id").is_in(kept)), problems


@dg.asset(
    group_name="questions",
    partitions_def=outcome_sets,
    deps=["questions", "resolutions", every_batch("pages")],
    check_specs=specs("retrievals"),
    metadata={"dagster/column_schema": column_schema("retrievals")},
    kinds={"deltalake", "scikitlearn"},
)
def retrievals(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """The first pages of each question's filing, ranked, and the chunks that document-routed systems find.

    Rules find both; a model is called only where the settings name one for the systems.
    """
    store = warehouse.store()
    outcome_set = context.partition_key
    asked = set_questions(store, outcome_set)
    if answering.pool not in POOLS:
        raise ValueError(f"there is no pool {answering.pool!r}; pools: {', '.join(POOLS)}")
    systems = [answering.retriever] if answering.retriever in CHUNKED else []
    systems += [route for route in answering.routes if route in CHUNKED and not systems]
    if systems:
        pinned = corpus_version(store, outcome_set, asked, refresh=answering.refresh)
        work = Workplace(context, warehouse, answering, outcome_set, asked, pinned)
    for system in systems:
        slice_of = {"outcome_set": outcome_set, "retriever": system, "pool": "corpus"}
        models = searched_by(store, outcome_set, answering, system)
        kept = (
            last_commit(store, "retrievals", outcome_set, slice_of) if system == answering.retriever else None
        )
        if kept is not None and kept["arguments"].get("models") and not models:
            now = {name: current_version(store, name, outcome_set) for name in ("questions", "resolutions")}
            if kept["inputs"] == {**now, "pages": pinned}:
                yield from publish(
                    context,
                    store,
                    "retrievals",
                    store.read("retrievals", slice_of),
                    slice_of,
                    inputs=kept["inputs"],
                    arguments=kept["arguments"],
                    problems=[
                        Problem(
                            f"set {outcome_set}",
                            None,
                            "ranking",
                            system,
                            f"kept as found with {', '.join(sorted(set(kept['arguments']['models'].values())))}; "
                            f"`apportion run --routes {system}` searches again",
                            refused=False,
                        )
                    ],
                )
                return
        found, _ = search_system(work, system)
        rows = ranking_rows(work, found).with_columns(
            outcome_set=pl.lit(outcome_set), retriever=pl.lit(system), pool=pl.lit("corpus")
        )
        made: dict[str, Any] = {
            "inputs": {"questions": None, "resolutions": None, "pages": pinned},
            "arguments": {
                "retriever": system,
                "pool": "corpus",
                "embedder": answering.embedder,
                "models": models,
            },
        }
        if system == answering.retriever:
            yield from publish(context, store, "retrievals", rows, slice_of, **made)
            return
        commit(context, store, "retrievals", rows, slice_of, **made)
    retriever = check_retriever(answering.retriever)
    version = corpus_version(store, outcome_set, asked, refresh=answering.refresh)
    scope = pool_scope(store, asked, answering.pool, version)
    index = index_folder(warehouse)
    _, indexed = index_filings(index, store, sorted(scope), version)
    texts, filings = asked["text"].to_list(), asked["filing_id"].to_list()
    if answering.pool == "filing":
        rankings = rank_within_filings(retriever, index, scope, texts, filings, DEPTH)
    else:
        # In the corpus every page is searched; among cited pages a question without a filing has none to stay within.
        within = [None if answering.pool == "corpus" else name or "" for name in filings]
        rankings = RETRIEVERS[retriever](index, scope).rank(texts, within, DEPTH)
    ranked = pl.DataFrame(
        [
            {
                "question_id": question,
                "rank": rank,
                "filing_id": page.filing_id,
                "page_number": page.number,
                "score": page.score,
            }
            for question, ranking in zip(asked["question_id"], rankings, strict=True)
            for rank, page in enumerate(ranking, start=1)
        ],
        schema={
            "question_id": pl.String,
            "rank": pl.Int64,
            "filing_id": pl.String,
            "page_number": pl.Int64,
            "score": pl.Float64,
        },
    )
    rows = ranked.with_columns(
        outcome_set=pl.lit(outcome_set), retriever=pl.lit(retriever), pool=pl.lit(answering.pool)
    )
    unanswerable = asked.join(ranked, on="question_id", how="anti")["question_id"].to_list()
    yield from publish(
        context,
        store,
        "retrievals",
        rows,
        {"outcome_set": outcome_set, "retriever": answering.retriever, "pool": answering.pool},
        inputs={"questions": None, "pages": version},
        arguments={"retriever": answering.retriever, "pool": answering.pool, "depth": DEPTH},
        problems=[
            Problem(
                f"set {outcome_set}",
                None,
                "question",
                name,
                "no page in its scope; it is answered without one",
                refused=False,
            )
            for name in unanswerable
        ],
        metadata={"pages_indexed": indexed},
    )


@dg.asset(
    group_name="questions",
    partitions_def=outcome_sets,
    deps=["questions", "retrievals", every_batch("filings")],
    check_specs=specs("retrieval_summary"),
    metadata={"dagster/column_schema": column_schema("retrieval_summary")},
    kinds={"deltalake", "numpy"},
)
def retrieval_summary(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering
) -> Iterator[Any]:
    """How often the pages that hold the answer are found."""
    store = warehouse.store()
    where = {
        "outcome_set": context.partition_key,
        "retriever": answering.retriever,
        "pool": "corpus" if answering.retriever in CHUNKED else answering.pool,
    }
    asked = set_questions(store, context.partition_key)
    coverage = filing_coverage(
        store, context.partition_key, asked["filing_id"].drop_nulls().unique().to_list()
    )
    rows = summarise(asked, store.read("retrievals", where), coverage)
    yield from publish(
        context,
        store,
        "retrieval_summary",
        rows.with_columns(pl.lit(value).alias(name) for name, value in where.items()),
        where,
        inputs={"questions": None, "retrievals": None},
        arguments={"retriever": answering.retriever, "pool": where["pool"]},
    )

"""`apportion retrieve`: rank pages for a set's questions and say how often the right one is found."""

from __future__ import annotations

import polars as pl

from apportion.defaults import READER
from apportion.progress import listen
from apportion.retrieval.retrievers import RETRIEVERS
from apportion.routes.systems import CHUNKED
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import check_ranking, check_set, names, unknown
from orchestration.instance import open_instance
from orchestration.output import Format, ProgressBar, say, show
from orchestration.running import quiet, run_job
from warehouse.store import Store

COLUMNS = (
    "retriever",
    "pool",
    "coverage",
    "k",
    "questions",
    "hit_rate",
    "ci_low",
    "ci_high",
    "all_pages_rate",
    "mrr",
    "right_filing_share",
)


def retrieve_set(outcome_set: str, retrievers: str, pool: str, *, refresh: bool, layout: Format) -> None:
    """Rank with each retriever and print `retrieval_summary`.

    Raises:
        CallError: there is no such set, retriever or pool.
    """
    chosen = names(retrievers)
    known = (*RETRIEVERS, *CHUNKED)
    for name in chosen:
        if name not in known:
            wrong = f"--retriever {retrievers}: there is no retriever {name!r}"
            raise unknown(wrong, name, known, "retrievers")
    if not chosen:
        raise CallError("--retriever: name one or more, joined by commas")
    check_ranking(None, pool)
    check_set(outcome_set)
    quiet()
    with open_instance() as instance, listen(ProgressBar()):
        for name in chosen:
            # Rules read the questions here, whatever model answered the set: no model is called.
            settings = {
                "answering": {
                    "retriever": name,
                    "pool": pool,
                    "refresh": refresh,
                    "router": READER,
                    "describer": READER,
                }
            }
            for line in run_job(instance, "retrieve", outcome_set, settings).problems:
                say(line)
    refresh_catalogue()
    summary = Store().read("retrieval_summary", {"outcome_set": outcome_set})
    summary = summary.filter(
        pl.col("retriever").is_in(chosen),
        (pl.col("pool") == pool) | pl.col("retriever").is_in(CHUNKED),
    )
    if summary.is_empty():
        say(f"set {outcome_set}: ranked; no question has cited pages, so hits cannot be counted")
        return
    if layout is Format.table:
        summary = summary.filter(pl.col("family") == "all")
    show(summary, layout, title=f"Retrieval, set {outcome_set}", columns=COLUMNS)

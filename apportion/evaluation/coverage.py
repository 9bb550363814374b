"""Questions on several companies: does every one of them reach the context and the answer (section 6.6)?"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

STAGES = ("routing", "retrieval", "answer")


def coverage_summary(
    questions: pl.DataFrame, resolutions: pl.DataFrame, outcomes: pl.DataFrame, tickers: Mapping[str, str]
) -> pl.DataFrame:
    """Rows of `coverage_summary` but for the set, over the questions whose evidence is of several companies.

    Args:
        questions: rows of `questions`; the companies named are those of the filings that the evidence cites.
        resolutions: rows of `resolutions`.
        outcomes: rows of `route_outcomes`.
        tickers: the ticker of each filing.

    Routing is counted once, under the route ``*``: the resolver is the same for all.
    """
    named = {
        row["question_id"]: wanted
        for row in questions.iter_rows(named=True)
        if len(wanted := {tickers[p["filing_id"]] for p in row["evidence"] if p["filing_id"] in tickers}) > 1
    }
    resolved = {
        q: {tickers.get(f) for f in filings}
        for q, filings in resolutions.select("question_id", "filing_ids").iter_rows()
    }
    rows: list[dict[str, Any]] = []
    if named:
        rows.append(
            _row("*", "routing", [_share(w, resolved.get(q, set())) for q, w in sorted(named.items())])
        )
    for part in outcomes.sort("route", "question_id").partition_by("route", maintain_order=True):
        retrieved, answered = [], []
        for row in part.iter_rows(named=True):
            if row["question_id"] not in named:
                continue
            wanted = named[row["question_id"]]
            retrieved.append(_share(wanted, {tickers.get(page["filing_id"]) for page in row["context"]}))
            answered.append(_share(wanted, {t for t in wanted if _stands_in(t, row["answer"] or "")}))
        if retrieved:
            rows.append(_row(part["route"][0], "retrieval", retrieved))
            rows.append(_row(part["route"][0], "answer", answered))
    return pl.DataFrame(
        rows,
        schema={
            "route": pl.String,
            "stage": pl.String,
            "questions": pl.Int64,
            "coverage": pl.Float64,
            "full": pl.Int64,
        },
    )


def _share(wanted: set[str], found: set[str | None]) -> float:
    return len(wanted & found) / len(wanted)


def _stands_in(ticker: str, answer: str) -> bool:
    return re.search(rf"(?<![A-Za-z0-9]){re.escape(ticker)}(?![A-Za-z0-9])", answer) is not None


def _row(route: str, stage: str, shares: Sequence[float]) -> dict[str, Any]:
    return {
        "route": route,
        "stage": stage,
        "questions": len(shares),
        "coverage": sum(shares) / len(shares),
        "full": sum(share == 1.0 for share in shares),
    }

"""What the report says of a set's retrieval: hit rates, what each signal adds, and one question's first pages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from apportion.report.page import Part, Section
from apportion.retrieval.accounting.signals import SIGNAL_COLUMNS

SHOWN_DEPTHS = (1, 5, 20)
KEYS = ("outcome_set", "retriever", "pool")


def retrieval_section(
    outcome_set: str,
    questions: pl.DataFrame,
    summary: pl.DataFrame,
    shares: pl.DataFrame,
    reasons: pl.DataFrame,
    question: str | None = None,
) -> Section:
    """The section of one set whose pages were ranked.

    Args:
        outcome_set: its name.
        questions, summary, shares, reasons: its rows of `questions`, `retrieval_summary`, `retrieval_shares` and
            `retrieval_reasons`, the last two of one pool, and empty where the retriever ``accounting`` wasn't asked.
        question: the id of the question whose pages are explained; the first one that has pages by default.
    """
    parts = [
        Part(
            "Questions with a cited page among the first k",
            "Intervals are over filings. all_pages_rate counts questions with every cited page among the first k.",
            _of_depths(summary).drop("outcome_set"),
        )
    ]
    if not shares.is_empty():
        parts.append(
            Part(
                "What each signal adds",
                "The hit rate with all signals less that without one, paired by question.",
                _of_depths(shares).filter(pl.col("family") == "all").drop(*KEYS, "family"),
            )
        )
    shown = _shown(questions, reasons, question)
    if shown is not None:
        parts.append(_explained(shown, reasons))
    return Section(f"{outcome_set}: retrieval", _findings(summary), parts)


def _of_depths(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.filter(pl.col("k").is_in(SHOWN_DEPTHS))


def _shown(questions: pl.DataFrame, reasons: pl.DataFrame, wanted: str | None) -> Mapping[str, Any] | None:
    there = questions.join(reasons.select("question_id").unique(), on="question_id", how="semi")
    if wanted is not None:
        there = there.filter(pl.col("question_id") == wanted)
    return None if there.is_empty() else there.sort("question_id").row(0, named=True)


def _explained(question: Mapping[str, Any], reasons: pl.DataFrame) -> Part:
    cited = pl.DataFrame(
        [(page["filing_id"], page["page_number"], "yes") for page in question["evidence"] or ()],
        schema={"filing_id": pl.String, "page_number": pl.Int64, "cited": pl.String},
        orient="row",
    )
    pages = (
        reasons.filter(pl.col("question_id") == question["question_id"])
        .sort("rank")
        .join(cited, on=["filing_id", "page_number"], how="left", maintain_order="left")
        .select(
            "rank",
            "filing_id",
            "page_number",
            "page_kind",
            pl.col("line_items").list.join(", "),
            pl.sum_horizontal(SIGNAL_COLUMNS).alias("score"),
            *SIGNAL_COLUMNS,
            pl.col("cited").fill_null(""),
        )
    )
    return Part(
        f"Why these pages: question {question['question_id']}",
        f"{question['text']} — Each column is what a signal adds to the score. The first pages are chosen as a set that"
        " covers the wanted line items, so a lower score may stand before a higher one.",
        pages,
    )


def _findings(summary: pl.DataFrame) -> list[str]:
    said = []
    for row in summary.filter(pl.col("family") == "all", pl.col("k") == 1).iter_rows(named=True):
        five = summary.filter(
            pl.col("family") == "all",
            pl.col("k") == 5,
            pl.col("retriever") == row["retriever"],
            pl.col("pool") == row["pool"],
            pl.col("coverage") == row["coverage"],
        )
        first = f"{row['retriever']} finds a cited page first for {row['hit_rate']:.0%}"
        also = f" and in the first five for {five['hit_rate'][0]:.0%}" if not five.is_empty() else ""
        said.append(f"{first}{also} of {row['questions']} questions (pool {row['pool']}, {row['coverage']}).")
    return said

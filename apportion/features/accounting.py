"""What knowledge of accounting says of the pages that a question's routes read, before the deeper call is made.

Only for rankings of the retriever ``accounting``: with another one the columns are null, and no model learns from them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from apportion.corpus.statement_rows import page_lines, rows_of
from apportion.retrieval.accounting.wants import NAMED, Wants, wants_of

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "page_kind_wanted": pl.Float64,
    "items_printed_cheap": pl.Float64,
    "items_printed_deep": pl.Float64,
    "statements_missing": pl.Int64,
    "period_shown": pl.Float64,
}


def accounting_signals(
    questions: pl.DataFrame,
    retrievals: pl.DataFrame,
    pages: pl.DataFrame,
    cheap_depth: int,
    deep_depth: int,
) -> pl.DataFrame:
    """One row a question, in the order of ``questions``.

    Args:
        questions: question_id and text.
        retrievals: rows of `retrievals` of one retriever and pool.
        pages: rows of `pages` that hold the retrieved ones.
        cheap_depth, deep_depth: pages that either route reads.

    Returns:
        The group ``accounting`` of :data:`apportion.features.signals.SIGNAL_GROUPS`: how likely the first page's kind
        holds the answer, by the likeliest there can be; shares of the wanted line items that the pages of
        either route print, null where none is wanted; statements that the formula needs and the deeper route lacks; the
        share of the asked years that head columns of the cheap route's pages, null where none is asked.
    """
    known = {(row["filing_id"], row["page_number"]): row for row in pages.iter_rows(named=True)}
    ranked: dict[str, list[Mapping[str, Any]]] = {}
    for row in retrievals.sort("question_id", "rank").iter_rows(named=True):
        page = known.get((row["filing_id"], row["page_number"]))
        if page is not None and row["rank"] <= deep_depth:
            ranked.setdefault(row["question_id"], []).append(page)
    rows = [
        _signals(wants_of(text), ranked.get(question, []), cheap_depth)
        for question, text in questions.select("question_id", "text").iter_rows()
    ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _signals(wants: Wants, deep: Sequence[Mapping[str, Any]], cheap_depth: int) -> dict[str, Any]:
    if not deep:
        return dict.fromkeys(SCHEMA)
    cheap = deep[:cheap_depth]
    years = {year for page in cheap for year in page["fiscal_years"] or ()}
    kinds = {page["page_kind"] for page in deep}
    return {
        "page_kind_wanted": wants.pages.get(deep[0]["page_kind"], 0.0) / NAMED,
        "items_printed_cheap": _printed(wants, cheap),
        "items_printed_deep": _printed(wants, deep),
        "statements_missing": len(wants.needed_statements - kinds),
        "period_shown": sum(year in years for year in wants.years) / len(wants.years)
        if wants.years
        else None,
    }


def _printed(wants: Wants, pages: Sequence[Mapping[str, Any]]) -> float | None:
    if not wants.items:
        return None
    printed = {item for page in pages for item in rows_of(page_lines(page["text"]))}
    return len(wants.items & printed) / len(wants.items)

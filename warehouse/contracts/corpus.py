"""Filings, pages, chunks; questions, retrievals, resolutions; and what was found."""

from __future__ import annotations

import polars as pl

from warehouse.contracts.shared import (
    ACCOUNTING_SIGNALS,
    BATCH,
    COVERAGE,
    FILING,
    PAGE,
    PAGE_KINDS,
    POOLS,
    QUESTION,
    QUESTIONS,
    RESOLUTION_STATUSES,
    SET,
    SIGNAL_COLUMNS,
    interval,
)
from warehouse.schema import Column, Table, flag, pages, real, share, text, whole

CORPUS = (
    Table(
        "filings",
        "one filing",
        (
            FILING,
            BATCH,
            text("source", "the kind of source it came from"),
            text("company", "company name as its source gives it", nullable=True),
            text("ticker", "ticker symbol", nullable=True),
            text("cik", "SEC central index key, ten digits", nullable=True),
            text("form", "form type, such as 10-K", nullable=True),
            whole("fiscal_year", "fiscal year reported on", nullable=True, low=1900, high=2200),
            Column("period_end", pl.Date, "end of the period reported on", nullable=True),
            Column("filed_at", pl.Date, "day of filing", nullable=True),
            text("amends", "filing_id of the filing it amends", nullable=True),
            whole("page_count", "pages stored of it"),
            text("coverage", "only the pages that questions cite, or the whole filing", values=COVERAGE),
            text("sha256", "SHA-256 of its bytes, in hex"),
            text("status", "whether it could be read", values=("ok", "no_text", "failed")),
            text("status_reason", "why it could not", nullable=True),
        ),
        key=("filing_id",),
        slices=("filing_batch",),
    ),
    Table(
        "pages",
        "one page of a filing",
        (
            FILING,
            PAGE,
            BATCH,
            text("text", "the page's text"),
            whole("token_count", "cl100k_base tokens"),
            flag("has_text", "false for an image-only page"),
            text("item", "10-K items with text on the page, such as 1A, or 9A, 9B", nullable=True),
            Column(
                "item_titles",
                pl.List(pl.String),
                "titles of those items' headings, in their order; one where a heading combines items",
                nullable=True,
            ),
            text("page_kind", "what the page is", nullable=True, values=PAGE_KINDS),
            Column(
                "fiscal_years", pl.List(pl.Int64), "years that head its columns, latest first", nullable=True
            ),
            text("units", "what its figures are in: thousands, millions, billions", nullable=True),
        ),
        key=("filing_id", "page_number"),
        slices=("filing_batch",),
    ),
    Table(
        "chunks",
        "one chunk of a filing's running text",
        (
            FILING,
            whole("chunk_number", "zero-based within the filing"),
            BATCH,
            whole("page_number", "page on which the chunk begins, zero-based"),
            whole("start_char", "offset of its first character in the running text"),
            whole("end_char", "offset behind its last character"),
            text("text", "the chunk's text"),
        ),
        key=("filing_id", "chunk_number"),
        slices=("filing_batch",),
    ),
)

ASKING = (
    Table(
        "questions",
        "one question of a set",
        (
            SET,
            QUESTION,
            text("text", "the question"),
            text("family", "kind of question, as its source names it", nullable=True),
            text("company", "company the question names, as its source gives it", nullable=True),
            text("filing_id", "the filing named with the question", nullable=True),
            text(
                "question_group", "where no filing is known, what stays together when held out", nullable=True
            ),
            text("reference_answer", "the gold answer", nullable=True),
            pages("evidence", "the pages that hold the answer"),
            Column(
                "asked_at",
                pl.Datetime("us", "UTC"),
                "when it was asked, where an imported log says",
                nullable=True,
            ),
        ),
        key=("outcome_set", "question_id"),
        slices=("outcome_set",),
    ),
    Table(
        "resolutions",
        "one question's resolution to filings",
        (
            SET,
            QUESTION,
            text("status", "how the filing was found, or why not", values=RESOLUTION_STATUSES),
            Column("filing_ids", pl.List(pl.String), "the filings it resolved to"),
            Column("candidates", pl.List(pl.String), "filings that were possible"),
            Column("tickers", pl.List(pl.String), "tickers named or meant"),
            Column("fiscal_years", pl.List(pl.Int64), "fiscal years named or meant"),
            Column("missing", pl.List(pl.String), "companies named that have no such filing here"),
            share("confidence", "in the filings found; 0 where none were"),
        ),
        key=("outcome_set", "question_id"),
        slices=("outcome_set",),
    ),
    Table(
        "retrievals",
        "one ranked page or chunk for a question",
        (
            SET,
            QUESTION,
            text("retriever", "the ranking method"),
            text("pool", "which pages were searched", values=POOLS),
            whole("rank", "1 is best", low=1),
            FILING,
            PAGE,
            whole("chunk_number", "the chunk, where chunks are ranked", nullable=True),
            real("score", "the method's own score; larger is better"),
        ),
        key=("outcome_set", "question_id", "retriever", "pool", "rank"),
        slices=("outcome_set", "retriever", "pool"),
    ),
)

RETRIEVAL = (
    Table(
        "retrieval_summary",
        "hit rates of one retriever at one depth",
        (
            SET,
            text("retriever", "the ranking method"),
            text("pool", "which pages were searched", values=POOLS),
            text("coverage", "of the questions' filings", values=(*COVERAGE, "mixed")),
            text("family", "kind of question; `all` too"),
            whole("k", "depth", low=1),
            QUESTIONS,
            share("hit_rate", "questions with a gold page in the first k"),
            share("all_pages_rate", "questions with every gold page in the first k"),
            share("mrr", "mean reciprocal rank of the first gold page within k"),
            share("right_filing_share", "questions whose first page is of the right filing"),
            *interval("the hit rate"),
            real(
                "all_pages_ci_low", "lower bound of all_pages_rate; null where not estimable", nullable=True
            ),
            real("all_pages_ci_high", "upper bound of it", nullable=True),
            real("mrr_ci_low", "lower bound of mrr; null where not estimable", nullable=True),
            real("mrr_ci_high", "upper bound of it", nullable=True),
        ),
        key=("outcome_set", "retriever", "pool", "coverage", "family", "k"),
        slices=("outcome_set", "retriever", "pool"),
    ),
    Table(
        "retrieval_reasons",
        "one of the first pages of a question, and why it stands there (retriever accounting)",
        (
            SET,
            QUESTION,
            text("retriever", "the ranking method"),
            text("pool", "which pages were searched", values=POOLS),
            whole("rank", "1 is best", low=1),
            FILING,
            PAGE,
            text("page_kind", "what the page is", values=PAGE_KINDS),
            Column("line_items", pl.List(pl.String), "wanted line items that its rows print"),
            *(
                real(
                    SIGNAL_COLUMNS.get(name, name), f"what this signal adds to the page's score: {doc}", low=0
                )
                for name, doc in ACCOUNTING_SIGNALS.items()
            ),
        ),
        key=("outcome_set", "question_id", "retriever", "pool", "rank"),
        slices=("outcome_set", "retriever", "pool"),
    ),
    Table(
        "retrieval_shares",
        "hit rates without one signal at one depth (retriever accounting)",
        (
            SET,
            text("retriever", "the ranking method"),
            text("pool", "which pages were searched", values=POOLS),
            text("left_out", "the signal that is left out", values=tuple(ACCOUNTING_SIGNALS)),
            text("family", "kind of question; `all` too"),
            whole("k", "depth", low=1),
            QUESTIONS,
            share("hit_rate", "questions with a gold page in the first k, without the signal"),
            real("difference", "hit rate with all signals, less that"),
            *interval("the difference"),
        ),
        key=("outcome_set", "retriever", "pool", "left_out", "family", "k"),
        slices=("outcome_set", "retriever", "pool"),
    ),
)

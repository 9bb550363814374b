"""The built-in sample: fictional filers whose statements add up, their 10-Ks page by page, and questions on them.

Everything follows from a seed and is the same to the byte on every machine. A filer's filings don't depend on how many
filers there are, so a larger sample only adds to a smaller one.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

import polars as pl

from apportion.corpus.page_kinds import page_columns, page_profiles
from apportion.corpus.records import QUESTION_COLUMNS, Corpus
from apportion.corpus.synthetic import questions_domain, questions_metrics, questions_novel
from apportion.corpus.synthetic.filing import Filing, all_filings, filled
from apportion.corpus.synthetic.questions import Question, ask
from apportion.corpus.synthetic.questions_companies import company_questions
from apportion.tokens import count_tokens_batch

SEED = 20
FILERS = 24
YEARS = 2
FAMILIES = {
    "metrics": questions_metrics.TEMPLATES,
    "domain": questions_domain.TEMPLATES,
    "novel": questions_novel.TEMPLATES,
}
ITEM_TITLES = {
    "1": "Business",
    "1A": "Risk Factors",
    "2": "Properties",
    "7": "Management's Discussion and Analysis of Financial Condition and Results of Operations",
    "8": "Financial Statements and Supplementary Data",
    "9A": "Controls and Procedures",
    "15": "Exhibits and Financial Statement Schedules",
}

FILING_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "filing_id": pl.String,
    "source": pl.String,
    "company": pl.String,
    "ticker": pl.String,
    "cik": pl.String,
    "form": pl.String,
    "fiscal_year": pl.Int64,
    "period_end": pl.Date,
    "filed_at": pl.Date,
    "page_count": pl.Int64,
    "coverage": pl.String,
    "sha256": pl.String,
    "status": pl.String,
}
PAGE_SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "filing_id": pl.String,
    "page_number": pl.Int64,
    "text": pl.String,
    "token_count": pl.Int64,
    "has_text": pl.Boolean,
    "item": pl.String,
    "item_titles": pl.List(pl.String),
    "page_kind": pl.String,
    "fiscal_years": pl.List(pl.Int64),
    "units": pl.String,
}


def build_sample(seed: int = SEED, filers: int = FILERS, years: int = YEARS) -> Corpus:
    """The sample as a corpus: filings, pages and questions.

    Args:
        seed: names the world of filers.
        filers: how many of them.
        years: 10-Ks of each, from fiscal 2021 on.

    Raises:
        ValueError: a count is below one, or there are more filers than names.
    """
    filings: list[dict[str, Any]] = []
    pages: list[pl.DataFrame] = []
    questions: list[dict[str, Any]] = []
    content = hashlib.sha256()
    for number, filing in enumerate(all_filings(seed, filers, years)):
        filings.append(filing_row(filing))
        pages.append(page_frame(filing))
        for family, question in questions_on(filing, number):
            place = f"{family}-{sum(row['family'] == family for row in questions) + 1:04d}"
            questions.append(_question_row(place, family, question, filing))
        content.update(filing.sha256.encode())
    for row in questions:
        content.update("\x1f".join((row["question_id"], row["text"], row["reference_answer"])).encode())
    return Corpus(
        pl.DataFrame(filings, schema=FILING_SCHEMA),
        pl.concat(pages),
        pl.DataFrame(questions, schema=QUESTION_COLUMNS),
        [],
        content.hexdigest(),
    )


def build_company_questions(seed: int = SEED, filers: int = FILERS, years: int = YEARS) -> Corpus:
    """Questions on several filers of the sample each, over its latest year; a set of its own, without filings."""
    latest = [
        one for number, one in enumerate(all_filings(seed, filers, years)) if number % years == years - 1
    ]
    rows = company_questions(latest)
    content = hashlib.sha256()
    for row in rows:
        content.update("\x1f".join((row["question_id"], row["text"], row["reference_answer"])).encode())
    return Corpus(
        pl.DataFrame(schema=FILING_SCHEMA),
        pl.DataFrame(schema=PAGE_SCHEMA),
        pl.DataFrame(rows, schema=QUESTION_COLUMNS),
        [],
        content.hexdigest(),
    )


def stream_pages(
    filers: int, years: int = YEARS, seed: int = SEED, page_characters: int | None = None
) -> Iterator[pl.DataFrame]:
    """The pages of the sample, one frame a filing, in the columns of `pages`; only one filing is held at a time.

    Concatenated, the frames are the pages of :func:`build_sample`, unless ``page_characters`` is given: then pages
    that are shorter are filled up to about that length, as trials of volume need.
    """
    for _, pages in stream_filings(filers, years, seed, page_characters):
        yield pages


def stream_filings(
    filers: int, years: int = YEARS, seed: int = SEED, page_characters: int | None = None
) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """Each filing's row of `filings` with its pages, as :func:`stream_pages` gives them."""
    for filing in all_filings(seed, filers, years):
        whole = filing if page_characters is None else filled(filing, page_characters)
        yield filing_row(whole), page_frame(whole)


def questions_on(filing: Filing, number: int) -> list[tuple[str, Question]]:
    """The questions on the sample's filing ``number``, with their families: one of each, two in every fourth filing."""
    count = 2 if number % 4 == 1 else 1
    return [
        (family, question)
        for family, templates in FAMILIES.items()
        for question in ask(filing.view, templates, number, count)
    ]


def filing_row(filing: Filing) -> dict[str, Any]:
    """A filing's row of `filings`."""
    filer, year = filing.view.filer, filing.view.year
    return {
        "filing_id": filing.filing_id,
        "source": "sample",
        "company": filer.name,
        "ticker": filer.ticker,
        "cik": filer.cik,
        "form": "10-K",
        "fiscal_year": year,
        "period_end": filer.period_end(year),
        "filed_at": filer.filed_at(year),
        "page_count": len(filing.pages),
        "coverage": "whole",
        "sha256": filing.sha256,
        "status": "ok",
    }


def page_frame(filing: Filing) -> pl.DataFrame:
    """A filing's rows of `pages`."""
    texts = [page.text for page in filing.pages]
    return pl.DataFrame(
        {
            "filing_id": [filing.filing_id] * len(texts),
            "page_number": range(len(texts)),
            "text": texts,
            "token_count": count_tokens_batch(texts),
            "has_text": [True] * len(texts),
            "item": [page.item for page in filing.pages],
            "item_titles": [[ITEM_TITLES[page.item]] if page.item else None for page in filing.pages],
            **page_columns(page_profiles(texts)),
        },
        schema=PAGE_SCHEMA,
    )


def _question_row(identifier: str, family: str, question: Question, filing: Filing) -> dict[str, Any]:
    numbers = sorted({filing.where[tag] for tag in question.tags})
    return {
        "question_id": identifier,
        "text": question.text,
        "family": family,
        "company": filing.view.filer.name,
        "filing_id": filing.filing_id,
        "reference_answer": question.answer,
        "evidence": [{"filing_id": filing.filing_id, "page_number": number} for number in numbers],
    }

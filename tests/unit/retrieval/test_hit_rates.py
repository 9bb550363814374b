"""Hit rates: what counts as a hit, and over which questions."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from apportion.retrieval.summary import DEPTHS, retrieval_summary


def question(name: str, filing: str, gold: list[int], family: str | None = None) -> dict[str, Any]:
    evidence = [{"filing_id": filing, "page_number": page} for page in gold]
    return {"question_id": name, "filing_id": filing, "family": family, "evidence": evidence}


SCHEMA = {
    "question_id": pl.String,
    "filing_id": pl.String,
    "family": pl.String,
    "evidence": pl.List(pl.Struct({"filing_id": pl.String, "page_number": pl.Int64})),
}


def ranked(name: str, filing: str, pages: list[int]) -> list[dict[str, Any]]:
    return [
        {"question_id": name, "rank": rank, "filing_id": filing, "page_number": page}
        for rank, page in enumerate(pages, start=1)
    ]


def summary(
    questions: list[dict[str, Any]], rankings: list[dict[str, Any]], coverage: dict[str, str]
) -> pl.DataFrame:
    schema = {"question_id": pl.String, "rank": pl.Int64, "filing_id": pl.String, "page_number": pl.Int64}
    return retrieval_summary(
        pl.DataFrame(questions, schema=SCHEMA), pl.DataFrame(rankings, schema=schema), coverage
    )


def at(rows: pl.DataFrame, k: int, **where: str) -> dict[str, Any]:
    (row,) = rows.filter(
        pl.col("k") == k, *(pl.col(name) == value for name, value in where.items())
    ).to_dicts()
    return row


def test_rates_are_what_they_say() -> None:
    questions = [
        question("first", "a", [3]),
        question("second of two", "a", [4, 9]),
        question("never", "b", [1]),
        question("no page", "b", [2]),
        question("no evidence", "b", []),
    ]
    rankings = [
        *ranked("first", "a", [3, 4]),
        *ranked("second of two", "a", [1, 9, 2, 4]),
        *ranked("never", "c", [1, 2]),
    ]
    rows = summary(questions, rankings, {"a": "whole", "b": "whole"})
    assert rows["k"].to_list() == list(DEPTHS)
    one, two, five = (at(rows, k) for k in (1, 2, 5))
    assert (one["questions"], one["hit_rate"], two["hit_rate"], five["hit_rate"]) == (4, 0.25, 0.5, 0.5)
    assert (two["all_pages_rate"], five["all_pages_rate"]) == (0.25, 0.5)
    assert (one["mrr"], two["mrr"]) == (0.25, (1 + 0.5) / 4)
    assert one["right_filing_share"] == 0.5
    assert one["ci_low"] <= one["hit_rate"] <= one["ci_high"]


def test_coverages_and_families_stand_apart_and_together() -> None:
    questions = [
        question("x", "a", [1], "metrics"),
        question("y", "b", [1], "domain"),
        question("z", "b", [2], None),
    ]
    rows = summary(questions, ranked("x", "a", [1]), {"a": "whole", "b": "evidence"})
    assert at(rows, 1, coverage="whole", family="all")["hit_rate"] == 1
    assert at(rows, 1, coverage="evidence", family="all")["hit_rate"] == 0
    assert at(rows, 1, coverage="mixed", family="all")["hit_rate"] == pytest.approx(1 / 3)
    assert at(rows, 1, coverage="mixed", family="metrics")["questions"] == 1
    # One filing alone has no interval: nothing says how much filings differ.
    assert at(rows, 1, coverage="whole", family="all")["ci_low"] is None


def test_a_set_without_evidence_has_no_rates() -> None:
    assert summary([question("x", "a", [])], [], {}).is_empty()

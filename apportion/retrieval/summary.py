"""How often a retriever finds the pages that hold the answer, with filing-clustered intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from apportion.evaluation.bootstrap import mean_intervals

DEPTHS = (1, 2, 5, 10, 20)
ALL = "all"
MIXED = "mixed"


def retrieval_summary(
    questions: pl.DataFrame, rankings: pl.DataFrame, coverage: Mapping[str, str]
) -> pl.DataFrame:
    """Rows of `retrieval_summary` but for the set, retriever and pool.

    Args:
        questions: rows of `questions`; those without evidence are left out, since nothing says what would be a hit.
        rankings: rows of `retrievals` of one retriever and pool.
        coverage: of each filing, ``evidence`` or ``whole``.

    A question without any ranked page is a miss. Where filings of both coverages are asked about, ``mixed`` stands for
    all of them together.
    """
    ranked: dict[str, list[tuple[str, int]]] = {}
    for row in rankings.sort("question_id", "rank").iter_rows(named=True):
        ranked.setdefault(row["question_id"], []).append((row["filing_id"], row["page_number"]))
    scored = [
        _scored(row, ranked.get(row["question_id"], []), coverage)
        for row in questions.sort("question_id").iter_rows(named=True)
        if row["evidence"]
    ]
    rows: list[dict[str, Any]] = []
    kinds = sorted({one["coverage"] for one in scored})
    for kind in [*kinds, MIXED] if len(kinds) > 1 else kinds:
        covered = [one for one in scored if kind in (one["coverage"], MIXED)]
        for family in [ALL, *sorted({one["family"] for one in covered if one["family"]})]:
            chosen = [one for one in covered if family in (one["family"], ALL)]
            rows += _rows(chosen, kind, family)
    return pl.DataFrame(rows, schema=SCHEMA)


SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "coverage": pl.String,
    "family": pl.String,
    "k": pl.Int64,
    "questions": pl.Int64,
    "hit_rate": pl.Float64,
    "all_pages_rate": pl.Float64,
    "mrr": pl.Float64,
    "right_filing_share": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}


def _scored(
    question: Mapping[str, Any], pages: list[tuple[str, int]], coverage: Mapping[str, str]
) -> dict[str, Any]:
    gold = {(page["filing_id"], page["page_number"]) for page in question["evidence"]}
    filing = question["filing_id"] or min(gold)[0]
    places = [rank for rank, page in enumerate(pages, start=1) if page in gold]
    return {
        "group": filing,
        "family": question["family"],
        "coverage": coverage.get(filing, "evidence"),
        "first": places[0] if places else None,
        # The rank by which every gold page was seen; None where some never was.
        "last": places[-1] if len(places) == len(gold) else None,
        "right_filing": bool(pages) and pages[0][0] in {name for name, _ in gold},
    }


def _rows(scored: list[dict[str, Any]], coverage: str, family: str) -> list[dict[str, Any]]:
    hits = np.array(
        [[one["first"] is not None and one["first"] <= k for k in DEPTHS] for one in scored], dtype=np.float64
    )
    intervals = mean_intervals(hits, [one["group"] for one in scored])
    right = sum(one["right_filing"] for one in scored) / len(scored)
    return [
        {
            "coverage": coverage,
            "family": family,
            "k": k,
            "questions": len(scored),
            "hit_rate": float(hits[:, column].mean()),
            "all_pages_rate": sum(one["last"] is not None and one["last"] <= k for one in scored)
            / len(scored),
            "mrr": sum(1 / one["first"] for one in scored if one["first"] is not None and one["first"] <= k)
            / len(scored),
            "right_filing_share": right,
            "ci_low": intervals[column].low,
            "ci_high": intervals[column].high,
        }
        for column, k in enumerate(DEPTHS)
    ]

"""How often a retriever finds the pages that hold the answer, with filing-clustered intervals."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import polars as pl

from apportion.bootstrap import mean_intervals

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
    "all_pages_ci_low": pl.Float64,
    "all_pages_ci_high": pl.Float64,
    "mrr_ci_low": pl.Float64,
    "mrr_ci_high": pl.Float64,
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
    first = np.array([one["first"] or np.inf for one in scored])[:, None]
    last = np.array([one["last"] or np.inf for one in scored])[:, None]
    hits, whole = first <= DEPTHS, last <= DEPTHS
    figures = np.hstack([hits, whole, np.where(hits, 1 / first, 0.0)]).astype(np.float64)
    found = mean_intervals(figures, [one["group"] for one in scored])
    rates, wholes, ranks = (found[at : at + len(DEPTHS)] for at in range(0, len(found), len(DEPTHS)))
    right = sum(one["right_filing"] for one in scored) / len(scored)
    return [
        {
            "coverage": coverage,
            "family": family,
            "k": k,
            "questions": len(scored),
            "hit_rate": rate.estimate,
            "all_pages_rate": all_pages.estimate,
            "mrr": rank.estimate,
            "right_filing_share": right,
            "ci_low": rate.low,
            "ci_high": rate.high,
            "all_pages_ci_low": all_pages.low,
            "all_pages_ci_high": all_pages.high,
            "mrr_ci_low": rank.low,
            "mrr_ci_high": rank.high,
        }
        for k, rate, all_pages, rank in zip(DEPTHS, rates, wholes, ranks, strict=True)
    ]

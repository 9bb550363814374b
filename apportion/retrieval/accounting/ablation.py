"""What each signal adds to the fusion: hit rates with all of them, and with each one left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from apportion.bootstrap import mean_intervals
from apportion.retrieval.accounting.ranker import WEIGHTS, Accounting
from apportion.retrieval.ranking import Scope
from apportion.retrieval.shards import IndexFolder

DEPTHS = (1, 5, 20)
ALL = "all"

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "left_out": pl.String,
    "family": pl.String,
    "k": pl.Int64,
    "questions": pl.Int64,
    "hit_rate": pl.Float64,
    "difference": pl.Float64,
    "ci_low": pl.Float64,
    "ci_high": pl.Float64,
}


def signal_shares(
    index: IndexFolder, scope: Scope, questions: pl.DataFrame, weights: Mapping[str, float] = WEIGHTS
) -> pl.DataFrame:
    """Hit rates without each signal, beside those with all.

    Args:
        index: with the filings' shards.
        scope: the pages that are searched.
        questions: rows of `questions`; those without a filing in scope or without evidence are left out.
        weights: of the fusion.

    Returns:
        A row a signal left out, family (``all`` too) and depth: the hit rate without it, and the hit rate with all less
        that, with a 95 % interval over filings, paired by question.
    """
    asked = [
        row
        for row in questions.sort("question_id").iter_rows(named=True)
        if row["filing_id"] in scope and row["evidence"]
    ]
    if not asked:
        return pl.DataFrame(schema=SCHEMA)
    kept: dict[tuple[str, str], Any] = {}
    whole = _hits(Accounting(index, scope, weights, signals=kept), asked)
    rows: list[dict[str, Any]] = []
    for signal in weights:
        without = _hits(Accounting(index, scope, {**weights, signal: 0.0}, signals=kept), asked)
        for family in [ALL, *sorted({row["family"] for row in asked if row["family"]})]:
            chosen = [place for place, row in enumerate(asked) if family in (row["family"], ALL)]
            groups = [asked[place]["filing_id"] for place in chosen]
            intervals = mean_intervals(whole[chosen] - without[chosen], groups)
            rows += [
                {
                    "left_out": signal,
                    "family": family,
                    "k": k,
                    "questions": len(chosen),
                    "hit_rate": float(without[chosen, column].mean()),
                    "difference": float((whole - without)[chosen, column].mean()),
                    "ci_low": intervals[column].low,
                    "ci_high": intervals[column].high,
                }
                for column, k in enumerate(DEPTHS)
            ]
    return pl.DataFrame(rows, schema=SCHEMA)


def _hits(ranker: Accounting, asked: Sequence[Mapping[str, Any]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """(questions, depths): 1 where a cited page is among the first."""
    rankings = ranker.rank([row["text"] for row in asked], [row["filing_id"] for row in asked], max(DEPTHS))
    hits = np.zeros((len(asked), len(DEPTHS)))
    for place, (row, ranking) in enumerate(zip(asked, rankings, strict=True)):
        gold = {(page["filing_id"], page["page_number"]) for page in row["evidence"]}
        found = [(page.filing_id, page.number) in gold for page in ranking]
        hits[place] = [any(found[:k]) for k in DEPTHS]
    return hits

"""Further samples of the cheap route: how far they agree, who pays for them, and nothing where there are none."""

from __future__ import annotations

import polars as pl
import pytest

from apportion.evaluation.pairs import pair_outcomes
from apportion.features.consistency import sample_agreement
from apportion.features.logged import answer_rows

ANSWERS = {
    ("a", "cheap"): "Revenue was 12.",
    ("a", "cheap#2"): "Revenue was 12.",
    ("a", "cheap#3"): "Sales fell by 40.",
    ("a", "deep"): "Nothing like it.",
    ("b", "cheap"): None,
    ("b", "cheap#2"): None,
    ("b", "deep"): "7",
    ("c", "cheap"): "8",
    ("c", "deep"): "8",
}


def outcomes() -> pl.DataFrame:
    rows = [
        {
            "question_id": question,
            "route": route,
            "answer": answer,
            "input_tokens": 9,
            "output_tokens": 1,
            "total_tokens": None if (question, route) == ("b", "cheap#2") else 10,
        }
        for (question, route), answer in ANSWERS.items()
    ]
    return pl.DataFrame(rows)


def test_samples_of_a_route_agree_with_one_another_alone() -> None:
    found = {(q, r): a for q, r, a in sample_agreement(outcomes()).iter_rows()}
    assert found["a", "cheap"] == pytest.approx(0.5)
    assert found["a", "cheap#3"] == pytest.approx(0.0)
    assert found["b", "cheap"] == 1.0
    assert found["c", "cheap"] is None
    assert found["a", "deep"] is None


def test_the_signal_stands_among_the_others_and_samples_are_paid_for() -> None:
    questions = pl.DataFrame(
        {
            "question_id": ["a", "b", "c"],
            "text": ["What was revenue?"] * 3,
            "family": ["k"] * 3,
            "company": ["C"] * 3,
            "filing_id": ["f", "g", "h"],
            "evidence": [[], [], []],
        },
        schema_overrides={"evidence": pl.List(pl.Struct({"filing_id": pl.String, "page_number": pl.Int64}))},
    )
    signals = answer_rows(questions, outcomes()).filter(pl.col("route") == "cheap")
    assert signals["sample_agreement"].to_list() == [pytest.approx(0.5), 1.0, None]
    quality = (
        outcomes()
        .select("question_id", "route")
        .with_columns(judge=pl.lit("j"), quality=pl.lit(1.0), correct=pl.lit(value=True))
    )
    pairs = pair_outcomes(questions, outcomes(), quality, "cheap", "deep")
    # Three answers were drawn of the first, one of the last; what the second cost in all nobody knows.
    assert pairs.frame.select("question_id", "cheap_tokens").rows() == [("a", 30), ("c", 10)]
    assert pairs.left_out == 1

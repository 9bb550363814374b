"""How far a judge agrees with human labels on the same answers: agreement, kappa, and bias by family of question."""

from __future__ import annotations

from typing import Any

import polars as pl

ALL = "all"


def agreement(quality: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """One row a judge and family, over the answers that both it and a human graded.

    Args:
        quality: rows of `route_quality` of one set, of human and other judges.
        questions: its rows of `questions`; the family is read.

    Returns:
        judge, family (``all`` too), answers, agreement, kappa (Cohen 1960; null where chance alone agrees wholly) and
        bias: the judge's share of right answers less the human's. Empty where no answer was graded by both.
    """
    human = (
        quality.filter((pl.col("judged_by") == "human") & pl.col("correct").is_not_null())
        .group_by("question_id", "route")
        .agg(pl.col("correct").first().alias("human"))
    )
    both = (
        quality.filter((pl.col("judged_by") != "human") & pl.col("correct").is_not_null())
        .select("question_id", "route", "judge", "correct")
        .join(human, on=["question_id", "route"])
        .join(questions.select("question_id", pl.col("family").fill_null("unknown")), on="question_id")
    )
    rows: list[dict[str, Any]] = []
    for judge in both["judge"].unique().sort():
        graded = both.filter(pl.col("judge") == judge)
        for family in (ALL, *graded["family"].unique().sort()):
            part = graded if family == ALL else graded.filter(pl.col("family") == family)
            rows += [_row(judge, family, part)]
    return pl.DataFrame(
        rows,
        schema={
            "judge": pl.String,
            "family": pl.String,
            "answers": pl.Int64,
            "agreement": pl.Float64,
            "kappa": pl.Float64,
            "bias": pl.Float64,
        },
    )


def _row(judge: str, family: str, graded: pl.DataFrame) -> dict[str, Any]:
    said, truth = graded["correct"].cast(pl.Float64), graded["human"].cast(pl.Float64)
    observed = float((graded["correct"] == graded["human"]).mean())  # type: ignore[arg-type]
    a, b = float(said.mean()), float(truth.mean())  # type: ignore[arg-type]
    by_chance = a * b + (1 - a) * (1 - b)
    return {
        "judge": judge,
        "family": family,
        "answers": graded.height,
        "agreement": observed,
        "kappa": None if by_chance >= 1 else (observed - by_chance) / (1 - by_chance),
        "bias": a - b,
    }

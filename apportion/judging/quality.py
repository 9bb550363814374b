"""From judgements to the quality of each route on each question.

A route that failed was an outcome: quality 0, not correct. A pass that the judge could not grade is left
out of the mean and of the majority; with no graded pass, quality and correctness are null.
"""

from __future__ import annotations

import polars as pl

from apportion.answers.abstention import is_abstention
from apportion.answers.numeric import numeric_agreement
from apportion.answers.overlap import token_f1

QUALITY_SCHEMA = pl.Schema(
    {
        "outcome_set": pl.String,
        "question_id": pl.String,
        "route": pl.String,
        "judge": pl.String,
        "quality": pl.Float64,
        "correct": pl.Boolean,
        "token_f1": pl.Float64,
        "numeric_agreement": pl.Boolean,
        "judged_by": pl.String,
    }
)


def diagnostics(answer: str | None, reference: str, question: str) -> tuple[float, bool | None]:
    """Token F1 and numeric agreement of one answer; agreement is null where it is ambiguous or not
    numeric."""
    if answer is None or is_abstention(answer):
        verdict = numeric_agreement(None, reference, question)
        return 0.0, None if verdict == "not_numeric" else False
    verdict = numeric_agreement(answer, reference, question)
    return token_f1(answer, reference), {"agree": True, "disagree": False}.get(verdict)


def route_quality(judgements: pl.DataFrame, outcomes: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """Rows of ``route_quality`` from rows of ``judgements``, ``route_outcomes`` and ``questions``.

    Args:
        judgements: outcome_set, question_id, route, judge, session, pass_number, correct, score, status. Where
            a route was graded in several sessions, its first (the smallest) counts: a route graded again beside
            newcomers keeps the quality it was published with.
        outcomes: outcome_set, question_id, route, answer, status; any status but ``ok`` is a failure, quality 0.
        questions: outcome_set, question_id, text, reference_answer.

    Returns:
        One row for each question, route and judge, in that order, with :data:`QUALITY_SCHEMA`. Every
        outcome has a row for every judge in ``judgements``, also where no pass was graded.
    """
    keys = ["outcome_set", "question_id", "route"]
    first = pl.col("session") == pl.col("session").min().over([*keys, "judge"])
    graded = pl.col("status") == "judged"
    passes = (
        judgements.filter(first)
        .group_by([*keys, "judge"])
        .agg(
            quality=pl.col("score").filter(graded).mean(),
            correct=pl.when(graded.any()).then(2 * pl.col("correct").filter(graded).sum() > graded.sum()),
        )
    )
    judges = judgements.select("outcome_set", "judge").unique()
    base = (
        outcomes.select(*keys, "answer", "status")
        .join(judges, on="outcome_set")
        .join(passes, on=[*keys, "judge"], how="left")
        .join(
            questions.select("outcome_set", "question_id", "text", "reference_answer"),
            on=["outcome_set", "question_id"],
            how="left",
        )
        .sort([*keys, "judge"])
    )
    ok = pl.col("status") == "ok"
    rows = base.with_columns(
        quality=pl.when(ok).then("quality").otherwise(0.0),
        correct=pl.when(ok).then("correct").otherwise(pl.lit(False)),
        judged_by=pl.lit("llm"),
    )
    measured = [
        (None, None)
        if reference is None
        else diagnostics(answer if status == "ok" else None, reference, text or "")
        for answer, status, reference, text in rows.select(
            "answer", "status", "reference_answer", "text"
        ).iter_rows()
    ]
    return rows.with_columns(
        token_f1=pl.Series([f1 for f1, _ in measured], dtype=pl.Float64),
        numeric_agreement=pl.Series([agreement for _, agreement in measured], dtype=pl.Boolean),
    ).select(QUALITY_SCHEMA.names())

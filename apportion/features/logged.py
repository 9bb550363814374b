"""Features of answers wherever they were logged: signals of each answer, and decision features without retrieval."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from apportion.features.consistency import sample_agreement
from apportion.features.decision import answer_features
from apportion.features.signals import answer_signals

UNKNOWN = (
    "cheap_prompt_tokens",
    *(
        f"{side}_prompt_{part}"
        for side in ("cheap", "deep")
        for part in ("letters", "digits", "signs", "words")
    ),
)
"""Counts of prompts that a log doesn't hold."""

Contexts = Mapping[tuple[str, str], str]
"""The text that an answer was made from, by question and route."""


def answer_rows(
    questions: pl.DataFrame, outcomes: pl.DataFrame, contexts: Contexts | None = None
) -> pl.DataFrame:
    """The signals of every answer.

    Args:
        questions: rows of `questions` of one set. Reference answers and evidence are not read.
        outcomes: its rows of `route_outcomes`, of any routes.
        contexts: what is known of the answers' contexts.

    Returns:
        question_id, route and one column a signal, in the order of question and route.
    """
    companies = frozenset(questions["company"].drop_nulls())
    columns = questions.select("question_id", "text", "company")
    asked = {row["question_id"]: row for row in columns.iter_rows(named=True)}
    answered = outcomes.sort("question_id", "route").select("question_id", "route", "answer")
    known = contexts or {}
    rows = [
        {
            "question_id": question,
            "route": route,
            **answer_signals(
                asked[question]["text"],
                answer,
                company=asked[question]["company"],
                other_companies=companies,
                context=known.get((question, route)),
            ),
        }
        for question, route, answer in answered.iter_rows()
        if question in asked
    ]
    if not rows:
        return pl.DataFrame(rows)
    return pl.DataFrame(rows, infer_schema_length=None).join(
        sample_agreement(outcomes), on=["question_id", "route"], how="left", maintain_order="left"
    )


def logged_features(
    questions: pl.DataFrame, cheap_outcomes: pl.DataFrame, deep_outcomes: pl.DataFrame
) -> pl.DataFrame:
    """Decision features where no retrieval was logged: what the question and the cheap answer tell.

    The deep prompt's length is known before the call where it was counted from the prompt itself (usage ``estimated``
    or ``assumed``); a provider's count is an outcome of the call and stays out.

    Args:
        questions: rows of `questions` of one set.
        cheap_outcomes: its rows of `route_outcomes` of the cheap route.
        deep_outcomes: those of the deep route, of which only such counted prompts are read.
    """
    counted = deep_outcomes.filter(pl.col("usage_source").is_in(["estimated", "assumed"])).select(
        "question_id", pl.col("input_tokens").alias("deep_prompt_tokens")
    )
    return (
        answer_features(questions, cheap_outcomes)
        .drop("cheap_answer_words")
        .filter(pl.col("cheap_numbers").is_not_null())
        .join(counted, on="question_id", how="left", maintain_order="left")
        .with_columns(pl.lit(None, dtype=pl.Int64).alias(name) for name in UNKNOWN)
    )

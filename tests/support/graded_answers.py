"""Graded answers of three routes in which a refusal is what the deep route mends, and what models learn from them."""

from __future__ import annotations

import numpy as np
import polars as pl

from apportion.evaluation.pairs import pair_outcomes
from apportion.features.logged import answer_rows, logged_features
from apportion.prediction.pool import AnswerPool, PairKey
from apportion.prediction.training import Training

ROUTES = ("cheap", "deep", "other")


def tables(filings: int = 12, each: int = 4) -> tuple[pl.DataFrame, pl.DataFrame, pl.DataFrame]:
    """Questions, outcomes and grades in which a refusal is what the deep route mends."""
    rng = np.random.default_rng(5)
    questions, outcomes, quality = [], [], []
    for i in range(filings * each):
        question = f"q{i:03d}"
        questions.append(
            {
                "question_id": question,
                "text": f"What is the FY2021 revenue of company {i // each} in USD millions?",
                "family": ["a", "b"][i % 2],
                "company": f"Company {i // each}",
                "filing_id": f"f{i // each}",
                "evidence": [],
            }
        )
        refuses = rng.random() < 0.5
        for route in ROUTES:
            silent = refuses if route == "cheap" else rng.random() < 0.15
            right = bool(not silent and rng.random() < 0.9)
            answer = (
                "I cannot determine this from the context."
                if silent
                else f"It was ${100 + i} million in 2021."
            )
            outcomes.append(
                {
                    "question_id": question,
                    "route": route,
                    "answer": answer,
                    "confidence": None,
                    "input_tokens": 100,
                    "output_tokens": 10,
                    "total_tokens": 110,
                    "usage_source": "provider",
                    "status": "ok",
                }
            )
            quality.append(
                {
                    "question_id": question,
                    "route": route,
                    "judge": "j",
                    "quality": float(right),
                    "correct": right,
                }
            )
    page = pl.List(pl.Struct({"filing_id": pl.String, "page_number": pl.Int64}))
    return (
        pl.DataFrame(questions, schema_overrides={"evidence": page}),
        pl.DataFrame(outcomes, schema_overrides={"confidence": pl.Float64}),
        pl.DataFrame(quality),
    )


def training(filings: int = 12, *, flip: bool = False) -> Training:
    questions, outcomes, quality = tables(filings)
    if flip:
        quality = quality.with_columns(~pl.col("correct"), 1 - pl.col("quality"))
    pairs = pair_outcomes(questions, outcomes, quality, "cheap", "deep")
    signals = answer_rows(questions, outcomes)
    cheap = outcomes.filter(pl.col("route") == "cheap")
    deep = outcomes.filter(pl.col("route") == "deep")
    known = logged_features(questions, cheap, deep).join(
        signals.filter(pl.col("route") == "cheap").drop("route"), on="question_id"
    )
    pool = (
        signals.join(quality.select("question_id", "route", "correct"), on=["question_id", "route"])
        .join(questions.select("question_id", "family", pl.col("filing_id").alias("group")), on="question_id")
        .with_columns(outcome_set=pl.lit("s"))
    )
    return Training(
        known.sort("question_id"),
        pairs.groups,
        pairs.gain,
        pairs.values("deep_input_tokens"),
        pairs.values("deep_output_tokens"),
        pairs.helped,
        pairs.hurt,
        AnswerPool(pool, PairKey("s", "cheap", "deep")),
    )

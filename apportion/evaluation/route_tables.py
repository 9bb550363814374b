"""The published tables that need no allocation: routes, families, costs, prediction quality and the audit."""

from __future__ import annotations

from typing import Any

import numpy as np
import polars as pl

from apportion.bootstrap import mean_interval
from apportion.evaluation.pairs import Floats, Pairs, question_groups
from apportion.prediction.cost import COST_MODEL_IN_USE
from apportion.prediction.ensemble import NAME as PAPER_MODEL

RESAMPLES = 2000


def route_summary(questions: pl.DataFrame, outcomes: pl.DataFrame, quality: pl.DataFrame) -> pl.DataFrame:
    """Rows of `route_summary`, without the set (token-budgeted escalation, table I).

    Args:
        questions: rows of `questions` of the set.
        outcomes: its rows of `route_outcomes`.
        quality: its rows of `route_quality`, of any number of judges.
    """
    joined = outcomes.join(
        quality.select("question_id", "route", "judge", "quality", "correct"), on=["question_id", "route"]
    ).join(question_groups(questions).select("question_id", "group"), on="question_id")
    rows: list[dict[str, Any]] = []
    for (route, judge), part in sorted(
        joined.group_by("route", "judge"), key=lambda item: tuple(map(str, item[0]))
    ):
        graded = part.filter(pl.col("quality").is_not_null()).sort("question_id")
        if graded.is_empty():
            continue
        interval = mean_interval(graded["quality"].to_numpy(), graded["group"].to_list(), resamples=RESAMPLES)
        rows.append(
            {
                "route": route,
                "model": part["model"].sort()[0],
                "judge": judge,
                "questions": graded.height,
                "left_out": questions.height - graded.height,
                "failed": graded.filter(pl.col("status") != "ok").height,
                "accuracy": graded["correct"].cast(pl.Float64).mean(),
                "quality": interval.estimate,
                "ci_low": interval.low,
                "ci_high": interval.high,
                "tokens_per_question": known_mean(graded["total_tokens"]),
                "latency_ms": known_mean(graded["latency_ms"]),
                "cost_usd": None if graded["cost_usd"].null_count() else graded["cost_usd"].sum(),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def known_mean(series: pl.Series) -> float | None:
    """The mean, or None where a value is unknown: a mean over the known ones would be of other questions."""
    return None if series.null_count() or series.is_empty() else float(series.cast(pl.Float64).mean())  # type: ignore[arg-type]


def route_frontier(summary: pl.DataFrame) -> pl.DataFrame:
    """Rows of `frontier` for the one-pass routes, from `route_summary` of one judge."""
    return summary.filter(pl.col("tokens_per_question").is_not_null()).select(
        pl.lit("route").alias("kind"),
        pl.col("route").alias("name"),
        pl.lit(0.0).alias("budget_fraction"),
        "tokens_per_question",
        "quality",
        "ci_low",
        "ci_high",
    )


def family_summary(pairs: Pairs) -> pl.DataFrame:
    """Rows of `family_summary`, without the set and the pair (token-budgeted escalation, table III)."""
    return (
        _marked(pairs)
        .with_columns(pl.col("family").fill_null("unknown"))
        .group_by("family")
        .agg(_aggregates())
        .sort("family")
    )


def cost_summary(pairs: Pairs) -> pl.DataFrame:
    """The row of `cost_summary`: the additional call's cost (token-budgeted escalation, section III-H)."""
    cost = pairs.values("deep_tokens")
    # Where no call reached its model every cost is 0, and a share of 0 is undefined.
    low, middle, high = np.quantile(cost, [0.25, 0.5, 0.75])
    return pl.DataFrame(
        {
            "questions": [len(pairs)],
            "minimum": [int(cost.min())],
            "quartile_1": [low],
            "median": [middle],
            "quartile_3": [high],
            "maximum": [int(cost.max())],
            "mean": [cost.mean()],
            "coefficient_of_variation": [cost.std() / cost.mean() if cost.any() else None],
        }
    )


def cost_quartiles(pairs: Pairs, predictions: pl.DataFrame) -> pl.DataFrame:
    """Rows of `cost_quartiles` (token-budgeted escalation, table IV).

    Args:
        pairs: the questions.
        predictions: rows of `predictions` of the pair; the cost model in use is read.
    """
    errors = (
        predictions.filter((pl.col("target") == "cost") & (pl.col("model") == COST_MODEL_IN_USE))
        .with_columns(
            pl.when(pl.col("actual") > 0)
            .then((pl.col("predicted") - pl.col("actual")).abs() / pl.col("actual"))
            .alias("error")
        )
        .group_by("question_id")
        .agg(pl.col("error").mean())
    )
    quartile = pl.Series("quartile", quartiles(pairs.values("deep_tokens")), dtype=pl.Int64)
    return (
        _marked(pairs)
        .with_columns(quartile)
        .join(errors, on="question_id", how="left")
        .group_by("quartile")
        .agg(*_aggregates(), pl.col("error").mean().alias("mape"))
        .sort("quartile")
    )


def question_audit(
    pairs: Pairs, features: pl.DataFrame, predictions: pl.DataFrame, gain_model: str = PAPER_MODEL
) -> pl.DataFrame:
    """Rows of `question_audit` (token-budgeted escalation, section IV): prediction patterns, not causes."""
    predicted = (
        predictions.filter((pl.col("target") == "gain") & (pl.col("model") == gain_model))
        .group_by("question_id")
        .agg(pl.col("predicted").mean().alias("predicted_gain"))
    )
    frame = (
        _marked(pairs)
        .join(predicted, on="question_id")
        .join(features.select("question_id", "score_first", "coverage_cheap"), on="question_id", how="left")
        .sort("question_id")
    )
    outcome = (
        pl.when("helped").then(pl.lit("helped")).when("hurt").then(pl.lit("hurt"))
        .when("cheap_correct").then(pl.lit("both_right")).otherwise(pl.lit("both_wrong"))
    )  # fmt: skip
    return frame.select(
        "question_id",
        outcome.alias("outcome"),
        (pl.col("deep_quality") - pl.col("cheap_quality")).alias("gain"),
        "predicted_gain",
        pl.Series("predicted_gain_quartile", quartiles(frame["predicted_gain"].to_numpy())),
        pl.Series("score_quartile", _known_quartiles(frame["score_first"]), dtype=pl.Int64),
        pl.Series("coverage_quartile", _known_quartiles(frame["coverage_cheap"]), dtype=pl.Int64),
        pl.col("deep_tokens").alias("cost"),
    )


def quartiles(values: Floats) -> list[int]:
    """The quartile, 1 to 4, of each value by rank: sizes differ by one at most, ties keep their order."""
    order = np.argsort(values, kind="stable")
    ranks = np.empty(len(values), dtype=np.int64)
    ranks[order] = np.arange(len(values))
    return [int(rank * 4 // len(values)) + 1 for rank in ranks]


def _known_quartiles(series: pl.Series) -> list[int | None]:
    known = series.is_not_null()
    found = iter(quartiles(series.drop_nulls().cast(pl.Float64).to_numpy()))
    return [next(found) if there else None for there in known]


def _marked(pairs: Pairs) -> pl.DataFrame:
    return pairs.frame.with_columns(helped=pl.Series(pairs.helped), hurt=pl.Series(pairs.hurt))


def _aggregates() -> list[pl.Expr]:
    return [
        pl.len().cast(pl.Int64).alias("questions"),
        pl.col("cheap_correct").cast(pl.Float64).mean().alias("accuracy_cheap"),
        pl.col("deep_correct").cast(pl.Float64).mean().alias("accuracy_deep"),
        pl.col("helped").sum().cast(pl.Int64),
        pl.col("hurt").sum().cast(pl.Int64),
        pl.col("deep_tokens").cast(pl.Float64).mean().alias("mean_cost"),
    ]

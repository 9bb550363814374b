"""How far a judge agrees with human labels on the same answers: agreement, kappa, and bias by family of question."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.bootstrap import statistic_interval
from apportion.evaluation.pairs import question_groups

ALL = "all"
RESAMPLES = 1000
Floats = npt.NDArray[np.float64]


def agreement(quality: pl.DataFrame, questions: pl.DataFrame) -> pl.DataFrame:
    """One row a judge and family, over the answers that both it and a human graded.

    Args:
        quality: rows of `route_quality` of one set, of human and other judges.
        questions: its rows of `questions`; family and filing are read.

    Returns:
        judge, family (``all`` too), answers, agreement, kappa (Cohen 1960; null where chance alone agrees wholly) and
        bias, the judge's share of right answers less the human's, each of the last two with its filing-clustered
        interval. Empty where no answer was graded by both.
    """
    human = (
        quality.filter((pl.col("judged_by") == "human") & pl.col("correct").is_not_null())
        .group_by("question_id", "route")
        .agg(pl.col("correct").first().alias("human"))
    )
    asked = question_groups(questions).with_columns(pl.col("family").fill_null("unknown"))
    both = (
        quality.filter((pl.col("judged_by") != "human") & pl.col("correct").is_not_null())
        .select("question_id", "route", "judge", "correct")
        .join(human, on=["question_id", "route"])
        .join(asked, on="question_id")
        .sort("question_id", "route")
    )
    rows: list[dict[str, Any]] = []
    for judge in both["judge"].unique().sort():
        graded = both.filter(pl.col("judge") == judge)
        for family in (ALL, *graded["family"].unique().sort()):
            part = graded if family == ALL else graded.filter(pl.col("family") == family)
            rows.append({"judge": judge, "family": family, **_figures(part)})
    figures = ("agreement", "kappa", "kappa_ci_low", "kappa_ci_high", "bias", "bias_ci_low", "bias_ci_high")
    return pl.DataFrame(
        rows,
        schema={
            "judge": pl.String,
            "family": pl.String,
            "answers": pl.Int64,
            **dict.fromkeys(figures, pl.Float64),
        },
    )


def _figures(graded: pl.DataFrame) -> dict[str, Any]:
    said, truth = (graded[name].cast(pl.Float64).to_numpy() for name in ("correct", "human"))
    found: dict[str, Any] = {"answers": graded.height, "agreement": float((said == truth).mean())}
    for name, statistic in (("kappa", _kappa), ("bias", _bias)):
        interval = statistic_interval(
            lambda counts, of=statistic: of(said, truth, counts),  # type: ignore[misc]
            graded["group"].to_list(),
            resamples=RESAMPLES,
        )
        known = interval.estimate is not None and np.isfinite(interval.estimate)
        found |= {
            name: interval.estimate if known else None,
            f"{name}_ci_low": interval.low if known else None,
            f"{name}_ci_high": interval.high if known else None,
        }
    return found


def _kappa(said: Floats, truth: Floats, counts: Floats) -> float:
    total = counts.sum()
    a, b = float(said @ counts) / total, float(truth @ counts) / total
    by_chance = a * b + (1 - a) * (1 - b)
    observed = float((said == truth) @ counts) / total
    return float("nan") if by_chance >= 1 else (observed - by_chance) / (1 - by_chance)


def _bias(said: Floats, truth: Floats, counts: Floats) -> float:
    return float((said - truth) @ counts) / float(counts.sum())

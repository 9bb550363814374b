"""The systems' tables: scores, paired differences, agreement of two judges (document-routed retrieval, section 6)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.bootstrap import mean_intervals
from apportion.evaluation.route_tables import known_mean

GROUPS = 5
"""Random groups of questions, whose means show how steady a system is."""
SECOND_JUDGED = 20
"""Questions of each group that a second judge scores."""
ALL = "all"

METRICS = ("mean_score", "share_of_1", "share_8_up", "share_of_10")
Floats = npt.NDArray[np.float64]


def random_groups(question_ids: Sequence[str], seed: int = 0) -> dict[str, int]:
    """Questions in five random groups of nearly equal size, the same for every system and order of questions."""

    def drawn(question: str) -> tuple[bytes, str]:
        return hashlib.sha256(f"{seed}\x1f{question}".encode()).digest(), question

    return {question: place % GROUPS for place, question in enumerate(sorted(set(question_ids), key=drawn))}


def second_sample(question_ids: Sequence[str], seed: int = 0) -> list[str]:
    """The questions that a second judge scores: the first twenty of each group as drawn."""
    taken = dict.fromkeys(range(GROUPS), 0)
    chosen = []
    for question, group in random_groups(question_ids, seed).items():
        if taken[group] < SECOND_JUDGED:
            taken[group] += 1
            chosen.append(question)
    return sorted(chosen)


def system_summary(
    scores: pl.DataFrame, outcomes: pl.DataFrame, clusters: Mapping[str, str], seed: int = 0
) -> pl.DataFrame:
    """Rows of `system_summary` but for set and judge.

    Args:
        scores: ``question_id``, ``route``, ``rubric_score`` of one judge; unjudged answers are left out and counted.
        outcomes: rows of `route_outcomes`.
        clusters: the filing, or group, of each question.
        seed: draws the five groups.
    """
    groups = random_groups(scores["question_id"].to_list(), seed)
    rows = []
    for route in scores["route"].unique().sort():
        own = scores.filter(pl.col("route") == route).sort("question_id")
        judged = own.drop_nulls("rubric_score")
        if judged.is_empty():
            continue
        given = judged["rubric_score"].to_numpy().astype(np.float64)
        names = judged["question_id"].to_list()
        [mean] = mean_intervals(given[:, None], [clusters[name] for name in names])
        made = outcomes.filter(pl.col("route") == route)
        rows.append(
            {
                "route": route,
                "questions": judged.height,
                "left_out": own.height - judged.height,
                "mean_score": float(given.mean()),
                "ci_low": mean.low,
                "ci_high": mean.high,
                "share_of_1": float((given == 1).mean()),
                "share_3_down": float((given <= 3).mean()),
                "share_4_to_7": float(((given >= 4) & (given <= 7)).mean()),
                "share_8_up": float((given >= 8).mean()),
                "share_of_10": float((given == 10).mean()),
                "group_deviation": _deviation(_means(given, [groups[name] for name in names])),
                "calls_per_question": known_mean(made["calls_made"]),
                "tokens_per_question": known_mean(made["total_tokens"]),
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def system_comparison(scores: pl.DataFrame, clusters: Mapping[str, str], seed: int = 0) -> pl.DataFrame:
    """Rows of `system_comparison` but for set and judge: each pair of systems over the questions that both answered."""
    groups = random_groups(scores["question_id"].to_list(), seed)
    judged = scores.drop_nulls("rubric_score")
    wide = {
        route: dict(judged.filter(pl.col("route") == route).select("question_id", "rubric_score").iter_rows())
        for route in judged["route"].unique().sort()
    }
    rows = []
    for one, other in combinations(wide, 2):
        names = sorted(wide[one].keys() & wide[other].keys())
        if not names:
            continue
        differences = _metrics([wide[other][n] for n in names]) - _metrics([wide[one][n] for n in names])
        intervals = mean_intervals(differences, [clusters[name] for name in names])
        for column, metric in enumerate(METRICS):
            of_groups = _means(differences[:, column], [groups[name] for name in names])
            rows.append(
                {
                    "route": other,
                    "baseline": one,
                    "metric": metric,
                    "questions": len(names),
                    "difference": float(differences[:, column].mean()),
                    "ci_low": intervals[column].low,
                    "ci_high": intervals[column].high,
                    "group_low": min(of_groups),
                    "group_high": max(of_groups),
                    "group_deviation": _deviation(of_groups),
                }
            )
    return pl.DataFrame(rows)


def judge_agreement(scores: pl.DataFrame, judge: str, second: str) -> pl.DataFrame:
    """Rows of `judge_agreement` but for the set: per system, and ``all`` over the systems' means.

    Args:
        scores: rows of `rubric_scores` of both judges.
        judge: the first.
        second: the second; its differences are second less first.
    """
    both = (
        scores.filter(pl.col("judge") == judge)
        .join(scores.filter(pl.col("judge") == second), on=["question_id", "route"], suffix="_second")
        .drop_nulls(["rubric_score", "rubric_score_second"])
        .sort("route", "question_id")
    )
    rows = []
    means: list[tuple[float, float]] = []
    for part in both.partition_by("route", maintain_order=True):
        a, b = (part[name].to_numpy().astype(np.float64) for name in ("rubric_score", "rubric_score_second"))
        means.append((float(a.mean()), float(b.mean())))
        rows.append(_agreement(part["route"][0], judge, second, a, b))
    if len(means) > 1:
        a, b = (both[name].to_numpy().astype(np.float64) for name in ("rubric_score", "rubric_score_second"))
        over = _agreement(ALL, judge, second, a, b)
        over["spearman"] = _spearman(np.array([m[0] for m in means]), np.array([m[1] for m in means]))
        rows.append(over)
    return pl.DataFrame(rows, infer_schema_length=None)


def _agreement(route: str, judge: str, second: str, a: Floats, b: Floats) -> dict[str, Any]:
    return {
        "route": route,
        "judge": judge,
        "second_judge": second,
        "questions": len(a),
        "spearman": _spearman(a, b),
        "difference": float((b - a).mean()),
        "absolute_difference": float(np.abs(b - a).mean()),
        "failure_agreement": float(((a == 1) == (b == 1)).mean()),
        "seven_up_agreement": float(((a >= 7) == (b >= 7)).mean()),
    }


def _spearman(a: Floats, b: Floats) -> float | None:
    """Rank correlation with average ranks for ties; None where either never varies."""
    if len(a) < 2 or np.ptp(a) == 0 or np.ptp(b) == 0:
        return None
    x, y = _ranks(a), _ranks(b)
    return float(np.corrcoef(x, y)[0, 1])


def _ranks(values: Floats) -> Floats:
    _, places, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    ranks: Floats = ((ends - counts + 1 + ends) / 2)[places.ravel()]
    return ranks


def _metrics(scores: Sequence[int]) -> Floats:
    given = np.asarray(scores, np.float64)
    return np.column_stack([given, given == 1, given >= 8, given == 10]).astype(np.float64)


def _means(values: Floats, groups: Sequence[int]) -> list[float]:
    codes = np.asarray(groups)
    return [float(values[codes == group].mean()) for group in sorted(set(groups))]


def _deviation(means: Sequence[float]) -> float | None:
    """Population deviation of the groups' means; None where there is one group."""
    return float(np.std(means)) if len(means) > 1 else None

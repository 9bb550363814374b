"""Budgets in money or latency instead of tokens, and in several of them at once.

Each resource is a column of the log in whole units and has a cross-fitted predictor of its own: the paper's cost ridge
on the same features (token-budgeted escalation, section II-B). Everything behind it is the engine that budgets tokens.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from apportion.allocation.several import allocate_several
from apportion.bootstrap import mean_interval
from apportion.evaluation.pairs import Floats, Pairs
from apportion.evaluation.sweep import whole_costs
from apportion.prediction.cost import RidgeCost
from apportion.prediction.training import SEEDS, grouped_folds


@dataclass(frozen=True)
class Resource:
    """What a budget may count.

    Attributes:
        name: how it is asked for.
        column: of `route_outcomes`.
        unit: its whole unit, for people.
        per_unit: of the column's own unit.
        caution: what to know before believing it; empty where there is nothing.
    """

    name: str
    column: str
    unit: str
    per_unit: float
    caution: str = ""


RESOURCES: Mapping[str, Resource] = {
    resource.name: resource
    for resource in (
        Resource("tokens", "total_tokens", "tokens", 1.0),
        Resource("usd", "cost_usd", "micro-dollars", 1e-6),
        Resource(
            "latency",
            "latency_ms",
            "milliseconds",
            1.0,
            "latency depends on the provider's load and on how many calls ran at once: another day is another log",
        ),
    )
}


def in_resource(
    pairs: Pairs, outcomes: pl.DataFrame, cheap_route: str, deep_route: str, resource: Resource
) -> Pairs:
    """The pairs with a resource's whole units where tokens were; questions whose amount is unknown are left out.

    Args:
        pairs: the graded questions.
        outcomes: rows of `route_outcomes` of the set.
        cheap_route, deep_route: the pair.
        resource: what is counted.

    Raises:
        ValueError: no question has the amount on both routes, or the deep one costs nothing.
    """
    frame = pairs.frame
    for side, route in (("cheap", cheap_route), ("deep", deep_route)):
        amounts = outcomes.filter(pl.col("route") == route).select(
            "question_id",
            (pl.col(resource.column) / resource.per_unit).round().cast(pl.Int64).alias(f"{side}_amount"),
        )
        frame = frame.join(amounts, on="question_id", how="left", maintain_order="left")
    known = frame.drop_nulls(["cheap_amount", "deep_amount"])
    if known.is_empty():
        raise ValueError(
            f"no question has {resource.column} logged on both {cheap_route} and {deep_route}: "
            f"budgets in {resource.name} need it"
        )
    counted = known.with_columns(cheap_tokens="cheap_amount", deep_tokens="deep_amount").drop(
        "cheap_amount", "deep_amount"
    )
    if not counted["deep_tokens"].sum():
        raise ValueError(
            f"every call of {deep_route} costs 0 {resource.unit}: a budget in {resource.name} decides nothing; "
            f"resources: {', '.join(RESOURCES)}"
        )
    return Pairs(counted, pairs.left_out + frame.height - known.height)


def amount_predictions(pairs: Pairs, features: pl.DataFrame, seeds: Sequence[int] = SEEDS) -> pl.DataFrame:
    """Held-out predictions of the deep call's amount by a ridge, rows of `predictions` with target cost.

    Args:
        pairs: from `in_resource`.
        features: rows of `features` of the pair.
        seeds: of the folds.
    """
    rows = pairs.frame.select("question_id").join(
        features, on="question_id", how="left", maintain_order="left"
    )
    actual = pairs.values("deep_tokens")
    frames = []
    for seed in seeds:
        folds = grouped_folds(pairs.groups, seed)
        predicted = np.zeros(len(folds))
        for fold in range(int(folds.max()) + 1):
            out = folds == fold
            model = RidgeCost(seed).fit(
                rows.filter(pl.Series(~out)), actual[~out], np.zeros(int((~out).sum()))
            )
            predicted[out] = model.predict(rows.filter(pl.Series(out)))
        frames.append(
            pl.DataFrame(
                {
                    "target": "cost",
                    "model": RidgeCost.name,
                    "seed": seed,
                    "question_id": rows["question_id"],
                    "fold": folds,
                    "predicted": predicted,
                    "actual": actual,
                },
                schema_overrides={"seed": pl.Int64},
            )
        )
    return pl.concat(frames)


def several_summary(
    counted: Mapping[str, tuple[Pairs, pl.DataFrame]],
    gains: pl.DataFrame,
    budgets: Sequence[float],
    seeds: Sequence[int] = SEEDS,
) -> pl.DataFrame:
    """Allocate under caps on several resources at once and say what was bought, a row a budget fraction.

    Each cap is the same fraction of what escalating everybody is predicted to take of that resource. Figures are means
    over the seeds; the interval is that of the quality gained over never escalating, clustered by filing.

    Args:
        counted: by resource, its pairs and its predictions; questions that all of them hold are allocated over.
        gains: rows of `predictions` with target gain of one model.
        budgets: fractions.
        seeds: under which to allocate.

    Returns:
        Columns budget_fraction, questions, quality, quality_gained with ci_low and ci_high, escalated_share,
        predicted_gain, upper_bound (no choice within the caps is predicted to gain more), gap, and for each resource
        cap, spend (predicted), realised and price (predicted gain per unit).

    Raises:
        ValueError: no question has every resource logged.
    """
    shared = sorted(set.intersection(*(set(pairs.frame["question_id"]) for pairs, _ in counted.values())))
    if not shared:
        raise ValueError(f"no question has all of {', '.join(counted)} logged on both routes")
    first = next(iter(counted.values()))[0]
    kept = Pairs(first.frame.filter(pl.col("question_id").is_in(shared)), 0)
    realised = {
        name: _of(shared, pairs.frame.select("question_id", pl.col("deep_tokens").alias("value")))
        for name, (pairs, _) in counted.items()
    }
    rows = []
    for fraction in budgets:
        solved = []
        for seed in seeds:
            gain = _of(shared, _predicted(gains, seed))
            costs = np.column_stack(
                [whole_costs(_of(shared, _predicted(found, seed))) for _, found in counted.values()]
            ).astype(np.float64)
            caps = np.floor(fraction * costs.sum(axis=0))
            solved.append((caps, allocate_several(gain[:, None], costs[:, None, :], caps, keys=shared)))
        share = np.mean([solution.arm > 0 for _, solution in solved], axis=0)
        gained = mean_interval(share * kept.gain, kept.groups)
        row: dict[str, Any] = {
            "budget_fraction": fraction,
            "questions": len(shared),
            "quality": float(kept.values("cheap_quality").mean()) + float((share * kept.gain).mean()),
            "quality_gained": gained.estimate,
            "ci_low": gained.low,
            "ci_high": gained.high,
            "escalated_share": float(share.mean()),
            "predicted_gain": _mean(solution.gain for _, solution in solved),
            "upper_bound": _mean(solution.upper_bound for _, solution in solved),
            "gap": _mean(solution.gap for _, solution in solved),
        }
        for at, name in enumerate(counted):
            row |= {
                f"{name}_cap": _mean(caps[at] for caps, _ in solved),
                f"{name}_spend": _mean(solution.spend[at] for _, solution in solved),
                f"{name}_realised": float(share @ realised[name]),
                f"{name}_price": _mean(solution.prices[at] for _, solution in solved),
            }
        rows.append(row)
    return pl.DataFrame(rows, infer_schema_length=None)


def _predicted(found: pl.DataFrame, seed: int) -> pl.DataFrame:
    return found.filter(pl.col("seed") == seed).select("question_id", pl.col("predicted").alias("value"))


def _of(ids: list[str], found: pl.DataFrame) -> Floats:
    joined = pl.DataFrame({"question_id": ids}).join(
        found, on="question_id", how="left", maintain_order="left"
    )
    missing = joined.filter(pl.col("value").is_null())
    if not missing.is_empty():
        raise ValueError(f"no prediction for question {missing['question_id'][0]!r}: evaluate the pair first")
    return joined["value"].cast(pl.Float64).to_numpy()


def _mean(values: Any) -> float:
    return float(np.mean(list(values)))

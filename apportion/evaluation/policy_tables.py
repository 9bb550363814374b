"""The published tables of a sweep: `policy_summary`, `policy_comparison`, `selection_overlap` and `frontier`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from apportion.evaluation.bootstrap import mean_intervals
from apportion.evaluation.pairs import Floats
from apportion.evaluation.sweep import Sweep

RESAMPLES = 2000
BASELINES = ("gain_only", "random", "refusal")
METRICS = ("quality", "accuracy", "tokens_per_question")


def realised(sweep: Sweep, cheap: Floats, deep: Floats) -> Floats:
    """Each question's value after allocation, averaged over the seeds, shape (policies, budgets, questions)."""
    return np.asarray(cheap + sweep.share_chosen * (deep - cheap), dtype=np.float64)


def policy_summary(sweep: Sweep) -> pl.DataFrame:
    """Rows of `policy_summary`, without the set and the pair (token-budgeted escalation, tables II and VI)."""
    pairs = sweep.pairs
    n = len(pairs)
    cost = pairs.values("deep_tokens")
    cheap_tokens = pairs.values("cheap_tokens").mean()
    quality = realised(sweep, pairs.values("cheap_quality"), pairs.values("deep_quality")).mean(axis=2)
    accuracy = realised(sweep, pairs.values("cheap_correct"), pairs.values("deep_correct")).mean(axis=2)
    calls = sweep.share_chosen.sum(axis=2)
    spend = sweep.spend(cost)
    helped = sweep.share_chosen @ pairs.helped
    hurt = sweep.share_chosen @ pairs.hurt
    predicted_spend = sweep.predicted_spend()
    rows: list[dict[str, Any]] = []
    for p, policy in enumerate(sweep.policies):
        for b, fraction in enumerate(sweep.budgets):
            tokens = cheap_tokens + spend[p, b] / n
            rows.append(
                {
                    "policy": policy,
                    "gain_model": sweep.model_of(policy),
                    "budget_fraction": fraction,
                    "questions": n,
                    "left_out": pairs.left_out,
                    "accuracy": accuracy[p, b],
                    "quality": quality[p, b],
                    "tokens_per_question": tokens,
                    "tokens_saved_against_deep": 1 - tokens / cost.mean(),
                    "escalated_share": calls[p, b] / n,
                    "selected_calls": calls[p, b],
                    "mean_selected_cost": spend[p, b] / calls[p, b] if calls[p, b] else None,
                    "helped": helped[p, b],
                    "hurt": hurt[p, b],
                    "neutral": max(calls[p, b] - helped[p, b] - hurt[p, b], 0.0),
                    "predicted_budget": float(sweep.limits[p, :, b].mean()),
                    "predicted_spend": predicted_spend[p, b],
                    "realised_spend": spend[p, b],
                }
            )
    # Sums of shares may overshoot by rounding; whatever lies further out is for the contract to refuse.
    exact = pl.col("accuracy", "quality")
    near = exact.is_between(-1e-9, 1 + 1e-9)
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(
        pl.when(near).then(exact.clip(0, 1)).otherwise(exact)
    )


def policy_comparison(
    sweep: Sweep, baselines: Sequence[str] = BASELINES, *, resamples: int = RESAMPLES, seed: int = 0
) -> pl.DataFrame:
    """Rows of `policy_comparison`: each policy less each baseline at each budget above zero.

    Differences are paired by question; filings are resampled, every difference on the same draws.
    """
    pairs = sweep.pairs
    values = {
        "quality": realised(sweep, pairs.values("cheap_quality"), pairs.values("deep_quality")),
        "accuracy": realised(sweep, pairs.values("cheap_correct"), pairs.values("deep_correct")),
        "tokens_per_question": pairs.values("cheap_tokens")
        + sweep.share_chosen * pairs.values("deep_tokens"),
    }
    rows: list[dict[str, Any]] = []
    columns: list[Floats] = []
    for baseline in baselines:
        if baseline not in sweep.policies:
            continue
        other = sweep.policies.index(baseline)
        for p, policy in enumerate(sweep.policies):
            if policy == baseline:
                continue
            for b, fraction in enumerate(sweep.budgets):
                if fraction == 0:
                    continue
                for metric in METRICS:
                    columns.append(values[metric][p, b] - values[metric][other, b])
                    rows.append(
                        {
                            "policy": policy,
                            "baseline": baseline,
                            "gain_model": sweep.model_of(policy) or sweep.model_of(baseline),
                            "budget_fraction": fraction,
                            "metric": metric,
                            "resamples": resamples,
                        }
                    )
    found = (
        mean_intervals(np.column_stack(columns), pairs.groups, resamples=resamples, seed=seed)
        if columns
        else []
    )
    for row, interval in zip(rows, found, strict=True):
        row |= {"difference": interval.estimate, "ci_low": interval.low, "ci_high": interval.high}
    return pl.DataFrame(rows, infer_schema_length=None)


def selection_overlap(sweep: Sweep) -> pl.DataFrame:
    """Rows of `selection_overlap`, averaged over the seeds (token-budgeted escalation, table V)."""
    rows: list[dict[str, Any]] = []
    for (a, policy_a), (b, policy_b) in combinations(enumerate(sweep.policies), 2):
        both = (sweep.chosen[a] & sweep.chosen[b]).sum(axis=2)
        either = (sweep.chosen[a] | sweep.chosen[b]).sum(axis=2)
        for i, fraction in enumerate(sweep.budgets):
            defined = either[:, i] > 0
            rows.append(
                {
                    "budget_fraction": fraction,
                    "policy_a": policy_a,
                    "policy_b": policy_b,
                    "share_a": float(sweep.chosen[a, :, i].mean()),
                    "share_b": float(sweep.chosen[b, :, i].mean()),
                    "shared": float(both[:, i].mean()),
                    "jaccard": float((both[defined, i] / either[defined, i]).mean())
                    if defined.any()
                    else None,
                }
            )
    return pl.DataFrame(rows, schema_overrides={"jaccard": pl.Float64}, infer_schema_length=None)


def policy_frontier(sweep: Sweep, *, resamples: int = RESAMPLES, seed: int = 0) -> pl.DataFrame:
    """Rows of `frontier` for the policies: quality against realised tokens (token-budgeted escalation, figure 2)."""
    pairs = sweep.pairs
    quality = realised(sweep, pairs.values("cheap_quality"), pairs.values("deep_quality"))
    tokens = pairs.values("cheap_tokens").mean() + sweep.spend(pairs.values("deep_tokens")) / len(pairs)
    flat = quality.reshape(-1, len(pairs)).T
    found = iter(mean_intervals(flat, pairs.groups, resamples=resamples, seed=seed))
    rows: list[dict[str, Any]] = []
    for p, policy in enumerate(sweep.policies):
        for b, fraction in enumerate(sweep.budgets):
            interval = next(found)
            rows.append(
                {
                    "kind": "policy",
                    "name": policy,
                    "budget_fraction": fraction,
                    "tokens_per_question": tokens[p, b],
                    "quality": interval.estimate,
                    "ci_low": interval.low,
                    "ci_high": interval.high,
                }
            )
    return pl.DataFrame(rows, infer_schema_length=None)

"""The published tables of a sweep: `policy_summary`, `policy_comparison`, `selection_overlap` and `frontier`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from apportion.bootstrap import mean_intervals
from apportion.evaluation.pairs import Floats
from apportion.evaluation.sweep import Allocated

RESAMPLES = 2000
BASELINES = ("gain_only", "random", "refusal")
METRICS = ("quality", "accuracy", "tokens_per_question")


def policy_summary(sweep: Allocated) -> pl.DataFrame:
    """Rows of `policy_summary`, without the set and the pair (token-budgeted escalation, tables II and VI)."""
    n = len(sweep.groups)
    quality, accuracy = sweep.played("quality").mean(axis=2), sweep.played("correct").mean(axis=2)
    calls, spend = sweep.calls.sum(axis=2), sweep.spent
    helped, hurt = sweep.changed
    predicted_spend = sweep.predicted_spend()
    rows: list[dict[str, Any]] = []
    for p, policy in enumerate(sweep.policies):
        for b, fraction in enumerate(sweep.budgets):
            tokens = sweep.cheap_tokens + spend[p, b] / n
            rows.append(
                {
                    "policy": policy,
                    "gain_model": sweep.model_of(policy),
                    "budget_fraction": fraction,
                    "questions": n,
                    "left_out": sweep.left_out,
                    "accuracy": accuracy[p, b],
                    "quality": quality[p, b],
                    "tokens_per_question": tokens,
                    "tokens_saved_against_deep": 1 - tokens / sweep.deep_tokens,
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
    sweep: Allocated, baselines: Sequence[str] = BASELINES, *, resamples: int = RESAMPLES, seed: int = 0
) -> pl.DataFrame:
    """Rows of `policy_comparison`: each policy less each baseline at each budget above zero.

    Differences are paired by question; filings are resampled, every difference on the same draws.
    """
    values = {
        "quality": sweep.played("quality"),
        "accuracy": sweep.played("correct"),
        "tokens_per_question": sweep.played("tokens"),
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
        mean_intervals(np.column_stack(columns), sweep.groups, resamples=resamples, seed=seed)
        if columns
        else []
    )
    for row, interval in zip(rows, found, strict=True):
        row |= {"difference": interval.estimate, "ci_low": interval.low, "ci_high": interval.high}
    return pl.DataFrame(rows, infer_schema_length=None)


def selection_overlap(sweep: Allocated) -> pl.DataFrame:
    """Rows of `selection_overlap`, averaged over the seeds (token-budgeted escalation, table V)."""
    rows: list[dict[str, Any]] = []
    for (a, policy_a), (b, policy_b) in combinations(enumerate(sweep.policies), 2):
        both, either = sweep.in_common(a, b)
        for i, fraction in enumerate(sweep.budgets):
            defined = either[:, i] > 0
            rows.append(
                {
                    "budget_fraction": fraction,
                    "policy_a": policy_a,
                    "policy_b": policy_b,
                    "share_a": float(sweep.calls[a, i].mean()),
                    "share_b": float(sweep.calls[b, i].mean()),
                    "shared": float(both[:, i].mean()),
                    "jaccard": float((both[defined, i] / either[defined, i]).mean())
                    if defined.any()
                    else None,
                }
            )
    return pl.DataFrame(rows, schema_overrides={"jaccard": pl.Float64}, infer_schema_length=None)


def policy_frontier(sweep: Allocated, *, resamples: int = RESAMPLES, seed: int = 0) -> pl.DataFrame:
    """Rows of `frontier` for the policies: quality against realised tokens (token-budgeted escalation, figure 2)."""
    quality, tokens = sweep.played("quality"), sweep.cheap_tokens + sweep.spent / len(sweep.groups)
    flat = quality.reshape(-1, len(sweep.groups)).T
    found = iter(mean_intervals(flat, sweep.groups, resamples=resamples, seed=seed))
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

"""The live decision: which deeper calls to buy now, before any of them is made.

It walks the same path as the evaluation, with one difference: a context that was already read is never bought again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.allocation.candidates import Candidates
from apportion.allocation.policies import (
    ORACLE_POLICIES,
    budget_levels,
    known,
    ordered_selection,
    policy_order,
)
from apportion.evaluation.pairs import Floats
from apportion.evaluation.sweep import whole_costs

MICRO = 1_000_000
"""Money is allocated in millionths of a dollar, whole, so that sums are exact."""


@dataclass(frozen=True)
class Plan:
    """What would be escalated.

    Attributes:
        rows: question_id, predicted_gain, predicted_cost (tokens), predicted_usd (null without a price),
            same_context, selected, position (the place in which calls are made; null where not selected).
        limit_tokens: tokens allowed; None under a cap in dollars.
        limit_usd: dollars allowed; None under a cap in tokens.
    """

    rows: pl.DataFrame
    limit_tokens: int | None
    limit_usd: float | None

    @property
    def selected(self) -> pl.DataFrame:
        """The calls to make, in order."""
        return self.rows.filter(pl.col("selected")).sort("position")


def plan_escalation(
    features: pl.DataFrame,
    predicted_gain: Floats,
    predicted_cost: Floats,
    predicted_usd: Floats | None,
    *,
    policy: str,
    budget: float | None = None,
    tokens: int | None = None,
    usd: float | None = None,
    seed: int = 0,
) -> Plan:
    """Choose the calls to buy under one cap.

    Args:
        features: rows of `features` of the pair.
        predicted_gain, predicted_cost: quality and tokens of each deep call, shape (n,).
        predicted_usd: dollars of each, shape (n,); None where a price is unknown.
        policy: a deployable one.
        budget, tokens, usd: exactly one: a fraction of the predicted cost of all candidates, tokens, or dollars.
        seed: of `random`.

    Raises:
        ValueError: not exactly one cap, a cap below zero, an oracle, or a cap in dollars without a price.
    """
    known(policy)
    if policy in ORACLE_POLICIES:
        raise ValueError(f"policy {policy} knows what the deep calls will bring; choose a deployable one")
    given = [
        name for name, value in (("budget", budget), ("tokens", tokens), ("usd", usd)) if value is not None
    ]
    if len(given) != 1:
        raise ValueError(
            f"give exactly one of a budget fraction, tokens or dollars, not {' and '.join(given) or 'none'}"
        )
    if usd is not None and predicted_usd is None:
        raise ValueError(
            "a cap in dollars needs a known price; give it in the price file, or cap tokens instead"
        )
    same = (features["deep_new_pages"] == 0).fill_null(value=False).to_numpy()
    open_rows = np.flatnonzero(~same)
    costs = whole_costs(predicted_cost)
    spent = costs if usd is None or predicted_usd is None else np.ceil(predicted_usd * MICRO).astype(np.int64)
    candidates = Candidates(
        keys=features["question_id"].gather(open_rows).to_list(),
        predicted_gain=predicted_gain[open_rows],
        predicted_cost=spent[open_rows],
        confidence=_signal(features, "cheap_confidence", open_rows),
        margin=_signal(features, "margin", open_rows),
        refused=_signal(features, "cheap_refused", open_rows),
    )
    if usd is not None:
        limit = int(np.floor(usd * MICRO))
    elif tokens is not None:
        limit = tokens
    else:
        limit = budget_levels(policy, candidates, [budget or 0.0])[0]
    if limit < 0:
        raise ValueError(f"a cap below zero ({limit}) buys nothing; give 0 or more")
    order, [chosen] = ordered_selection(policy, candidates, [limit], seed=seed)
    if order is None:
        # A knapsack has no order of its own: its calls go out by gain per token.
        order = policy_order("gain_per_token", candidates, seed=seed)
    selected = np.zeros(features.height, dtype=np.bool_)
    selected[open_rows] = chosen
    position = np.full(features.height, -1, dtype=np.int64)
    wanted = [int(open_rows[i]) for i in (order if order is not None else []) if chosen[i]]
    position[wanted] = np.arange(len(wanted))
    rows = pl.DataFrame(
        {
            "question_id": features["question_id"],
            "predicted_gain": predicted_gain,
            "predicted_cost": costs,
            "predicted_usd": pl.Series(predicted_usd, dtype=pl.Float64)
            if predicted_usd is not None
            else None,
            "same_context": same,
            "selected": selected,
            "position": position,
        },
        schema_overrides={"predicted_usd": pl.Float64},
    ).with_columns(pl.when("selected").then("position").alias("position"))
    return Plan(rows, None if usd is not None else limit, usd)


def _signal(features: pl.DataFrame, name: str, rows: npt.NDArray[np.int64]) -> Floats:
    known: Floats = features[name].gather(rows).cast(pl.Float64).fill_null(np.nan).to_numpy()
    return known

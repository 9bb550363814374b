"""The eight policies of the escalation paper (section II-C), each a few lines on top of the engine.

Five buy by an order and first-fit, three by an exact knapsack; the two oracles look at realised values.

Orders, best first, ties by ascending key throughout:

| policy | order |
|---|---|
| `random` | a seeded permutation of the keys |
| `low_confidence` | confidence of the cheap answer, ascending; unknown last |
| `low_margin` | retrieval margin, ascending; unknown last |
| `gain_only` | predicted gain, descending |
| `gain_per_token` | max(gain, 0) / max(cost, 1), descending; at ratio zero by gain |

An unknown confidence or margin stands last: putting it first would read it as zero. Greedy policies go on
to calls without gain, and so buy everything at the whole budget; by gain, negative ones come after everything
else. A cost of zero or below with a gain of zero or above is free: `gain_per_token` takes it first. The
knapsacks never buy what gains nothing.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from apportion.allocation.candidates import Candidates
from apportion.allocation.greedy import first_fit
from apportion.allocation.inputs import whole_budgets
from apportion.allocation.knapsack import solve, units

Policy = Literal[
    "random",
    "low_confidence",
    "low_margin",
    "gain_only",
    "gain_per_token",
    "knapsack",
    "oracle_cost_knapsack",
    "oracle",
    "refusal",
]
POLICIES: tuple[Policy, ...] = get_args(Policy)
REFUSAL: Policy = "refusal"
"""A rule beside the paper's eight: refusals first, the cheapest first; then the others likewise."""
PAPER_POLICIES: tuple[Policy, ...] = tuple(policy for policy in POLICIES if policy != REFUSAL)
"""The escalation paper's eight, section II-C: they need no reading of the cheap answer."""
KNAPSACK_POLICIES: tuple[Policy, ...] = ("knapsack", "oracle_cost_knapsack", "oracle")
ORACLE_POLICIES: tuple[Policy, ...] = ("oracle_cost_knapsack", "oracle")
KNAPSACK_UNIT = 10
"""Tokens to a unit in the predicted-cost knapsack (paper, section II-C)."""


def policy_order(policy: str, candidates: Candidates, *, seed: int) -> NDArray[np.int64] | None:
    """Return the positions of all candidates in the policy's order, shape (n,); None for the knapsack kinds.

    Args:
        policy: one of `POLICIES`.
        candidates: n candidates.
        seed: of `random`; the others don't use it.

    Raises:
        ValueError: for an unknown policy, or one whose signal the candidates don't have.
    """
    known(policy)
    ranks = candidates.ranks
    if policy in KNAPSACK_POLICIES:
        return None
    if policy == "random":
        return np.argsort(np.random.default_rng(seed).permutation(len(candidates))[ranks]).astype(np.int64)
    by_key = np.argsort(ranks)
    for signal in order_signals(policy, candidates):
        by_key = by_key[np.argsort(signal[by_key], kind="stable")]
    return by_key.astype(np.int64)


def order_signals(policy: str, candidates: Candidates) -> list[NDArray[np.float64]]:
    """Return the signals of a policy's order, ascending, the most important last (NaN sorts last)."""
    gain = candidates.predicted_gain
    if policy == "gain_only":
        return [-gain]
    if policy == "gain_per_token":
        cost = candidates.predicted_cost
        ratio = np.maximum(gain, 0.0) / np.maximum(cost, 1)
        ratio[(cost <= 0) & (gain >= 0)] = np.inf  # free: before every ratio, whatever its size
        return [np.where((ratio == 0) | np.isinf(ratio), -gain, 0.0), -ratio]
    if policy == REFUSAL:
        if candidates.refused is None:
            raise ValueError(
                "policy refusal needs to know who refused, which these candidates don't say: leave it out"
            )
        return [candidates.predicted_cost.astype(np.float64), -candidates.refused]
    name = {"low_confidence": "confidence", "low_margin": "margin"}[policy]
    signal: NDArray[np.float64] | None = getattr(candidates, name)
    if signal is None:
        raise ValueError(
            f"policy {policy} needs {name}, which these candidates don't have: leave the policy out"
        )
    return [signal]


def select(
    policy: str, candidates: Candidates, budgets: Sequence[int], *, seed: int = 0
) -> NDArray[np.bool_]:
    """Return who is escalated at each budget, shape (len(budgets), n); see `ordered_selection`."""
    return ordered_selection(policy, candidates, budgets, seed=seed)[1]


def ordered_selection(
    policy: str, candidates: Candidates, budgets: Sequence[int], *, seed: int = 0
) -> tuple[NDArray[np.int64] | None, NDArray[np.bool_]]:
    """Return the policy's order, None for the knapsack kinds, and who is escalated at each budget.

    Args:
        policy: one of `POLICIES`.
        candidates: n candidates; the oracle kinds need their realised values.
        budgets: whole tokens, in the policy's own currency (see `budget_levels`), shape (b,).
        seed: of `random`.

    Returns:
        Positions of all candidates, shape (n,), as `policy_order` gives them, and booleans of shape (b, n).

    Raises:
        ValueError: for an unknown policy, a negative or fractional budget, or values that the policy lacks.
    """
    known(policy)
    levels = whole_budgets(budgets)
    order = policy_order(policy, candidates, seed=seed)
    if order is not None:
        return order, first_fit(order, candidates.predicted_cost, levels)
    gains, costs, unit = knapsack_problem(policy, candidates)
    by_key = np.argsort(candidates.ranks)
    chosen = np.zeros((levels.shape[0], len(candidates)), dtype=np.bool_)
    gains, weights = gains[by_key], units(costs, unit)[by_key]
    for row, budget in enumerate(levels):
        chosen[row, by_key] = solve(gains, weights, int(budget) // unit)[0]
    return None, chosen


def knapsack_problem(
    policy: str, candidates: Candidates
) -> tuple[NDArray[np.float64], NDArray[np.int64], int]:
    """Return gains, costs in tokens and tokens to a unit of a knapsack policy.

    The oracle counts in single tokens: in tens it could fall below another policy at the same spend.
    """
    if policy == "knapsack":
        return candidates.predicted_gain, candidates.predicted_cost, KNAPSACK_UNIT
    cost = candidates.realised_cost
    if cost is None:
        raise ValueError(
            f"policy {policy} needs realised costs, known only after the deep calls: leave it out"
        )
    if policy == "oracle_cost_knapsack":
        return candidates.predicted_gain, cost, KNAPSACK_UNIT
    if candidates.realised_gain is None:
        raise ValueError("policy oracle needs realised gains, known only after the deep calls: leave it out")
    return candidates.realised_gain, cost, 1


def budget_levels(policy: str, candidates: Candidates, fractions: Sequence[float]) -> list[int]:
    """Return whole-token budgets: each fraction of the sum of predicted costs, for oracles of realised ones.

    Rounded down; a fraction is read as the decimal it is written as, so 0.29 of 100 is 29. Costs below
    zero count as zero.

    Raises:
        ValueError: for an unknown policy, a fraction outside [0, 1], or an oracle without realised costs.
    """
    known(policy)
    for fraction in fractions:
        if not 0 <= fraction <= 1:
            raise ValueError(f"budget fraction {fraction} is outside 0 to 1")
    costs = candidates.realised_cost if policy in ORACLE_POLICIES else candidates.predicted_cost
    if costs is None:
        raise ValueError(
            f"policy {policy} needs realised costs, known only after the deep calls: leave it out"
        )
    total = int(np.maximum(costs, 0).sum())
    return [math.floor(Fraction(repr(float(fraction))) * total) for fraction in fractions]


def known(policy: str) -> None:
    """Raise ValueError, with the nearest name, for a policy that doesn't exist."""
    if policy not in POLICIES:
        from difflib import get_close_matches

        near = get_close_matches(policy, POLICIES, n=1)
        hint = f"did you mean {near[0]}?" if near else f"choose one of {', '.join(POLICIES)}"
        raise ValueError(f"unknown policy {policy!r}: {hint}")

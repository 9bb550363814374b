"""Cost columns: the incremental cost of a reused context, and budgets capped against overspending.

Decisions use predicted costs and the bill comes in realised ones (escalation paper, section II-A). Section III-I
suggests both remedies here: counting only the work that remains when the deep route reuses the cheap one's context,
and keeping a calibrated margin under a hard cap. For users of the library: commands keep caps in the call ledger.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.greedy import checked_order, first_fit_positions
from apportion.allocation.inputs import finite, same_length, whole, whole_budgets

Ints = NDArray[np.int64]


def incremental_cost(
    deep: ArrayLike, reused: ArrayLike, *, cached_rate: float = 0.0, keys: Any = None
) -> Ints:
    """Return what a deep call costs when part of its input is already held, whole tokens, shape (n,).

    Args:
        deep: tokens of the call as if nothing were cached, shape (n,).
        reused: input tokens that it shares with the cheap call, at most `deep`, shape (n,).
        cached_rate: price of a cached input token as a share of a full one, from 0 (free) to 1.
        keys: name rows in errors.

    Rounded up. Raises ValueError for counts below zero, or more reused than sent.
    """
    full, shared = whole("deep", deep, keys), whole("reused", reused, keys)
    same_length(full.shape[0], reused=shared)
    if not 0 <= cached_rate <= 1:
        raise ValueError(f"cached_rate is {cached_rate}: give a share between 0 and 1")
    wrong = (shared < 0) | (shared > full)
    if wrong.any():
        row = int(wrong.argmax())
        name = row if keys is None else keys[row]
        raise ValueError(f"{shared[row]} of {full[row]} tokens reused at {name!r}: give 0 up to all of them")
    # Rounded to a millionth of a token first, so that binary fractions don't add a token.
    return np.ceil(np.round(full - (1.0 - cached_rate) * shared, 6)).astype(np.int64)


@dataclass(frozen=True)
class Cap:
    """A first-fit selection under a hard cap.

    Attributes:
        chosen: who is escalated, shape (n,).
        predicted_spend: whole tokens.
        reserve: tokens kept back for calls that cost more than predicted.
        share: of the budget that is kept back, 0 to 1.
    """

    chosen: NDArray[np.bool_]
    predicted_spend: int
    reserve: int
    share: float


def reserve_for(
    predicted: ArrayLike, upper: ArrayLike, risk: float, *, groups: Any = None, keys: Any = None
) -> int:
    """Return the tokens to keep back so that calls overspend with a probability of at most `risk`.

    Hoeffding's inequality (1963): the errors of m independent groups, each within ± e, have a sum above
    sqrt(2 · ln(1 / risk) · Σ e²) with a probability of at most `risk`. A group's e is the sum of its calls' upper bound
    minus prediction, as if they erred together. The reserve is never more than Σ e, where every call costs its bound.
    It rests on predictions right on average and on bounds that hold; a bound's own miss rate comes on top.

    Args:
        predicted: whole tokens of the chosen calls, shape (m,).
        upper: upper bounds of their cost, shape (m,).
        risk: accepted probability of overspending; above 0, at most 1.
        groups: a label a call (its filing), shape (m,); None takes calls as independent.
        keys: name rows in errors.
    """
    cost, bound = finite("predicted", predicted, keys), finite("upper", upper, keys)
    same_length(cost.shape[0], upper=bound)
    if not 0 < risk <= 1:
        raise ValueError(f"risk is {risk}: give a probability above 0 and at most 1")
    if (bound < cost).any():
        row = int((bound < cost).argmax())
        name = row if keys is None else keys[row]
        raise ValueError(f"upper bound {bound[row]} is below the prediction {cost[row]} at {name!r}")
    excess = bound - cost
    if groups is not None:
        labels = np.unique(np.asarray(groups), return_inverse=True)[1]
        same_length(cost.shape[0], groups=labels)
        excess = np.bincount(labels, weights=excess).astype(np.float64)
    return math.ceil(min(float(excess.sum()), math.sqrt(2 * math.log(1 / risk) * float(excess @ excess))))


def capped_first_fit(
    order: ArrayLike, predicted: ArrayLike, upper: ArrayLike, budget: int, risk: float, *, groups: Any = None
) -> Cap:
    """Return the first-fit selection whose predicted spend and reserve stay within `budget`.

    The level that first-fit may spend is lowered until both fit; it starts at the whole budget.

    Args:
        order: positions of items, best first, shape (m,).
        predicted: whole tokens, shape (n,).
        upper: upper bounds, whole tokens, at least `predicted`, shape (n,).
        budget: whole tokens that realised spend should stay within.
        risk: accepted probability of going above it.
        groups: a label an item, shape (n,); None takes calls as independent.
    """
    cost, bound = np.maximum(whole("predicted", predicted), 0), whole("upper", upper)
    places = checked_order(order, cost.shape[0])
    total = level = int(whole_budgets(budget)[0])
    labels = None if groups is None else np.unique(np.asarray(groups), return_inverse=True)[1]
    bound = np.maximum(bound, 0)
    while True:
        taken = places[first_fit_positions(cost[places], level)] if level >= 0 else places[:0]
        spend = int(cost[taken].sum())
        reserve = reserve_for(
            cost[taken], bound[taken], risk, groups=None if labels is None else labels[taken]
        )
        if spend + reserve <= total:
            chosen = np.zeros(cost.shape[0], dtype=np.bool_)
            chosen[taken] = True
            return Cap(chosen, spend, reserve, reserve / total if total else 0.0)
        # Below zero nobody is taken: even calls predicted to be free can cost more than the budget.
        level = min(spend - 1, total - reserve)

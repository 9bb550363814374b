"""When a call may be sent under a budget: the arithmetic alone, without storage.

A hard cap holds for every call the most it can take, so that the sum never passes the limit, however long the
answers are. What a call does not use comes free when it settles, and whoever waits for room waits for that.

A calibrated cap does the same for as long as it can. Only at the end, when nothing is in flight and the next call's
worst case no longer fits, it may take a risk: it holds a conformal upper bound instead, computed from past calls.
The k-th risk (k = 1, 2, ...) is taken at level ``risk / (k (k + 1))``. These levels sum to ``risk``, and the limit is
passed only if one of these calls exceeds its bound, so that a batch overspends with at most probability ``risk``, as
far as past calls and these are exchangeable.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Amount:
    """Tokens, and USD (0 where the budget does not cap money)."""

    tokens: int
    usd: float = 0.0

    def __add__(self, other: Amount) -> Amount:
        """The sum of both."""
        return Amount(self.tokens + other.tokens, self.usd + other.usd)


NOTHING = Amount(0)


@dataclass(frozen=True)
class State:
    """A budget at one moment: limits (null is none), spent, held, calls in flight, and risks taken so far."""

    limit_tokens: int | None
    limit_usd: float | None
    spent: Amount = NOTHING
    held: Amount = NOTHING
    in_flight: int = 0
    risks_taken: int = 0

    def fits(self, amount: Amount, *, when_settled: bool = False) -> bool:
        """Whether ``amount`` fits beside what is spent and held; with ``when_settled`` beside what is spent alone."""
        total = self.spent + amount if when_settled else self.spent + self.held + amount
        return (self.limit_tokens is None or total.tokens <= self.limit_tokens) and (
            self.limit_usd is None or total.usd <= self.limit_usd * (1 + 1e-12)
        )


@dataclass(frozen=True)
class Decision:
    """Whether a call may be sent, what it holds, and the risk taken with it (0 when it holds its worst case)."""

    verdict: Literal["send", "wait", "leave_out"]
    hold: Amount = NOTHING
    risk_taken: float = 0.0


def decide(
    state: State, worst: Amount, *, risk: float, bound_at: Callable[[float], Amount] | None
) -> Decision:
    """Decide about one call whose worst case is ``worst``.

    ``bound_at`` maps a risk level in (0, 1) to a calibrated bound of the call, at most ``worst``; null is a hard cap.
    """
    if state.fits(worst):
        return Decision("send", worst)
    risk_taken = risk / ((state.risks_taken + 1) * (state.risks_taken + 2))
    needed = worst if bound_at is None else bound_at(risk_taken)
    if not state.fits(needed, when_settled=True):
        return Decision("leave_out")
    if state.in_flight:
        return Decision("wait")
    return Decision("send", needed, risk_taken if needed != worst else 0.0)


def upper_quantile(scores: Sequence[float], level: float) -> float | None:
    """The split-conformal bound: the ceil((n + 1)(1 - level))-th smallest of n ascending scores; null if n is too few.

    A further score, exchangeable with these, exceeds it with probability at most ``level``.
    """
    rank = math.ceil((len(scores) + 1) * (1 - level) - 1e-12)
    return None if rank > len(scores) or rank < 1 else scores[rank - 1]


def score(actual: float, estimate: float, unit: float) -> float:
    """How far a call went beyond its estimated input, in units of its output limit."""
    return (actual - estimate) / unit


def bound_from(quantile: float | None, estimate: float, unit: float, worst: float) -> float:
    """The bound that a quantile of the scores gives a call, never above its worst case nor below 0."""
    return worst if quantile is None else max(0.0, min(worst, estimate + quantile * unit))

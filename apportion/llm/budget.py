"""When a call may be sent under a budget: the arithmetic alone, without storage.

A hard cap holds for every call the most it can take, so that the sum never passes the limit, however long the
answers are. What a call does not use comes free when it settles, and whoever waits for room waits for that.

A calibrated cap does the same for as long as it can. Only at the end, when nothing is in flight and the next call's
worst case no longer fits, it may take a risk: it sends the call if past calls show that it will hardly exceed what is
left. The conformal level of that event (its probability is at most this, if past calls and this one are
exchangeable) is taken from the batch's ``risk``; a call may take half of what is left of it. The limit is passed only
if one of these calls exceeds what was left, so that a batch overspends with at most probability ``risk``.
"""

from __future__ import annotations

import bisect
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
    """A budget at one moment: limits (null is none), spent, held, calls in flight, and the risk used so far."""

    limit_tokens: int | None
    limit_usd: float | None
    spent: Amount = NOTHING
    held: Amount = NOTHING
    in_flight: int = 0
    risk_used: float = 0.0

    def fits(self, amount: Amount, *, when_settled: bool = False) -> bool:
        """Whether ``amount`` fits beside what is spent and held; with ``when_settled`` beside what is spent alone."""
        total = self.spent + amount if when_settled else self.spent + self.held + amount
        return (self.limit_tokens is None or total.tokens <= self.limit_tokens) and (
            self.limit_usd is None or total.usd <= self.limit_usd * (1 + 1e-12)
        )

    def left(self, worst: Amount) -> Amount:
        """What is unspent, and ``worst`` where that is less or there is no limit."""
        return Amount(
            worst.tokens
            if self.limit_tokens is None
            else min(worst.tokens, self.limit_tokens - self.spent.tokens),
            worst.usd if self.limit_usd is None else min(worst.usd, self.limit_usd - self.spent.usd),
        )


@dataclass(frozen=True)
class Decision:
    """Whether a call may be sent, what it holds, and the risk taken with it (0 when it holds its worst case)."""

    verdict: Literal["send", "wait", "leave_out"]
    hold: Amount = NOTHING
    risk_taken: float = 0.0


def decide(
    state: State, worst: Amount, *, risk: float, level_of: Callable[[Amount], float] | None
) -> Decision:
    """Decide about one call whose worst case is ``worst``.

    ``level_of`` bounds the probability that the call takes more than an amount; null is a hard cap.
    """
    if state.fits(worst):
        return Decision("send", worst)
    left, risk_taken = state.left(worst), 0.0
    if left != worst:
        risk_taken = 1.0 if level_of is None or left.tokens <= 0 or left.usd < 0 else level_of(left)
        if risk_taken > (risk - state.risk_used) / 2:
            return Decision("leave_out")
    return Decision("wait") if state.in_flight else Decision("send", left, risk_taken)


def exceedance_level(scores: Sequence[float], threshold: float) -> float:
    """The conformal level of exceeding ``threshold``: (1 + how many of n ascending scores exceed it) / (n + 1).

    A further score, exchangeable with these, exceeds the threshold with at most this probability.
    """
    return (1 + len(scores) - bisect.bisect_right(scores, threshold)) / (len(scores) + 1)


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

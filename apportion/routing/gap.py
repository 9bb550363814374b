"""The Jensen gap: what perfect routing would be worth over the best fixed arm, at any price.

Oracle − BestFixed = E[max_a U_a] − max_a E[U_a] ≥ 0, above 0 exactly where some question's best arm is strictly
better than the best fixed one (adaptive routing, theorem 2 and corollary 3). It is computed as the least mean regret
min_a E[max_b U_b − U_a]: regrets are never negative, and those of an arm that always wins are 0 to the bit, so the gap
is exactly 0 where arms never change places, whatever rounding does to sums.

Intervals resample filings. A resample needs only the filings' sums of the regret of the best fixed arm and of every
arm's quality and cost: another arm may become the best fixed one there. The gap of a resample leans low, since the
maximum of resampled means leans high; the interval is the percentile one and says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apportion.evaluation.bootstrap import Interval, interval, resampled_sums
from apportion.routing.arms import Arms, Floats, check_price

RESAMPLES = 2000


@dataclass(frozen=True)
class Gap:
    """The gap at one price.

    Attributes:
        price: λ.
        oracle: E[max_a U_a].
        best_fixed_arm: index of the best arm for all; of equals the cheaper one, then the first.
        best_fixed: its mean utility.
        gap: with its interval; never below 0.
        reversal_share: questions on which another arm is strictly better.
        questions: that count at this price.
        left_out: that don't: ungraded on some arm or, above price 0, without some cost.
    """

    price: float
    oracle: float
    best_fixed_arm: int
    best_fixed: float
    gap: Interval
    reversal_share: float
    questions: int
    left_out: int


def jensen_gap(
    arms: Arms, prices: Sequence[float], *, resamples: int = RESAMPLES, seed: int = 0, level: float = 0.95
) -> list[Gap]:
    """The gap at each price with filing-clustered intervals; all prices share their draws.

    Args:
        arms: the log.
        prices: λ, each 0 or more.
        resamples: of filings.
        seed: of the draws.
        level: coverage.

    Returns:
        One a price, in the order given; none for a price at which no question counts.
    """
    wanted = [check_price(price) for price in prices]
    found: dict[int, Gap] = {}
    complete = bool(arms.costed.all())
    for free in (True, False):
        places = [
            i for i, price in enumerate(wanted) if i not in found and (complete or (price == 0) is free)
        ]
        part = arms if complete or free else arms.at_price(1.0)
        if not places or len(part) == 0:
            continue
        listed = _gaps(part, [wanted[i] for i in places], resamples, seed, level)
        found |= dict(zip(places, listed, strict=True))
    return [found[i] for i in sorted(found)]


def _gaps(arms: Arms, prices: list[float], resamples: int, seed: int, level: float) -> list[Gap]:
    n, k = arms.quality.shape
    quality = np.ascontiguousarray(arms.quality.T)
    cost = np.zeros_like(quality) if prices == [0.0] else np.ascontiguousarray(arms.cost.T)
    mean_cost = cost.mean(axis=1)
    regrets = np.empty((n, len(prices)))
    best_arms, oracles, fixed = [], [], []
    for place, price in enumerate(prices):
        utility = quality if price == 0 else quality - price * cost
        top = utility[0].copy()
        for arm in range(1, k):
            np.maximum(top, utility[arm], out=top)
        regret = [float((top - utility[arm]).mean()) for arm in range(k)]
        best = min(range(k), key=lambda arm: (regret[arm], mean_cost[arm], arm))
        np.subtract(top, utility[best], out=regrets[:, place])
        best_arms.append(best)
        oracles.append(float(top.mean()))
        fixed.append(float(utility[best].mean()))
    columns = np.column_stack([regrets, quality.T, cost.T, np.ones(n)])
    _, drawn, groups = resampled_sums(columns, arms.groups, resamples=resamples, seed=seed)
    replicates = _replicates(drawn, prices, best_arms, k)
    return [
        Gap(
            price,
            oracles[place],
            best_arms[place],
            fixed[place],
            interval(float(regrets[:, place].mean()), replicates[:, place], groups, level=level),
            float((regrets[:, place] > 0).mean()),
            n,
            arms.left_out,
        )
        for place, price in enumerate(prices)
    ]


def _replicates(drawn: Floats, prices: list[float], best: list[int], k: int) -> Floats:
    """Gaps of the resamples, shape (resamples, prices)."""
    count = len(prices)
    size = drawn[:, -1]
    quality, cost = drawn[:, count : count + k], drawn[:, count + k : count + 2 * k]
    gaps = np.empty((drawn.shape[0], count))
    for place, price in enumerate(prices):
        means = quality - price * cost
        # How much better than the arm of the data another arm became; the arm itself counts as exactly 0.
        ahead = np.maximum((means - means[:, [best[place]]]).max(axis=1), 0.0)
        gaps[:, place] = np.maximum(drawn[:, place] - ahead, 0.0) / size
    return gaps

"""The Jensen gap: what perfect routing would be worth over the best fixed arm, at any price.

Oracle − BestFixed = E[max_a U_a] − max_a E[U_a] ≥ 0, above 0 exactly where some question's best arm is strictly
better than the best fixed one (adaptive routing, theorem 2 and corollary 3). It is computed as the least mean regret
min_a E[max_b U_b − U_a]: regrets are never negative, and those of an arm that always wins are 0 to the bit, so the gap
is exactly 0 where arms never change places, whatever rounding does to sums.

Intervals resample filings; a resample needs only the filings' sums of one regret and of every arm's quality and cost.
Since the gap is the least of K mean regrets, resampling it as it stands would be far too sure where arms are nearly
tied. So the lower end is the least of the arms' own lower ends, which needs no correction, and the upper end the least
of upper ends that hold at once for all arms that could be the best (Chernozhukov, Lee and Rosen 2013, "Intersection
bounds"). With one arm clearly the best that is its percentile interval. The estimate itself leans low where arms are
nearly tied.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apportion.bootstrap import Interval, resampled_sums
from apportion.prediction.threads import one_thread
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
    cost = np.zeros_like(quality) if not any(prices) else np.ascontiguousarray(arms.cost.T)
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
    # Blocks are multiplied side by side; threads inside a product would only wait for each other.
    with one_thread("blas"):
        _, drawn, groups = resampled_sums(columns, arms.groups, resamples=resamples, seed=seed)
    return [
        Gap(
            price,
            oracles[place],
            best_arms[place],
            fixed[place],
            _interval(
                float(regrets[:, place].mean()), drawn, place, price, best_arms[place], arms, groups, level
            ),
            float((regrets[:, place] > 0).mean()),
            n,
            arms.left_out,
        )
        for place, price in enumerate(prices)
    ]


def _interval(
    estimate: float, drawn: Floats, place: int, price: float, best: int, arms: Arms, groups: int, level: float
) -> Interval:
    """The interval of the least mean regret from the resampled sums of one price."""
    if not len(drawn):
        return Interval(estimate, None, None, 0, groups)
    k = len(arms.routes)
    count = drawn.shape[1] - 2 * k - 1
    size = drawn[:, -1]
    quality, cost = drawn[:, count : count + k], drawn[:, count + k : count + 2 * k]
    worth = quality - price * cost
    # An arm's regret is the best fixed arm's and what it lies behind it; that of the best fixed arm is exact.
    replicates = np.maximum((drawn[:, [place]] + worth[:, [best]] - worth) / size[:, None], 0.0)
    tail = (1 - level) / 2
    low = float(np.quantile(replicates, tail, axis=0).min())
    mean_quality = arms.quality.mean(axis=0)
    mean_worth = mean_quality if price == 0 else mean_quality - price * arms.cost.mean(axis=0)
    means = np.maximum(estimate + mean_worth[best] - mean_worth, 0.0)
    spread = replicates.std(axis=0)
    scaled = (replicates - means) / np.where(spread > 0, spread, 1.0)
    # Arms so far behind that they can't be the best, but for a chance that vanishes as filings grow, don't count.
    sure = 1 - 0.1 / np.log(max(groups, 3))
    reach = float(np.quantile(scaled.max(axis=1), sure))
    near = means <= (means + reach * spread).min() + 2 * reach * spread
    high = means + float(np.quantile(scaled[:, near].max(axis=1), 1 - tail)) * spread
    return Interval(estimate, min(low, estimate), max(float(high[near].min()), estimate), len(drawn), groups)

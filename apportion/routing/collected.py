"""How much of the gap a router collects: its gain, with interval and test, and its share of the gap.

A router is compared with two fixed arms. The *best* one of the questions it is tested on is known only with
hindsight: no rule that is fixed beforehand can promise to equal it. The *chosen* one is the best of the calibration
filings, which is what one would play without a router. A router with a floor equals the chosen arm wherever nothing is
certified, on every question; that is what its floor means.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apportion.bootstrap import Interval, group_codes, group_sums, mean_intervals
from apportion.prediction.training import grouped_folds
from apportion.routing.arms import Arms, Floats, Ints, utilities
from apportion.routing.frontier import priced_choices
from apportion.routing.reversal import best_fixed
from apportion.routing.routers import Predicted

ROUNDING = 1e-12


@dataclass(frozen=True)
class Collected:
    """One router at one price.

    Attributes:
        price: λ.
        utility: mean realised utility, over questions and seeds.
        gain: over the best fixed arm on the same questions, with its filing-clustered interval.
        gain_over_chosen: over the fixed arm that the calibration filings chose, likewise; None where none was given.
        gap: the oracle's gain.
        p_value: of the paired test of no gain; None where it isn't defined.
        questions, left_out: that count at this price, and that don't.
    """

    price: float
    utility: float
    gain: Interval
    gain_over_chosen: Interval | None
    gap: float
    p_value: float | None
    questions: int
    left_out: int

    @property
    def share_of_gap(self) -> float | None:
        """Gain by gap; None where there is no gap."""
        return None if self.gap <= 0 or self.gain.estimate is None else self.gain.estimate / self.gap


def collected(
    arms: Arms,
    choices: Ints,
    prices: Sequence[float],
    *,
    chosen: Ints | None = None,
    resamples: int = 2000,
    seed: int = 0,
) -> list[Collected]:
    """What policies collected at each price.

    Args:
        arms: the log.
        choices: the arm of each question, shape (seeds, prices, n).
        prices: λ.
        chosen: the fixed arm that each question's calibration filings chose, shape (seeds, prices, n).
        resamples: of filings.
        seed: of the draws.

    Returns:
        One a price; none for a price at which no question counts.
    """
    found = []
    for place, price in enumerate(prices):
        rows = np.ones(len(arms), dtype=np.bool_) if price == 0 else arms.costed
        if not rows.any():
            continue
        part = arms if rows.all() else arms.rows(rows)
        utility = utilities(part.quality, part.cost, price)
        played = _played(utility, choices[:, place][:, rows])
        fixed = utility[:, best_fixed(part, price)]
        # A mean over equal seeds can miss their value by a rounding, which is no difference.
        ahead = np.where(np.abs(played - fixed) < ROUNDING, 0.0, played - fixed)
        columns = [ahead]
        if chosen is not None:
            # The same arms in the same order give the same bits: where they agree the difference is exactly 0.
            columns.append(played - _played(utility, chosen[:, place][:, rows]))
        gains = mean_intervals(np.column_stack(columns), part.groups, resamples=resamples, seed=seed)
        found.append(
            Collected(
                price,
                float(played.mean()),
                gains[0],
                gains[1] if chosen is not None else None,
                float((utility.max(axis=1) - fixed).mean()),
                paired_p_value(ahead, part.groups),
                len(part),
                part.left_out,
            )
        )
    return found


def _played(utility: Floats, choices: Ints) -> Floats:
    """Mean over the seeds of the utility of the arms taken, shape (n,)."""
    at = np.arange(len(utility))
    return np.asarray(np.mean([utility[at, taken] for taken in choices], axis=0), dtype=np.float64)


def chosen_fixed(arms: Arms, prices: Sequence[float], seeds: Sequence[int]) -> Ints:
    """The best fixed arm of the calibration filings, for each held-out question, shape (seeds, prices, n).

    The folds are those that routers are cross-fitted in. A price at which no calibration question counts plays the
    first arm.
    """
    chosen = np.zeros((len(seeds), len(prices), len(arms)), dtype=np.int64)
    for place, seed in enumerate(seeds):
        folds = grouped_folds(arms.groups, seed)
        for fold in range(int(folds.max()) + 1):
            out = folds == fold
            calibration = arms.rows(~out)
            for at, price in enumerate(prices):
                part = calibration.at_price(price)
                chosen[place, at, out] = best_fixed(part, price) if len(part) else 0
    return chosen


def router_choices(predicted: Predicted, prices: Sequence[float]) -> Ints:
    """The arm of each question by the K-action rule on predictions, shape (seeds, prices, n)."""
    both = zip(predicted.quality, predicted.cost, strict=True)
    return np.stack([priced_choices(quality, cost, list(prices)) for quality, cost in both])


def paired_p_value(difference: Floats, groups: Sequence[str]) -> float | None:
    """Two-sided p value of a mean difference of 0, shape (n,), its error clustered by filing (t, filings − 1 degrees).

    None with fewer than two filings or where nothing differs.
    """
    # Not scipy.stats, whose import takes longer than all else here.
    from scipy.special import stdtr

    codes, count = group_codes(groups)
    if count < 2 or not difference.any():
        return None
    mean = difference.mean()
    residual = group_sums(codes, count, (difference - mean)[:, None])[:, 0]
    error = np.sqrt((residual**2).sum() * count / (count - 1)) / len(difference)
    if error <= 1e-15:
        return 0.0
    return float(2 * stdtr(count - 1, -abs(mean) / error))

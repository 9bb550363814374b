"""How much of the gap a router collects: gain over the best fixed arm, its interval, its test, its share of the gap."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from apportion.evaluation.bootstrap import Interval, group_codes, group_sums, mean_intervals
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
        gap: the oracle's gain.
        p_value: of the paired test of no gain; None where it isn't defined.
        questions, left_out: that count at this price, and that don't.
    """

    price: float
    utility: float
    gain: Interval
    gap: float
    p_value: float | None
    questions: int
    left_out: int

    @property
    def share_of_gap(self) -> float | None:
        """Gain by gap; None where there is no gap."""
        return None if self.gap <= 0 or self.gain.estimate is None else self.gain.estimate / self.gap


def collected(
    arms: Arms, choices: Ints, prices: Sequence[float], *, resamples: int = 2000, seed: int = 0
) -> list[Collected]:
    """What policies collected at each price.

    Args:
        arms: the log.
        choices: the arm of each question, shape (seeds, prices, n).
        prices: λ.
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
        at = np.arange(len(part))
        played = np.mean([utility[at, chosen] for chosen in choices[:, place][:, rows]], axis=0)
        fixed = utility[:, best_fixed(part, price)]
        # A mean over equal seeds can miss their value by a rounding, which is no difference.
        ahead = np.where(np.abs(played - fixed) < ROUNDING, 0.0, played - fixed)
        gain = mean_intervals(ahead[:, None], part.groups, resamples=resamples, seed=seed)[0]
        found.append(
            Collected(
                price,
                float(played.mean()),
                gain,
                float((utility.max(axis=1) - fixed).mean()),
                paired_p_value(ahead, part.groups),
                len(part),
                part.left_out,
            )
        )
    return found


def router_choices(predicted: Predicted, prices: Sequence[float]) -> Ints:
    """The arm of each question by the K-action rule on predictions, shape (seeds, prices, n)."""
    both = zip(predicted.quality, predicted.cost, strict=True)
    return np.stack([priced_choices(quality, cost, list(prices)) for quality, cost in both])


def paired_p_value(difference: Floats, groups: Sequence[str]) -> float | None:
    """Two-sided p value of a mean difference of 0, shape (n,), its error clustered by filing (t, filings − 1 degrees).

    None with fewer than two filings or where nothing differs.
    """
    from scipy.stats import t

    codes, count = group_codes(groups)
    if count < 2 or not difference.any():
        return None
    mean = difference.mean()
    residual = group_sums(codes, count, (difference - mean)[:, None])[:, 0]
    error = np.sqrt((residual**2).sum() * count / (count - 1)) / len(difference)
    if error <= 1e-15:
        return 0.0
    return float(2 * t.sf(abs(mean) / error, count - 1))

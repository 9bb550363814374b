"""How far apart two frontiers lie: the mean vertical distance over a range of cost, with filing-clustered intervals.

A frontier is a family of policies. A resample of filings moves the points of all policies together, the hulls are
taken anew, and the distance is read off between them; so the interval knows that the frontiers share their questions.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from apportion.bootstrap import Interval, interval, resampled_sums
from apportion.routing.arms import Floats, Ints
from apportion.routing.frontier import upper_left_hull

POINTS = 65
"""Costs at which two frontiers are compared."""


@dataclass(frozen=True)
class Family:
    """Policies that were played on the same n questions.

    Attributes:
        cost: of the arm each policy took, shape (n, p).
        quality: likewise.
    """

    cost: Floats
    quality: Floats

    @classmethod
    def of(cls, choices: Ints, cost: Floats, quality: Floats) -> Family:
        """From the arms that p policies took, shape (p, n), and the arms' costs and qualities, shape (n, K)."""
        rows = np.arange(cost.shape[0])
        return cls(cost[rows, choices].T, quality[rows, choices].T)


@dataclass(frozen=True)
class Area:
    """Mean vertical distance of one frontier above another.

    Attributes:
        low, high: the range of mean cost over which it is taken.
        distance: mean difference in quality over the range; the area by the width of the range.
    """

    low: float
    high: float
    distance: Interval

    @property
    def area(self) -> float | None:
        """Quality times cost between the two frontiers."""
        return None if self.distance.estimate is None else self.distance.estimate * (self.high - self.low)


def area_between(
    upper: Family, lower: Family, groups: Any, *, resamples: int = 300, seed: int = 0, level: float = 0.95
) -> Area:
    """The distance of the upper frontier above the lower, over the costs at which both are defined.

    The range goes from the dearer of the two starts to the dearer of the two ends; beyond its end a frontier is flat.

    Args:
        upper, lower: two families over the same questions.
        groups: the filing of each question, shape (n,).
        resamples: of filings; the hulls are taken anew on each.
        seed: of the draws.
        level: coverage.
    """
    n, p = upper.cost.shape
    columns = np.column_stack([upper.cost, upper.quality, lower.cost, lower.quality, np.ones(n)])
    totals, drawn, count = resampled_sums(columns, groups, resamples=resamples, seed=seed)

    def hulls(sums: Floats) -> tuple[Any, Any]:
        means = sums[:-1] / sums[-1]
        a, b = means[: 2 * p], means[2 * p :]
        half = len(b) // 2
        return upper_left_hull(a[:p], a[p:]), upper_left_hull(b[:half], b[half:])

    above, below = hulls(totals)
    low, high = max(above.cost[0], below.cost[0]), max(above.cost[-1], below.cost[-1])
    levels = np.linspace(low, high, POINTS)

    def distance(sums: Floats) -> float:
        one, other = hulls(sums)
        if high <= low:
            return float(one.quality[-1] - other.quality[-1])
        # In a resample a frontier may start later: before its start it offers nothing to compare.
        apart = one.at(levels) - other.at(levels)
        known = np.isfinite(apart)
        return float(apart[known].mean()) if known.any() else float("nan")

    replicates = np.array([distance(sums) for sums in drawn])
    return Area(float(low), float(high), interval(distance(totals), replicates, count, level=level))

"""Do arms change places? Counted question by question, and tested between kinds of questions.

If one arm is the best for almost every question, no router beats always using it (adaptive routing, corollary 3).
A log can show this in two ways. *Question by question*: how many questions, and filings, hold a reversal of the best
fixed arm, and how many could at most where none was seen. But an answer that happened to come out right is a reversal
too. So *between kinds*: whether some other arm is better on average on a kind of questions, beyond what chance would
show (a qualitative interaction: Gail and Simon 1985). The test here resamples filings and takes the largest of all
arms' and kinds' t statistics, so filings that hold several kinds, and looking at many of them, are accounted for.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from apportion.bootstrap import draw_counts, group_codes, group_sums
from apportion.routing.arms import Arms, Floats, check_price, choose, utilities

FEWEST_FILINGS = 5
"""Filings with questions of a kind below which the kind is not tested."""


@dataclass(frozen=True)
class Reversal:
    """The evidence against one arm being the best for all, at one price.

    Attributes:
        price: λ.
        best_fixed_arm: index of the best arm for all.
        questions, filings: that count at this price.
        reversed_questions, reversed_filings: on which another arm is strictly better.
        filings_at_most: upper 95 % bound on the share of filings that hold a reversal, as if drawn at random.
        p_value: of the test that no other arm is better on average on any kind; None where no kind can be tested.
        family: the kind where another arm is most clearly better; None likewise.
        arm: that arm.
        advantage: its mean utility there less that of the best fixed arm.
    """

    price: float
    best_fixed_arm: int
    questions: int
    filings: int
    reversed_questions: int
    reversed_filings: int
    filings_at_most: float
    p_value: float | None
    family: str | None
    arm: int | None
    advantage: float | None


def reversal_table(arms: Arms, price: float) -> pl.DataFrame:
    """How often each arm is the best, by family and over all (family ``all``).

    Returns:
        family, route, questions, uniquely_best (strictly better than every other arm), best (ties count for each),
        mean_utility; rows by family and in the order of the arms.
    """
    part = arms.at_price(check_price(price))
    utility = utilities(part.quality, part.cost, price)
    best = utility == utility.max(axis=1, keepdims=True) if len(part) else utility == 0
    unique = best & (best.sum(axis=1, keepdims=True) == 1)
    families = np.asarray(part.families, dtype=object)
    rows = []
    for family in ["all", *sorted(set(part.families) - {"all"})]:
        here = np.ones(len(part), dtype=np.bool_) if family == "all" else families == family
        rows += [
            {
                "family": family,
                "route": route,
                "questions": int(here.sum()),
                "uniquely_best": int(unique[here, arm].sum()),
                "best": int(best[here, arm].sum()),
                "mean_utility": float(utility[here, arm].mean()) if here.any() else None,
            }
            for arm, route in enumerate(part.routes)
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


def no_reversal_test(arms: Arms, price: float, *, resamples: int = 2000, seed: int = 0) -> Reversal:
    """Test that the best fixed arm is the best on every kind of questions.

    Args:
        arms: the log; its families are the kinds.
        price: λ.
        resamples: of filings.
        seed: of the draws.
    """
    part = arms.at_price(check_price(price))
    if len(part) == 0:
        raise ValueError(f"no question has a cost for every arm: nothing to compare at price {price:g}")
    utility = utilities(part.quality, part.cost, price)
    best = best_fixed(part, price)
    ahead = utility - utility[:, [best]]
    codes, filings = group_codes(part.groups)
    reversed_rows = (ahead > 0).any(axis=1)
    reversed_filings = len(np.unique(codes[reversed_rows]))
    p_value, family, arm, advantage = _between_kinds(part, ahead, codes, filings, best, resamples, seed)
    return Reversal(
        price,
        best,
        len(part),
        filings,
        int(reversed_rows.sum()),
        reversed_filings,
        share_at_most(reversed_filings, filings),
        p_value,
        family,
        arm,
        advantage,
    )


def best_fixed(arms: Arms, price: float) -> int:
    """Index of the arm with the highest mean utility; of equals the cheaper one, then the first."""
    part = arms.at_price(price)
    cost = np.zeros_like(part.cost) if price == 0 and not part.costed.all() else part.cost
    return int(choose(part.quality.mean(axis=0)[None], cost.mean(axis=0)[None], price)[0])


def share_at_most(hits: int, trials: int, level: float = 0.95) -> float:
    """Upper one-sided bound on a probability after ``hits`` of ``trials`` (Clopper and Pearson 1934)."""
    from scipy.special import betaincinv

    return 1.0 if hits >= trials else float(betaincinv(hits + 1, trials - hits, level))


def _between_kinds(
    arms: Arms, ahead: Floats, codes: np.ndarray, filings: int, best: int, resamples: int, seed: int
) -> tuple[float | None, str | None, int | None, float | None]:
    families, kinds = np.unique(np.asarray(arms.families, dtype=object).astype(str), return_inverse=True)
    cells, sizes, sums = [], [], []
    for kind in range(len(families)):
        here = kinds == kind
        size = group_sums(codes, filings, here[:, None].astype(np.float64))[:, 0]
        if (size > 0).sum() < FEWEST_FILINGS:
            continue
        total = group_sums(codes, filings, ahead * here[:, None])
        for arm in range(len(arms.routes)):
            if arm != best and np.ptp(ahead[here, arm]) > 0:
                cells.append((kind, arm))
                sizes.append(size)
                sums.append(total[:, arm])
    if not cells or filings < 2:
        return None, None, None, None
    size, total = np.stack(sizes, axis=1), np.stack(sums, axis=1)
    mean = total.sum(axis=0) / size.sum(axis=0)
    # The spread of a ratio of sums over filings: residuals of each filing, to first order.
    residual = total - size * mean
    error = np.sqrt((residual**2).sum(axis=0)) / size.sum(axis=0)
    usable = error > 0
    if not usable.any():
        return None, None, None, None
    statistic = np.where(usable, mean / np.where(usable, error, 1.0), -np.inf)
    worst = int(np.argmax(statistic))
    # Under the hypothesis no mean is above 0; the least favourable case has them all at 0.
    beyond = seen = 0
    for counts in draw_counts(filings, resamples, seed):
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = (counts @ residual) / (counts @ size) / np.where(usable, error, np.inf)
        largest = np.where(np.isfinite(shift), shift, -np.inf).max(axis=1)
        beyond += int((largest >= statistic[worst]).sum())
        seen += counts.shape[0]
    kind, arm = cells[worst]
    return (1 + beyond) / (1 + seen), str(families[kind]), arm, float(mean[worst])

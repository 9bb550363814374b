"""Evidence that a mean is above zero, without assuming a distribution: bets whose winnings can't be luck for long.

Take independent filings whose differences D_g are known never to fall below −1. If their mean isn't above 0, then for
any stake b in [0, 1) the wealth Π_g (1 + b·D_g) is expected to be 1 at most, so it reaches 1/risk with probability at
most the risk (Markov). The mean over a fixed set of stakes keeps this and needs no guess of the spread. It is the
betting test of Waudby-Smith and Ramdas (2024, "Estimating means of bounded random variables by betting") with stakes
fixed beforehand, so the order of filings changes nothing. It adapts to the variance, where Hoeffding's bound would
need several times the filings. Nothing is assumed of how large a difference can be above.

Many hypotheses at once: one is rejected where its evidence, averaged with that of any others, is at least 1/risk.
That is closed testing with averages, valid however the evidence depends on one another (Vovk and Wang 2021,
"E-values: calibration, combination and applications"): the chance that any true hypothesis is rejected is at most
the risk.
"""

from __future__ import annotations

import numpy as np

from apportion.routing.arms import Flags, Floats

STAKES = np.array([0.99, 0.8, 0.6, 0.45, 0.33, 0.25, 0.18, 0.125, 0.088, 0.0625, 0.044, 0.031, 0.016, 0.008])
"""Fixed stakes, about a factor √2 apart: the best of them is close to the best stake for any mean and spread."""
_MOST = 700.0  # e^700 is as good as certain, and still a number


def log_evidence(differences: Floats, above: Floats | float = 0.0) -> Floats:
    """Log evidence against "the mean is at most `above`", shape (h,).

    Args:
        differences: of filings, in units in which none can fall below −1, shape (filings, h).
        above: the mean to beat, above −1, shape (h,) or one for all.

    Raises:
        ValueError: a difference falls below −1.
    """
    if differences.size and differences.min() < -1 - 1e-9:
        raise ValueError(
            f"a difference is {differences.min():g} where none below −1 was allowed: widen the bound it was scaled by"
        )
    against = np.broadcast_to(np.asarray(above, dtype=np.float64), differences.shape[1:])
    shifted = (np.maximum(differences, -1.0) - against) / (1.0 + against)
    # Stake by stake: filings × hypotheses may be large, times the stakes too large.
    wealth = np.stack([np.log1p(stake * shifted).sum(axis=0) for stake in STAKES])
    top = wealth.max(axis=0)
    mean = top + np.log(np.exp(wealth - top).mean(axis=0))
    return np.asarray(np.clip(mean, -_MOST, _MOST))


def rejected(log_values: Floats, risk: float) -> Flags:
    """Which hypotheses are rejected, all at once at the risk, shape (h,): closed testing with averages."""
    check_risk(risk)
    order = np.argsort(log_values, kind="stable")
    values = np.exp(log_values[order])
    below = np.concatenate([[0.0], np.cumsum(values)])  # sums of the m least
    found = np.zeros(len(values), dtype=np.bool_)
    for place in range(len(values)):
        # The worst company is that of the least: for each size the m least others.
        sizes = np.arange(len(values))
        others = np.where(sizes <= place, below[:-1], below[1:] - values[place])
        found[order[place]] = bool(((values[place] + others) / (1 + sizes)).min() >= 1 / risk)
    return found


def mean_at_least(differences: Floats, risk: float) -> Floats:
    """Lower bounds on the means of h columns that hold at once with probability 1 − risk, shape (h,).

    Args:
        differences: as in `log_evidence`.
        risk: shared among the columns.
    """
    check_risk(risk)
    hypotheses = differences.shape[1]
    threshold = np.log(max(hypotheses, 1) / risk)
    low, high = np.full(hypotheses, -1.0 + 1e-9), differences.mean(axis=0)
    low, high = np.minimum(low, high), high.copy()
    for _ in range(40):
        middle = (low + high) / 2
        beaten = log_evidence(differences, np.maximum(middle, -1.0 + 1e-9)) >= threshold
        low, high = np.where(beaten, middle, low), np.where(beaten, high, middle)
    return np.asarray(low)


def check_risk(risk: float) -> float:
    """The risk itself.

    Raises:
        ValueError: it isn't between 0 and 1.
    """
    if not 0 < risk < 1:
        raise ValueError(f"risk is {risk}: give a probability between 0 and 1, such as 0.05")
    return risk

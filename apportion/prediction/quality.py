"""How good predictions are: R², errors, and how well a score ranks the questions that a deeper call helps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Metric = Callable[[Floats, Floats], float | None]

ECE_BINS = 10


def r2(actual: Floats, predicted: Floats) -> float | None:
    """1 − squared error by variance around the mean; None where the actual values don't vary."""
    spread = float(((actual - actual.mean()) ** 2).sum()) if actual.size else 0.0
    return None if spread == 0 else 1 - float(((actual - predicted) ** 2).sum()) / spread


def mae(actual: Floats, predicted: Floats) -> float | None:
    """Mean absolute error, in the target's unit."""
    return float(np.abs(actual - predicted).mean()) if actual.size else None


def mape(actual: Floats, predicted: Floats) -> float | None:
    """Mean absolute error as a fraction of the actual value; None where one is zero."""
    if not actual.size or (actual == 0).any():
        return None
    return float((np.abs(actual - predicted) / np.abs(actual)).mean())


def auroc(labels: Floats, score: Floats) -> float | None:
    """Chance that a positive scores above a negative, ties counting half; None with one class only."""
    from scipy.stats import rankdata

    positive = labels > 0
    count = int(positive.sum())
    if count in (0, labels.size):
        return None
    ranks = rankdata(score)
    return float((ranks[positive].sum() - count * (count + 1) / 2) / (count * (labels.size - count)))


def auprc(labels: Floats, score: Floats) -> float | None:
    """Average precision: precision at each distinct score, by the recall it adds; None without a positive."""
    positive = labels > 0
    if not positive.any():
        return None
    order = np.argsort(-score, kind="stable")
    found = np.cumsum(positive[order])
    # Equal scores are one threshold: only the last of them counts.
    last = np.append(np.diff(score[order]) != 0, np.True_)
    precision = found[last] / (np.flatnonzero(last) + 1)
    return float((np.diff(found[last], prepend=0) * precision).sum() / found[-1])


def brier(happened: Floats, chance: Floats) -> float | None:
    """Mean squared error of chances."""
    return float(((happened - chance) ** 2).mean()) if happened.size else None


def ece(happened: Floats, chance: Floats) -> float | None:
    """Expected calibration error: the mean gap of chance and frequency over ten bins of equal numbers."""
    if not happened.size:
        return None
    order = np.argsort(chance, kind="stable")
    bins = np.array_split(order, min(ECE_BINS, happened.size))
    gaps = [len(rows) * abs(happened[rows].mean() - chance[rows].mean()) for rows in bins]
    return float(np.sum(gaps) / happened.size)


REGRESSION: dict[str, Metric] = {"r2": r2, "mae": mae, "mape": mape}
RANKING: dict[str, Metric] = {"auroc": auroc, "auprc": auprc}
CHANCE: dict[str, Metric] = {"brier": brier, "ece": ece}

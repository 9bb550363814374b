"""How good predictions are: R², errors, and how well a score ranks the questions that a deeper call helps."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Metric = Callable[[Floats, Floats], float | None]


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
    """Average precision; None without a positive."""
    from sklearn.metrics import average_precision_score

    positive = labels > 0
    return float(average_precision_score(positive, score)) if positive.any() else None


REGRESSION: dict[str, Metric] = {"r2": r2, "mae": mae, "mape": mape}
RANKING: dict[str, Metric] = {"auroc": auroc, "auprc": auprc}

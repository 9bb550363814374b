"""Exact 0/1 knapsack over whole units of cost."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def solve_knapsack(
    gains: NDArray[np.float64], weights: NDArray[np.int64], capacity: int
) -> NDArray[np.bool_]:
    """Return an optimal selection, shape (n,); weights are 0 or more, gains of zero or less are left out."""
    chosen = np.zeros(gains.shape[0], dtype=np.bool_)
    chosen[(gains > 0) & (weights == 0)] = True
    items = np.flatnonzero((gains > 0) & (weights > 0) & (weights <= capacity))
    capacity = min(capacity, int(weights[items].sum()))
    best = np.zeros(capacity + 1)
    taken = np.zeros((items.size, capacity + 1), dtype=np.bool_)
    for row, item in enumerate(items):
        w = int(weights[item])
        with_item = best[: capacity + 1 - w] + gains[item]
        taken[row, w:] = with_item > best[w:]
        best[w:] = np.where(taken[row, w:], with_item, best[w:])
    left = capacity
    for row in range(items.size - 1, -1, -1):
        if taken[row, left]:
            chosen[items[row]] = True
            left -= int(weights[items[row]])
    return chosen

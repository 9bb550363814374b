"""Compiled loops, reached through `apportion.allocation.compiled.kernels`: importing numba takes time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray


def _compile(function: Any) -> Any:
    try:
        return njit(cache=True, nogil=True)(function)
    except RuntimeError:  # nowhere to write the cache: compile anew in each process
        return njit(nogil=True)(function)


@_compile
def tally(drawn: NDArray[np.uint32], counts: NDArray[np.float64]) -> None:
    """Add one to counts[r, drawn[r, i]] for every r and i."""
    for r in range(drawn.shape[0]):
        row = counts[r]
        for i in range(drawn.shape[1]):
            row[drawn[r, i]] += 1.0

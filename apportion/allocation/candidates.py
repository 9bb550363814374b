"""The candidates of a two-arm allocation: questions with a cheap answer and an optional deep call."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from apportion.allocation.inputs import finite, key_ranks, same_length, whole


@dataclass(frozen=True)
class Candidates:
    """What is known of n optional deep calls (escalation paper, section II-A).

    Attributes:
        keys: unique question ids, an array, list or series, shape (n,); they break every tie, so the order
            of rows changes nothing.
        predicted_gain: quality points, finite, shape (n,).
        predicted_cost: whole tokens, shape (n,).
        confidence: of the cheap answer, shape (n,); NaN is unknown. None where no confidence was logged.
        margin: between the first two retrieval scores, shape (n,); NaN is unknown. None where not logged.
        realised_gain: quality points, shape (n,); None before the deep calls are made.
        realised_cost: whole tokens, shape (n,); None before the deep calls are made.
        refused: 1 where the cheap answer refuses, else 0, shape (n,); NaN is unknown. None where not logged.

    Raises:
        ValueError: if an array's length differs, a key stands twice, or a value is infinite, or NaN where
            it may not be.
    """

    keys: Any
    predicted_gain: NDArray[np.float64]
    predicted_cost: NDArray[np.int64]
    confidence: NDArray[np.float64] | None = None
    margin: NDArray[np.float64] | None = None
    realised_gain: NDArray[np.float64] | None = None
    realised_cost: NDArray[np.int64] | None = None
    refused: NDArray[np.float64] | None = None

    def __post_init__(self) -> None:
        for name, check in (
            ("predicted_gain", finite),
            ("predicted_cost", whole),
            ("confidence", _known_or_nan),
            ("margin", _known_or_nan),
            ("refused", _known_or_nan),
            ("realised_gain", finite),
            ("realised_cost", whole),
        ):
            values = getattr(self, name)
            if values is not None:
                same_length(len(self.keys), **{name: np.asarray(values)})
                object.__setattr__(self, name, check(name, values, self.keys))

    def __len__(self) -> int:
        return len(self.keys)

    @cached_property
    def ranks(self) -> NDArray[np.int64]:
        """Rank of each row's key in ascending order: the tie-break."""
        return key_ranks(self.keys)


def _known_or_nan(name: str, values: Any, keys: Any) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    finite(name, np.nan_to_num(array, nan=0.0, posinf=np.inf, neginf=-np.inf), keys)
    return array

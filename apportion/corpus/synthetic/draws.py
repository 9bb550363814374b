"""Draws that give the same values on every machine and Python version."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


class Draw:
    """A stream of draws named by a key; streams with different keys are independent.

    Only ``random.Random.random`` is used, whose sequence Python keeps for a given seed; everything else is integer
    arithmetic, sums, products and quotients on it, which IEEE 754 fixes to the last bit.
    """

    def __init__(self, *key: object) -> None:
        digest = hashlib.sha256("\x1f".join(str(part) for part in key).encode()).digest()
        self._random = random.Random(int.from_bytes(digest[:8], "big"))  # noqa: S311 (nothing secret)

    def between(self, low: float, high: float) -> float:
        """A number in [low, high)."""
        return low + self._random.random() * (high - low)

    def integer(self, low: int, high: int) -> int:
        """A whole number in [low, high], both included."""
        return low + int(self._random.random() * (high - low + 1))

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self._random.random() < probability

    def pick(self, options: Sequence[T]) -> T:
        """One of ``options``."""
        return options[self.integer(0, len(options) - 1)]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """``options`` in a random order (Fisher-Yates)."""
        order = list(options)
        for last in range(len(order) - 1, 0, -1):
            other = self.integer(0, last)
            order[last], order[other] = order[other], order[last]
        return order


def rounded(value: float) -> int:
    """The nearest whole number, halves away from zero."""
    return int(value + 0.5) if value >= 0 else -int(-value + 0.5)


def split(total: int, weights: Sequence[float]) -> list[int]:
    """Whole numbers in about the proportion of ``weights`` (positive) that sum to ``total``.

    Each is rounded towards zero; what is left goes to the largest weight, the first of equals.
    """
    whole = sum(weights)
    parts = [int(total * weight / whole) for weight in weights]
    parts[max(range(len(weights)), key=lambda i: (weights[i], -i))] += total - sum(parts)
    return parts

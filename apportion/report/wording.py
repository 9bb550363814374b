"""Sentences on published figures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def difference(row: Mapping[str, Any], subject: str, unit: str = "", digits: int = 3) -> str:
    """A difference with its interval, and whether that excludes zero.

    Args:
        row: ``difference``, ``ci_low`` and ``ci_high``, the last two null where only one filing is there.
        subject: what is compared, up to the verb.
        unit: words behind the figure.
        digits: after the decimal point.
    """
    start = f"{subject} {row['difference']:+.{digits}f}{unit}"
    if row["ci_low"] is None:
        return f"{start}; an interval is not estimable from one filing."
    supported = row["ci_low"] > 0 or row["ci_high"] < 0
    tail = "a supported difference" if supported else "not distinguishable from none"
    return f"{start} (95 % interval {row['ci_low']:+.{digits}f} to {row['ci_high']:+.{digits}f}): {tail}."

"""Values as people read them, the same in a terminal and in the report."""

from __future__ import annotations

from typing import Any


def cell(value: Any) -> str:
    """One value of a table: unknown is a dash, never a zero; large figures lose their fraction."""
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        if abs(value) >= 1000 or (value == round(value) and abs(value) >= 10):
            return f"{value:,.0f}"
        return f"{value:,.1f}" if abs(value) >= 100 else f"{value:.3f}"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) >= 10_000 else str(value)
    return str(value)

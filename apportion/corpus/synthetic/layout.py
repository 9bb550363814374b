"""How figures and text are set: rows of a table on one line or spread over several, amounts in words, pages."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

WIDTH = 108


@dataclass(frozen=True)
class Row:
    """One row: a label and its cells as printed. Without cells it is a heading."""

    label: str
    cells: tuple[str, ...] = ()
    money: bool = False


def amount(value: int) -> str:
    """A whole number as statements print it: negative in parentheses, nothing as a dash."""
    if value == 0:
        return "—"
    return f"({-value:,})" if value < 0 else f"{value:,}"


def cents(value: int) -> str:
    """An amount in cents as dollars: negative in parentheses, nothing as a dash."""
    if value == 0:
        return "—"
    shown = f"{abs(value) // 100:,}.{abs(value) % 100:02d}"
    return f"({shown})" if value < 0 else shown


def percent(part: float, whole: float, decimals: int = 1) -> str:
    """``part`` in percent of ``whole`` (not zero)."""
    return f"{100 * part / whole:.{decimals}f}%"


def row(label: str, *values: int, money: bool = False) -> Row:
    """A row of whole amounts."""
    return Row(label, tuple(amount(value) for value in values), money)


def table(rows: Sequence[Row], spread: bool) -> str:
    """The rows as text: one line each, or label, currency sign and every cell on lines of their own."""
    lines: list[str] = []
    for entry in rows:
        if not entry.cells:
            lines.append(entry.label)
        elif spread:
            lines.append(entry.label)
            for cell in entry.cells:
                lines += ["$", cell] if entry.money else [cell]
        else:
            sign = "$ " if entry.money else ""
            lines.append("   ".join((entry.label, *(sign + cell for cell in entry.cells))))
    return "\n".join(lines)


def header(opening: str, columns: Sequence[str], spread: bool) -> str:
    """A table's head: what its columns are, then the columns."""
    return "\n".join((opening, *columns)) if spread else f"{opening}\n" + "   ".join(columns)


def in_words(value: int, unit: str) -> str:
    """An amount as running text says it, rounded: ``$1.24 billion``, ``$318 million``, ``$4.6 million``."""
    whole = abs(value) * (1_000 if unit == "thousands" else 1_000_000)
    sign = "-" if value < 0 else ""
    if whole >= 1_000_000_000:
        return f"{sign}${whole / 1e9:.2f} billion"
    millions = whole / 1e6
    return f"{sign}${millions:,.0f} million" if millions >= 100 else f"{sign}${millions:,.1f} million"


@lru_cache(maxsize=512)
def paragraph(text: str) -> str:
    """Running text in lines of bounded length, as a page prints it. Cached, since filings share most of it."""
    return "\n".join(textwrap.wrap(text, WIDTH, break_long_words=False, break_on_hyphens=False))

"""Finding a line item's figure for a year among parsed pages, with how sure the match is."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from apportion.accounting import fold
from apportion.line_items import ITEMS_BY_NAME, LineItem
from apportion.llm.embedded.layout import Page, Row, squash

_MINIMUM = 0.45
# A quarter's figure where a year's is asked for, or the other way round.
WRONG_PERIOD = 0.7


@dataclass(frozen=True, slots=True)
class Found:
    """A figure in whole units (money times the page's scale), its row, its certainty in [0, 1], and whether
    the page said its scale."""

    value: float
    row: Row
    certainty: float
    scaled: bool


@dataclass(slots=True)
class Statements:
    """The pages of one prompt, asked for figures.

    ``quarterly`` says that part of a year is asked for. ``used`` collects what was found, for quotes and
    confidence.
    """

    pages: Sequence[Page]
    quarterly: bool = False
    used: dict[tuple[str, int], Found] = field(default_factory=dict)

    def figure(self, name: str, year: int) -> float | None:
        """The value of line item ``name`` in ``year``, null where no row is sure enough."""
        found = self.find(name, year)
        if found is None:
            return None
        self.used[name, year] = found
        return found.value

    def years(self) -> list[int]:
        """Every year that heads a column, latest first."""
        return sorted(
            {year for page in self.pages for header in page.headers for year in header.years}, reverse=True
        )

    def find(self, name: str, year: int) -> Found | None:
        """The best row for ``name`` with a value under ``year``; the first page and row win a tie."""
        item = ITEMS_BY_NAME[name]
        best: Found | None = None
        for page in self.pages:
            fit = _statement_fit(item, page)
            if fit == 0:
                continue
            for index, certainty in _matches(page, name):
                row = page.rows[index]
                value = _value(row, page, year)
                if value is None:
                    continue
                sure = certainty * fit * (1 if row.aligned else 0.5)
                if item.statement != "balance" and page.headers[row.header].interim != self.quarterly:
                    sure *= WRONG_PERIOD
                if sure >= _MINIMUM and (best is None or sure > best.certainty + 1e-9):
                    best = self._found(item, page, row, value, sure)
        return best

    def _found(self, item: LineItem, page: Page, row: Row, value: float, certainty: float) -> Found:
        scale = 1.0 if item.unit == "per_share" else self._scale(page)
        value = abs(value) if item.magnitude else value
        return Found(value * (scale or 1.0), row, certainty, scale is not None)

    def _scale(self, page: Page) -> float | None:
        if page.scale is not None:
            return page.scale
        return next((other.scale for other in self.pages if other.scale is not None), None)


def _statement_fit(item: LineItem, page: Page) -> float:
    if page.statement is None:
        return 0.75
    if page.statement == item.statement:
        return 1.0
    if item.statement == "balance" and page.statement == "cash_flow":
        return 0.0  # what a cash flow statement prints beside "Inventories" is their change
    if item.statement == "income" and page.statement == "cash_flow":
        return 0.7  # net income opens the cash flow statement
    return 0.6


@lru_cache(maxsize=8192)
def _matches(page: Page, name: str) -> tuple[tuple[int, float], ...]:
    """Rows of ``page`` that may be line item ``name``, with the certainty of the wording alone."""
    found = []
    item = ITEMS_BY_NAME[name]
    labels = _labels(name)
    for index, row in enumerate(page.rows):
        certainty = _label_certainty(row, item, labels)
        if certainty > 0:
            found.append((index, certainty))
    return tuple(found)


@lru_cache(maxsize=128)
def _labels(name: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(squash(label) for label in ITEMS_BY_NAME[name].labels))


def _label_certainty(row: Row, item: LineItem, labels: tuple[str, ...]) -> float:
    if row.percent:
        return 0.0
    label = squash(row.label)
    if label in ("total", "totalnet", "net") and row.heading:
        label = (
            ("total" if label != "net" else "") + squash(row.heading) + ("net" if label != "total" else "")
        )
    if not label:
        return 0.0
    best = 0.0
    for rank, wanted in enumerate(labels):
        if label == wanted:
            return max(best, 1.0 - 0.004 * rank)
        if len(wanted) >= 6 and label.startswith(wanted):
            best = max(best, 0.86 - 0.003 * rank - 0.003 * min(60, len(label) - len(wanted)))
        elif len(wanted) >= 12 and wanted in label:
            best = max(best, 0.68 - 0.003 * rank - 0.003 * min(60, len(label) - len(wanted)))
    return 0.0 if best and _barred(row.label, item) else best


def _barred(label: str, item: LineItem) -> bool:
    lowered = label.lower()
    spaced = " " in lowered.strip()
    for word in item.barred:
        if spaced and re.search(rf"(?<![a-z]){re.escape(word)}", lowered):
            return True
        if not spaced and len(word) >= 4 and fold(word) in fold(lowered):
            return True
    return False


def _value(row: Row, page: Page, year: int) -> float | None:
    if row.header < 0:
        return None
    years = page.headers[row.header].years
    if year not in years:
        return None
    place = years.index(year)
    if not row.aligned and len(row.values) < len(years):
        return None
    return row.values[place] if place < len(row.values) else None

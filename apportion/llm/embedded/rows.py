"""Questions after a line that no table of line items knows: the row whose own label stands in the question."""

from __future__ import annotations

import re
from collections.abc import Sequence

from apportion.accounting import fold
from apportion.llm.embedded.expressions import years_in
from apportion.llm.embedded.layout import Page, Row, squash

Reply = tuple[str, float, list[str]]

CONFIDENCE = 0.7
_AMOUNT_ASKED = re.compile(r"\b(?:what (?:is|was|were|are)|how much|how many)\b", re.IGNORECASE)
_SHORTEST = 6
# Labels that say too little by themselves.
_VAGUE = frozenset(
    {"total", "totals", "other", "othernet", "amount", "balance", "yearended", "december", "company"}
)


def named_row(question: str, pages: Sequence[Page]) -> Reply | None:
    """The value, in the asked year, of the row whose label ``question`` holds word for word; null without one.

    The longest label wins, then the first page and row. A row of percentages answers in percent, any other in the
    page's unit of money, whole numbers as they are where the page states none.
    """
    if not _AMOUNT_ASKED.search(question):
        return None
    asked = re.split(r"(?<=\?)\s", question)[0]
    folded = re.sub(r"[^a-z&%]", "", fold(asked))
    years = years_in(asked) or years_in(question)
    best: tuple[int, float, Row, Page] | None = None
    for page in pages:
        for row in page.rows:
            label = squash(row.label)
            if (
                len(label) < _SHORTEST
                or label in _VAGUE
                or label not in folded
                or not _whole_words(row.label, asked)
            ):
                continue
            value = _value(row, page, years)
            if value is not None and (best is None or len(label) > best[0]):
                best = (len(label), value, row, page)
    if best is None:
        return None
    _, value, row, page = best
    return _shown(value, row, page), CONFIDENCE, [row.text()]


def _whole_words(label: str, question: str) -> bool:
    """Whether the label's first and last word stand as words in the question ("rent" isn't in "current")."""
    words = re.findall(r"[A-Za-z&]+", re.sub(r"\([^()]*\)", " ", label))
    return all(re.search(rf"\b{re.escape(word)}", question, re.IGNORECASE) for word in (words[0], words[-1]))


def _value(row: Row, page: Page, years: Sequence[int]) -> float | None:
    if row.header < 0 or not row.aligned:
        return None
    heads = page.headers[row.header].years
    year = max(years) if years else max(heads)
    if year not in heads or heads.index(year) >= len(row.values):
        return None
    return row.values[heads.index(year)]


def _shown(value: float, row: Row, page: Page) -> str:
    sign = "-" if value < 0 else ""
    if row.percent:
        return f"{sign}{abs(value):g}%"
    if page.scale is None:
        return f"{sign}{abs(value):,.10g}"
    if re.search(r"per share|per common|shares|employees|stores|number", row.label, re.IGNORECASE):
        return f"{sign}{abs(value):,.10g}"
    unit = {1e3: "thousand", 1e6: "million", 1e9: "billion"}[page.scale]
    return f"{sign}${abs(value):,.10g} {unit}"

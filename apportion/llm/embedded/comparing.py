"""Questions that ask which of several named figures is the largest or the smallest."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence

from apportion.accounting import mentions
from apportion.line_items import ITEMS_BY_NAME
from apportion.llm.embedded.expressions import MissingFigureError, evaluate, formula, years_in
from apportion.llm.embedded.layout import Page
from apportion.llm.embedded.lookup import Statements
from apportion.llm.embedded.questions import asks_quarter

_COMPARES = re.compile(
    r"\bwhich\b.*\b(most|highest|largest|biggest|greatest|least|lowest|smallest)\b", re.IGNORECASE
)
_SMALLEST = frozenset({"least", "lowest", "smallest"})
# The three kinds of activity of a cash flow statement, as questions list them.
_ACTIVITIES = re.compile(
    r"\boperat\w+\b.*\binvest\w+\b.*\bfinanc\w+\b|\bfinanc\w+\b.*\binvest\w+\b.*\boperat\w+\b", re.I
)
_ACTIVITY_ITEMS = ("operating_cash_flow", "investing_cash_flow", "financing_cash_flow")


def compare(question: str, pages: Sequence[Page]) -> tuple[str, Statements] | None:
    """The largest (or smallest) of the figures that ``question`` names, in words; null where it compares none."""
    asks = _COMPARES.search(question)
    if asks is None:
        return None
    if _ACTIVITIES.search(question) and re.search(r"\bcash\b", question, re.IGNORECASE):
        names: tuple[str, ...] = _ACTIVITY_ITEMS
    else:
        names = _listed(question)
    statements = Statements(pages, quarterly=asks_quarter(question))
    years = years_in(question) or statements.years()[:1]
    if len(names) < 2 or not years:
        return None
    year = max(years)
    values = {}
    for name in names:
        try:
            found = statements.figure(name, year) if name in ITEMS_BY_NAME else None
            values[name] = evaluate(formula(name), year, statements.figure) if found is None else found
        except (MissingFigureError, ValueError):
            return None
    pick = min if asks[1].lower() in _SMALLEST else max
    name = pick(names, key=lambda each: values[each])
    million = values[name] / 1e6
    sign = "-" if million < 0 else ""
    answer = f"{name.replace('_', ' ').capitalize()}: {sign}${abs(million):,.0f} million in FY{year}."
    return answer, statements


def _listed(question: str) -> tuple[str, ...]:
    """The names that ``question`` lists side by side ("among A, B and C"); empty where there is no such list."""
    found = mentions(question)
    run = found[:1]
    for left, right in itertools.pairwise(found):
        if re.fullmatch(r"[\s,]*(?:and|or|versus|vs\.?)?[\s,]*(?:the\s+)?", question[left.end : right.start]):
            run.append(right)
        elif len(run) > 1:
            break
        else:
            run = [right]
    return tuple(dict.fromkeys(mention.name for mention in run)) if len(run) > 1 else ()

"""Questions with a computed answer: read the task, find the figures, do the arithmetic, word the result."""

from __future__ import annotations

from collections.abc import Sequence

from apportion.answers.abstention import ABSTENTION
from apportion.llm.embedded.comparing import compare
from apportion.llm.embedded.expressions import MissingFigureError, evaluate
from apportion.llm.embedded.layout import Page
from apportion.llm.embedded.lookup import Statements
from apportion.llm.embedded.questions import Task, asks_quarter, read_question

Reply = tuple[str, float, list[str]]

ABSTAINS: Reply = (ABSTENTION, 0.02, [])


def compute(question: str, pages: Sequence[Page]) -> Reply | None:
    """The computed answer to ``question`` from ``pages``; null where it asks for none or a figure is missing."""
    compared = compare(question, pages)
    if compared is not None:
        return compared[0], _confidence(compared[1]), _quotes(compared[1])
    task = read_question(question)
    if task is None:
        return None
    statements = Statements(pages, quarterly=asks_quarter(question))
    try:
        years = task.years or tuple(statements.years()[:1])
        if not years:
            return None
        answer = (
            _figure(task, years, statements)
            if task.kind == "figure"
            else _conclusion(task, years, statements)
        )
    except MissingFigureError:
        # A question that fixes formula, unit or rounding wants that figure; no passage can stand in for it.
        return ABSTAINS if task.exact else None
    return answer, _confidence(statements), _quotes(statements)


def _figure(task: Task, years: Sequence[int], statements: Statements) -> str:
    value, percent = _result(task, years, statements)
    return _show(task, value, percent, statements)


def _conclusion(task: Task, years: Sequence[int], statements: Statements) -> str:
    """A sentence on one or two years of the task's figure, with yes or no where the question asks for that."""
    last = max(years)
    now = evaluate(task.expression, last, statements.figure)
    named = task.named
    if task.kind == "level":
        verdict = now >= task.threshold if task.threshold else now > 0
        verdict = verdict if task.rising else now < 0
        return f"{_yes(verdict)}. {named} was {_shown(task, now, statements)} in FY{last}."
    first = min(years) if min(years) < last else last - 1
    before = evaluate(task.expression, first, statements.figure)
    moved = "rose" if now > before else "fell" if now < before else "stayed the same"
    sentence = (
        f"{named} {moved} from {_shown(task, before, statements)} in FY{first} "
        f"to {_shown(task, now, statements)} in FY{last}"
    )
    if task.unit == "percent":
        sentence += f", a change of {_rounded(100 * (now - before), 1)} percentage points"
    elif before:
        sentence += f", a change of {_rounded(100 * (now - before) / abs(before), 1)}%"
    if not task.yes_no:
        return sentence + "."
    up = now > before if task.rising else now < before
    return f"{_yes(up)}. {sentence}."


def _yes(verdict: bool) -> str:
    return "Yes" if verdict else "No"


def _shown(task: Task, value: float, statements: Statements) -> str:
    return _show(task, value, task.unit == "percent", statements)


def _result(task: Task, years: Sequence[int], statements: Statements) -> tuple[float, bool]:
    """The result and whether it is a fraction to be shown in percent."""
    first, last = min(years), max(years)

    def at(year: int) -> float:
        return evaluate(task.expression, year, statements.figure)

    fraction = task.unit in ("percent", "ratio")
    if task.wrapper == "average":
        span = range(first, last + 1)
        return sum(at(year) for year in span) / len(span), task.percent and fraction
    if task.wrapper == "cagr":
        start, end = at(first), at(last)
        if last == first or start <= 0 or end <= 0:
            raise MissingFigureError("growth needs two years and positive amounts")
        return (end / start) ** (1 / (last - first)) - 1, True
    if task.wrapper in ("growth", "change"):
        if first == last:
            first = last - 1
        start, end = at(first), at(last)
        if task.unit == "percent" or (task.wrapper == "change" and not task.percent):
            return end - start, task.percent and fraction
        if start == 0:
            raise MissingFigureError("growth from nothing")
        return (end - start) / abs(start), True
    return at(last), task.percent and fraction


def _show(task: Task, value: float, percent: bool, statements: Statements) -> str:
    if percent:
        return f"{_rounded(100 * value, 1 if task.decimals is None else task.decimals)}%"
    if task.unit == "money":
        return _money(task, value, statements)
    return _rounded(value, 2 if task.decimals is None else task.decimals)


def _money(task: Task, value: float, statements: Statements) -> str:
    scale = task.scale
    if scale is None:
        scale = 1e9 if abs(value) >= 1e9 else 1e6
    name = {1e3: "thousand", 1e6: "million", 1e9: "billion"}[scale]
    if not all(found.scaled for found in statements.used.values()):
        return f"{'-' if value < 0 else ''}${abs(value):,.2f}"
    decimals = task.decimals if task.decimals is not None else (2 if scale == 1e9 else 0)
    shown = _rounded(abs(value) / scale, decimals)
    return f"{'-' if value < 0 else ''}${shown} {name}"


def _rounded(value: float, decimals: int) -> str:
    shown = f"{value:,.{decimals}f}"
    return shown.removeprefix("-") if float(shown.replace(",", "")) == 0 else shown


def _confidence(statements: Statements) -> float:
    used = statements.used.values()
    weakest = min((found.certainty for found in used), default=0.0)
    certain = weakest * 0.985 ** max(0, len(used) - 1)
    if not all(found.scaled for found in used):
        certain *= 0.6
    return round(max(0.05, min(0.98, certain)), 3)


def _quotes(statements: Statements) -> list[str]:
    rows = dict.fromkeys(found.row.text() for found in statements.used.values())
    return list(rows)[:8]

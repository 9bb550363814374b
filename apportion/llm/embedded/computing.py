"""Questions with a computed answer: read the task, find the figures, do the arithmetic, word the result."""

from __future__ import annotations

from collections.abc import Sequence

from apportion.accounting import METRICS_BY_NAME
from apportion.llm.embedded.expressions import MissingFigureError, evaluate
from apportion.llm.embedded.layout import Page
from apportion.llm.embedded.lookup import Statements
from apportion.llm.embedded.questions import Task, read_question

Reply = tuple[str, float, list[str]]


def compute(question: str, pages: Sequence[Page]) -> Reply | None:
    """The computed answer to ``question`` from ``pages``; null where it asks for none or a figure is
    missing."""
    task = read_question(question)
    if task is None:
        return None
    statements = Statements(pages)
    try:
        years = task.years or tuple(statements.years()[:1])
        if not years:
            return None
        value, percent = _result(task, years, statements)
    except MissingFigureError:
        return None
    return _show(task, value, percent, statements), _confidence(statements), _quotes(statements)


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


def better_direction(name: str) -> str:
    """Which way an improvement of a metric goes: ``up``, ``down`` or ``none``."""
    metric = METRICS_BY_NAME.get(name)
    return metric.better if metric else "up"

"""Formulas over line items: the accounting table's own, and those that a question spells out in words.

Both are parsed by one grammar (sums of products of operands in brackets) and evaluated for a year against
whatever finds the figures. A worded operand such as "average accounts payable between FY2016 and FY2017"
carries its own years; any other takes the year that is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache

from apportion.accounting import METRICS_BY_NAME, fold, mentions
from apportion.line_items import ITEMS_BY_NAME

FUNCTIONS = frozenset({"avg", "change", "growth", "optional"})
_DEPTH = 12


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: float


@dataclass(frozen=True, slots=True)
class Ref:
    """A line item or metric, in ``year`` or, where that is null, in the year evaluated for."""

    name: str
    year: int | None = None


@dataclass(frozen=True, slots=True)
class Call:
    """A function of an expression over ``years``; over the year evaluated for and the one before where
    empty."""

    function: str
    argument: Expression
    years: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Binary:
    """Two expressions joined by ``+``, ``-``, ``*`` or ``/``."""

    operator: str
    left: Expression
    right: Expression


Expression = Number | Ref | Call | Binary


class MissingFigureError(LookupError):
    """A figure that an expression needs isn't to be found, or the arithmetic has no result."""


def years_in(text: str) -> list[int]:
    """Years that ``text`` names ("FY2019", "2019", "FY19", "fiscal 2019"), in order, each once."""
    found = []
    for match in re.finditer(
        r"\b(?:FY|fiscal(?: year)?|year)?\s?'?((?:19|20)\d\d)\b|\bFY\s?'?(\d\d)\b|\bQ[1-4]\s?'?((?:20)\d\d)\b",
        text,
        re.I,
    ):
        year = int(match[1] or match[3]) if match[1] or match[3] else 2000 + int(match[2])
        if year not in found:
            found.append(year)
    return found


def parse_formula(text: str) -> Expression:
    """A formula of the accounting table.

    Raises:
        ValueError: if it isn't one, or names an unknown item.
    """
    return _Parser(text, _named_operand).parse()


def parse_worded(text: str, definitions: Mapping[str, Expression]) -> Expression | None:
    """A formula in a question's own words; null where part of it isn't understood.

    ``definitions`` are names that the question itself defines, folded (:func:`apportion.accounting.fold`).
    """
    text = re.sub(r"[\[(](?:from|using|as shown|per|based)\b[^\])]*[\])]", " ", text, flags=re.IGNORECASE)
    text = re.sub(
        r"\bfrom (?:the )?(?:cash flow statement|statement of cash flows|income statement|balance sheet)",
        " ",
        text,
        flags=re.I,
    )
    text = re.sub(r"\(([A-Z][A-Z&]{1,6})\)", " ", text)
    text = re.sub(r"((?:FY\s?)?\d{4})\s*[-–—]\s*((?:FY\s?)?\d{4})", r"\1 to \2", text)
    for words, sign in (
        ("divided by", "/"),
        ("multiplied by", "*"),
        ("less", "-"),
        ("minus", "-"),
        ("plus", "+"),
        ("times", "*"),
        ("over", "/"),
    ):
        text = re.sub(rf"\s{words}\s", f" {sign} ", text, flags=re.IGNORECASE)
    try:
        return _Parser(text, lambda operand: _worded_operand(operand, definitions)).parse()
    except ValueError:
        return None


def evaluate(
    expression: Expression, year: int, figure: Callable[[str, int], float | None], depth: int = 0
) -> float:
    """The value of ``expression`` in ``year``; ``figure(item, year)`` gives line items, null where there is
    none.

    Raises:
        MissingFigureError: if an item is missing or a divisor is zero.
    """
    if depth > _DEPTH:
        raise MissingFigureError("a definition refers to itself")
    if isinstance(expression, Number):
        return expression.value
    if isinstance(expression, Ref):
        return _reference(expression.name, expression.year or year, figure, depth)
    if isinstance(expression, Binary):
        left = evaluate(expression.left, year, figure, depth + 1)
        right = evaluate(expression.right, year, figure, depth + 1)
        return _combine(expression.operator, left, right)
    if expression.function == "optional":
        try:
            return evaluate(expression.argument, year, figure, depth + 1)
        except MissingFigureError:
            return 0.0
    years = expression.years or (year - 1, year)
    span = range(min(years), max(years) + 1) if expression.function == "avg" else (min(years), max(years))
    values = [evaluate(expression.argument, each, figure, depth + 1) for each in span]
    if expression.function == "avg":
        return sum(values) / len(values)
    change = values[-1] - values[0]
    return change if expression.function == "change" else _combine("/", change, abs(values[0]))


def _reference(name: str, year: int, figure: Callable[[str, int], float | None], depth: int) -> float:
    if name in METRICS_BY_NAME:
        return evaluate(formula(name), year, figure, depth + 1)
    value = figure(name, year)
    if value is None and ITEMS_BY_NAME[name].derived:
        return evaluate(formula(name), year, figure, depth + 3)
    if value is None:
        raise MissingFigureError(f"{name} in {year}")
    return value


def _combine(operator: str, left: float, right: float) -> float:
    if operator == "+":
        return left + right
    if operator == "-":
        return left - right
    if operator == "*":
        return left * right
    if right == 0:
        raise MissingFigureError("division by zero")
    return left / right


@lru_cache(maxsize=256)
def formula(name: str) -> Expression:
    """The formula of a metric, or the one by which a line item that isn't printed is derived."""
    metric = METRICS_BY_NAME.get(name)
    return parse_formula(metric.formula if metric else ITEMS_BY_NAME[name].derived)


def _named_operand(text: str) -> Expression:
    if text not in METRICS_BY_NAME and text not in ITEMS_BY_NAME:
        raise ValueError(f"formula: {text!r} is neither a line item nor a metric")
    return Ref(text)


def _worded_operand(text: str, definitions: Mapping[str, Expression]) -> Expression:
    years = tuple(years_in(text))
    folded = fold(re.sub(r"\bFY\s?\d{2,4}\b|\b(?:19|20)\d\d\b", " ", text))
    base: Expression | None = definitions.get(folded)
    found = mentions(text)
    if base is None:
        if not found:
            raise ValueError(f"formula: {text!r} names no line item")
        longest = max(found, key=lambda mention: mention.end - mention.start)
        base = Ref(longest.name)
    if re.search(r"\baverage\b", text, re.IGNORECASE):
        return Call("avg", base, years)
    if re.search(r"\b(?:change|increase) in\b", text, re.IGNORECASE):
        return Call("change", base, years)
    if len(years) == 1 and isinstance(base, Ref):
        return Ref(base.name, years[0])
    return base


class _Parser:
    """Recursive descent over operators, brackets, numbers and operands made of words."""

    _LEXEME = re.compile(
        r"\s*(?:(?P<sign>[()+*/×÷^])|(?P<minus>[-–−](?=[\s(]))|(?P<words>(?:(?!\s[-–−]\s)[^()+*/×÷^])+))"
    )

    def __init__(self, text: str, operand: Callable[[str], Expression]) -> None:
        self.operand = operand
        self.lexemes = [match[0].strip() for match in self._LEXEME.finditer(text.strip()) if match[0].strip()]
        self.place = 0

    def parse(self) -> Expression:
        result = self._sum()
        if self.place != len(self.lexemes):
            raise ValueError(f"formula: cannot read {self.lexemes[self.place]!r}")
        return result

    def _peek(self) -> str:
        return self.lexemes[self.place] if self.place < len(self.lexemes) else ""

    def _next(self) -> str:
        lexeme = self._peek()
        self.place += 1
        return lexeme

    def _sum(self) -> Expression:
        left = self._product()
        while self._peek() in ("+", "-", "–", "−"):
            operator = "+" if self._next() == "+" else "-"
            left = Binary(operator, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._atom()
        while self._peek() in ("*", "/", "×", "÷"):
            operator = "*" if self._next() in ("*", "×") else "/"
            left = Binary(operator, left, self._atom())
        return left

    def _atom(self) -> Expression:
        lexeme = self._next()
        if lexeme == "(":
            inner = self._sum()
            if self._next() != ")":
                raise ValueError("formula: a bracket isn't closed")
            return inner
        if not lexeme or lexeme in ")+-*/×÷^–−":
            raise ValueError("formula: an operand is missing")
        if re.fullmatch(r"\d+(?:\.\d+)?", lexeme):
            return Number(float(lexeme))
        if lexeme in FUNCTIONS and self._peek() == "(":
            return Call(lexeme, self._atom())
        return self.operand(lexeme)

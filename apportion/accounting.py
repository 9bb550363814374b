"""Metrics of financial analysis with their formulas, and the line items and metrics that a text names.

Metrics stand in ``apportion/knowledge/metrics.toml`` and in what users add to it. Formulas are over line items
(:mod:`apportion.line_items`) and other metrics. They know ``+ - * /`` and functions of a year t: ``avg(x)``, the mean
of x at t − 1 and t; ``change(x)``, x at t less x at t − 1; ``growth(x)``, change(x) divided by the absolute value of x
at t − 1; and ``optional(x)``, 0 where x isn't to be found.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

from apportion.knowledge.tables import formula_names, tables
from apportion.line_items import ITEMS_BY_NAME, LINE_ITEMS, Unit


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure computed from line items. ``better`` says which way an improvement goes; ``beside`` names line items and
    metrics that an analyst looks at with it."""

    name: str
    asked: tuple[str, ...]
    formula: str
    unit: Unit
    better: Literal["up", "down", "none"] = "none"
    beside: tuple[str, ...] = ()


def _metric(entry: Mapping[str, Any]) -> Metric:
    lists = {name: tuple(entry.get(name, ())) for name in ("asked", "beside")}
    return Metric(**{**entry, **lists})


METRICS: tuple[Metric, ...] = tuple(_metric(entry) for entry in tables()["metric"])
METRICS_BY_NAME = {metric.name: metric for metric in METRICS}


def items_of(name: str) -> frozenset[str]:
    """The line items that a metric's formula takes, directly or through other metrics; of a line item, itself."""
    if name in ITEMS_BY_NAME:
        return frozenset((name,))
    parts = formula_names(METRICS_BY_NAME[name].formula)
    return frozenset(item for part in parts for item in items_of(part))


@dataclass(frozen=True, slots=True)
class Mention:
    """A line item or metric that a text names, at ``text[start:end]``."""

    name: str
    start: int
    end: int


def mentions(text: str) -> list[Mention]:
    """The line items and metrics that ``text`` names, left to right; the longest wording wins at each place."""
    names = _asked()
    return [
        Mention(names[fold(match[0])], match.start(), match.end())
        for match in _asked_pattern().finditer(text)
    ]


def fold(text: str) -> str:
    """Lower-case letters, digits, "&" and "%" of ``text``; spacing, hyphens and the like don't tell names apart."""
    return re.sub(r"[^a-z0-9&%]", "", text.lower())


def _wordings() -> list[tuple[str, str]]:
    """Wording and name of everything that can be asked for; metrics first, since they win where both share one."""
    asked = [(phrase, metric.name) for metric in METRICS for phrase in metric.asked]
    return asked + [(phrase, item.name) for item in LINE_ITEMS for phrase in item.asked]


@lru_cache(maxsize=1)
def _asked() -> dict[str, str]:
    return {fold(phrase): name for phrase, name in reversed(_wordings())}


@lru_cache(maxsize=1)
def _asked_pattern() -> re.Pattern[str]:
    patterns = []
    for phrase in sorted({phrase for phrase, _ in _wordings()}, key=lambda phrase: (-len(phrase), phrase)):
        words = [re.escape(word) for word in re.findall(r"[^\s,-]+", phrase)]
        patterns.append(r",?[\s-]+".join(words).replace("'", "['’]?"))
    return re.compile(r"(?<![\w&])(?:" + "|".join(patterns) + r")(?![\w&])", re.IGNORECASE)

"""What a question wants: metrics and line items, statements, a period, topics, and the kinds of page to look on."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from apportion.accounting import METRICS_BY_NAME, items_of, mentions
from apportion.corpus.page_reading import BALANCE, CASH_FLOW, INCOME
from apportion.knowledge.topics import Topic, topics
from apportion.line_items import ITEMS_BY_NAME

LABELS_ADDED = 3
"""Printed names of each wanted line item that are added to the query."""

AS_SHARE = ("percent of sales", "percent of net sales", "percentage of revenue", "percent to sales", "margin")
"""How a discussion speaks of margins."""

ANYWHERE: Mapping[str, float] = {
    "discussion": 0.5, "notes": 0.45, "segments": 0.4, "business": 0.35, "other": 0.35, INCOME: 0.3, BALANCE: 0.3,
    CASH_FLOW: 0.3,
}  # fmt: skip
"""How likely each kind of page is where the question says nothing of it."""

UNLIKELY = 0.05
NAMED = 2.2
"""Weight of a statement that the question names; no weight is larger."""

NOT_NAMED = 0.5
"""What is left of the weight of other statements where the question names one."""

# How likely a wanted line item is to be read off its statement.
COMPUTED, ALONE, WITH_TOPIC, CAUSE, NARROWED = 1.6, 1.3, 0.7, 0.45, 0.4

_UNITS = r"(?:usd|us\$|dollars?|millions?|billions?|thousands?|percents?|percentages?|units?)"
_BOILERPLATE = re.compile(
    "|".join(
        (
            # "If the quick ratio is not a useful metric for such a company, then state that and explain why."
            r"if\s+[^.?]*?\b(?:not|isn[’']t)\b[^.?]*?(?:state that|explain|state why)[^.?]*[.?]?",
            rf"(?:please\s+)?(?:answer|respond|state|provide|give|report|express)\b[^.?]*?\bin\s+(?:\w+\s+){{0,3}}{_UNITS}[^.?]*[.?]?",
            r"round(?:ed|ing)?\b[^.?]*?(?:decimal|nearest|whole|percent)[^.?]*[.?]?",
            r"assume\s+that\s+you\s+[^.?:]*[.?:]",
            r"(?:by\s+)?(?:assuming|adopting|taking)\s+the\s+(?:perspective|standpoint|role)\s+of\s+an?\s+[^.?,]*?"
            r"(?:analyst|investor|manager|banker)s?\b",
            r"we want to calculate a financial metric[.]?|please help us compute it|here[’']s the question:?",
            r"answer the following question|to the best of your abilities",
            r"(?:in|\()\s*(?:in\s+)?usd\s+(?:thousands?|millions?|billions?)\)?",
            r"who\s+(?:only\s+has\s+access\s+to|can\s+only\s+use)\b",
            r"(?:please\s+)?(?:base|basing)\s+your\s+(?:judgments?|answers?)\s+(?:off\s+of|on)\b",
        )
    ),
    re.IGNORECASE,
)
_STATEMENTS = tuple(
    (kind, re.compile(pattern, re.IGNORECASE))
    for kind, pattern in (
        (BALANCE, r"balance\s+sheets?|statements?\s+of\s+financial\s+(?:position|condition)"),
        (CASH_FLOW, r"statements?\s+of\s+cash\s+flows?|cash\s*flows?\s+statements?"),
        (INCOME, r"(?:income|p\s*&\s*l|profit\s+and\s+loss)\s+statements?|\bp\s*&\s*l\b"
                 r"|statements?\s+of\s+(?:consolidated\s+)?(?:income|operations|earnings)"),
    )
)  # fmt: skip
_YEAR = re.compile(
    r"\b(?:FY|fiscal(?:\s+year)?|CY)?\s*[’']?((?:19|20)\d\d)\b|\b(?:FY|CY)\s*[’']?(\d\d)\b"
    r"|\b[1-4]?Q[1-4]?\s*(?:of\s+)?(?:FY\s*)?[’']?((?:20)?\d\d)\b",
    re.IGNORECASE,
)
_SPAN = re.compile(
    r"((?:19|20)\d\d)\s*(?:-|–|to|through)\s*(?:FY\s*|fiscal\s*)?((?:19|20)\d\d)", re.IGNORECASE
)
_LONGEST_SPAN = 10
_QUARTER = re.compile(
    r"\b(?:[1-4]Q|Q[1-4])|\b(?:first|second|third|fourth)\s+quarter|\bquarter(?:ly)?\b|\b[HF][12]\b",
    re.IGNORECASE,
)
_YES_NO = re.compile(r"\s*(?:does|do|did|is|was|were|are|has|have)\b", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:what|which)\s+(?:factors?\s+)?(?:drove|caused|led|drives|explains?|contributed)\b|\bwhy\b|\bdrivers?\b"
    r"|\breasons?\b",
    re.IGNORECASE,
)
_PART = r"(?:segment|region|geograph\w*|categor\w+|product|countr\w+|business|division|brand)s?"
_TABULAR = re.compile(
    r"\b(?:how (?:much|many)|what (?:percent|amount|portion)|highest|lowest|largest|smallest|biggest|most|least|best"
    r"|worst|amount|number of|ratio|total|by how|net income|notional|drop|top"
    rf"|which\s+(?:\w+[’']?s?\s+){{0,5}}{_PART})\b",
    re.IGNORECASE,
)
_SHORTEST = 12


@dataclass(frozen=True)
class Wants:
    """What a question wants.

    Attributes:
        core: the question without what it says of units, rounding and roles.
        terms: words and phrases by which filings speak of it; those of topics first, then those of line items.
        items: line items that are wanted, those of a metric's formula included.
        statements: kinds of statement that the question names.
        pages: kinds of page and how likely each holds the answer; larger is likelier, kinds that lack are unlikely.
        years: fiscal years, latest first.
        quarter: part of a year is asked for.
        yes_no: a yes or no is asked for.
        cause: it asks what brought something about.
        tabular: a figure, or the largest of several, is asked for.
        metric: a metric is to be computed.
        topics: names of the topics it is about.
    """

    core: str
    terms: tuple[str, ...] = ()
    items: frozenset[str] = frozenset()
    statements: tuple[str, ...] = ()
    pages: Mapping[str, float] = field(default_factory=dict)
    years: tuple[int, ...] = ()
    quarter: bool = False
    yes_no: bool = False
    cause: bool = False
    tabular: bool = False
    metric: bool = False
    topics: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """What is asked for, the first that holds: ``metric``, ``cause``, ``yes_no``, ``figure`` or else ``text``."""
        kinds = (
            ("metric", self.metric),
            ("cause", self.cause),
            ("yes_no", self.yes_no),
            ("figure", self.tabular or bool(self.items)),
        )
        return next((name for name, holds in kinds if holds), "text")

    @property
    def needed_statements(self) -> frozenset[str]:
        """Kinds of statement on which the wanted line items stand."""
        return frozenset(ITEMS_BY_NAME[name].statement for name in self.items)


@lru_cache(maxsize=1024)
def wants_of(question: str) -> Wants:
    """Read a question. Any text is one; what isn't understood is searched word by word."""
    core = " ".join(_BOILERPLATE.sub(" ", question).split())
    if len(core) < _SHORTEST:
        core = " ".join(question.split())
    statements = tuple(kind for kind, pattern in _STATEMENTS if pattern.search(question))
    bare = core
    for _, pattern in _STATEMENTS:
        bare = pattern.sub(" ", bare)
    named = list(dict.fromkeys(mention.name for mention in mentions(bare)))
    metrics = [METRICS_BY_NAME[name] for name in named if name in METRICS_BY_NAME]
    wanted = [*named, *(name for metric in metrics for name in metric.beside)]
    items = frozenset(item for name in wanted for item in items_of(name))
    about = [topic for topic in topics() if topic.asked.search(bare)]
    cause = _CAUSE.search(core) is not None
    terms = [term for topic in about for term in topic.terms]
    if cause and any(metric.unit == "percent" for metric in metrics):
        terms += AS_SHARE
    terms += [phrase for metric in metrics for phrase in metric.asked]
    terms += [label for name in sorted(items) for label in ITEMS_BY_NAME[name].labels[:LABELS_ADDED]]
    return Wants(
        core=core,
        terms=tuple(dict.fromkeys(terms)),
        items=items,
        statements=statements,
        pages=_pages(about, items, statements, metric=bool(metrics), cause=cause),
        years=asked_years(question),
        quarter=_QUARTER.search(question) is not None,
        yes_no=_YES_NO.match(question) is not None,
        cause=cause,
        tabular=not cause and _TABULAR.search(core) is not None,
        metric=bool(metrics),
        topics=tuple(topic.name for topic in about),
    )


def _pages(
    about: list[Topic], items: frozenset[str], statements: tuple[str, ...], *, metric: bool, cause: bool
) -> dict[str, float]:
    pages = dict(ANYWHERE)
    for topic in about:
        for kind, weight in topic.pages.items():
            pages[kind] = max(pages.get(kind, 0.0), weight)
    if items:
        counts: dict[str, int] = {}
        for item in items:
            kind = ITEMS_BY_NAME[item].statement
            counts[kind] = counts.get(kind, 0) + 1
        # What drove a figure is told in words, a segment's figure stands in a table of segments; a metric is computed
        # from the statements.
        narrowed = any(topic.narrows for topic in about)
        sure = (
            CAUSE
            if cause
            else NARROWED
            if narrowed
            else COMPUTED
            if metric
            else WITH_TOPIC
            if about
            else ALONE
        )
        for kind, count in counts.items():
            pages[kind] = max(pages.get(kind, 0.0), sure * (0.8 + 0.2 * count / max(counts.values())))
    for kind in (INCOME, BALANCE, CASH_FLOW):
        if statements:
            pages[kind] = NAMED if kind in statements else NOT_NAMED * pages[kind]
    return pages


def asked_years(text: str) -> tuple[int, ...]:
    """Fiscal years that a text names, spans filled in, latest first."""
    years = set()
    for match in _YEAR.finditer(text):
        shown = match[1] or match[2] or match[3]
        years.add(int(shown) if len(shown) == 4 else 2000 + int(shown))
    for match in _SPAN.finditer(text):
        first, last = int(match[1]), int(match[2])
        if first < last <= first + _LONGEST_SPAN:
            years |= set(range(first, last + 1))
    return tuple(sorted(years, reverse=True))

"""Rows of a page's tables that print a line item, found by their labels alone: quick enough for every page there is.

The embedded reader's parser (:mod:`apportion.llm.embedded.layout`) reads columns and values; here only what a page
prints is wanted.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from apportion.line_items import LINE_ITEMS, LineItem

EXACT, STARTS = 1.0, 0.7
LONGEST_ROW = 160
BUCKET = 6

_LABEL = re.compile(r"[^\d$€£—–]{3,}")
_BRACKETS = re.compile(r"\([^()]*\)?")
_OTHER = re.compile(r"[^a-z&%]")
_FIGURES = re.compile(r"[\d—–$€£(]")
_LONE = re.compile(r"[A-Za-z&’'(),.:/-]+")
_LONE_WITH_FIGURES = re.compile(r"[A-Za-z&’'(),.-]+ [$(]?\s?\d")
_AFTER = re.compile(r"\s*[$€£(]?\s*[\d—–$(]")


@dataclass(frozen=True, slots=True)
class _Labels:
    exact: Mapping[str, tuple[LineItem, ...]]
    starts: Mapping[str, tuple[tuple[str, LineItem], ...]]


@lru_cache(maxsize=1)
def _labels() -> _Labels:
    exact: dict[str, list[LineItem]] = {}
    starts: dict[str, list[tuple[str, LineItem]]] = {}
    for item in LINE_ITEMS:
        for label in item.labels:
            squashed = squash(label)
            if item not in exact.setdefault(squashed, []):
                exact[squashed].append(item)
            if len(squashed) >= BUCKET:
                starts.setdefault(squashed[:BUCKET], []).append((squashed, item))
    return _Labels(
        {label: tuple(items) for label, items in exact.items()},
        {
            head: tuple(sorted(set(found), key=lambda pair: (-len(pair[0]), pair[0], pair[1].name)))
            for head, found in starts.items()
        },
    )


def page_lines(text: str) -> list[str]:
    """The lines of a page that aren't blank, with words put together again that stand each on a line of its own.

    Bold print comes out of some PDFs word by word: "CONSOLIDATED", "BALANCE", "SHEETS".
    """
    lines: list[str] = []
    run: list[str] = []
    for raw in text.replace("\xa0", " ").splitlines():
        line = raw.strip()
        if not line:
            continue
        if _LONE.fullmatch(line):
            run.append(line)
            continue
        if run:
            # The run's last word may have the row's figures behind it.
            if len(run) > 1 and _LONE_WITH_FIGURES.match(line):
                line = " ".join([*run, line])
            else:
                lines += [" ".join(run)] if len(run) > 2 else run
            run = []
        lines.append(line)
    return lines + ([" ".join(run)] if len(run) > 2 else run)


def squash(label: str) -> str:
    """A label's letters alone, without what stands in brackets."""
    return _OTHER.sub("", _BRACKETS.sub("", label.lower()))


def rows_of(lines: list[str]) -> dict[str, float]:
    """The line items that a page's rows print, by name, with how surely: 1 for the whole label, 0.7 for its start."""
    known = _labels()
    found: dict[str, float] = {}
    last = len(lines) - 1
    for place, line in enumerate(lines):
        if len(line) > LONGEST_ROW:
            continue
        match = _LABEL.match(line)
        if match is None:
            continue
        label = match[0]
        # A row's figures follow its label, on its own line or at the start of the next.
        if match.end() == len(line) and not (place < last and _AFTER.match(lines[place + 1])):
            continue
        squashed = squash(label)
        for item in known.exact.get(squashed, ()):
            if found.get(item.name, 0.0) < EXACT and not barred(label, item):
                found[item.name] = EXACT
        for start, item in known.starts.get(squashed[:BUCKET], ()):
            if found.get(item.name, 0.0) < STARTS and squashed.startswith(start) and not barred(label, item):
                found[item.name] = STARTS
    return found


def barred(label: str, item: LineItem) -> bool:
    """Whether a word of the label makes it another line."""
    return bool(item.barred) and _barred(item).search(label) is not None


@lru_cache(maxsize=256)
def _barred(item: LineItem) -> re.Pattern[str]:
    return re.compile("(?<![a-z])(?:" + "|".join(map(re.escape, item.barred)) + ")", re.IGNORECASE)

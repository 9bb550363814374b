"""The items of a 10-K, found by their headings and laid over its pages.

A heading stands at the start of a line. Runs of headings with next to nothing between them, all of which come again,
are a table of contents and don't count. Of the rest the longest ascending chain is taken:
references to other items ("see Item 8") fall out of order and are dropped.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

HEADING = re.compile(
    r"^[ \t]*(?:PART[ \t]+[IV]{1,3}\b[ \t.,:;–—-]*)?ITEMS?[ \t\xa0]*(?P<first>\d{1,2}[ \t]?[ABC]?)(?![\w(])"
    r"(?P<more>(?:[ \t]*(?:,|and|&|through|–|—|-)[ \t]*(?:ITEM[ \t]*)?\d{1,2}[ABC]?(?![\w(.]*\d))*)"
    r"[ \t]*[.:;–—-]*[ \t]*(?P<title>[^\n]{0,200})",
    re.IGNORECASE | re.MULTILINE,
)
NUMBER = re.compile(r"\d{1,2}[ \t]?[ABC]?", re.IGNORECASE)
ORDER = (
    *("1", "1A", "1B", "1C", "2", "3", "4", "5", "6", "7", "7A", "8"),
    *("9", "9A", "9B", "9C", "10", "11", "12", "13", "14", "15", "16"),
)
CONTENTS_GAP = 250
CONTENTS_RUN = 5
CONTENTS_SHARE = 0.7
REFERENCE = re.compile(
    r"^(?:of|to|in|under|above|below|and|or|for|hereof|thereof)\b|^[,;)”\"’]", re.IGNORECASE
)


@dataclass(frozen=True)
class Item:
    """One heading: ``identifier`` ("1A", or "1, 2" where items are combined), its title, and where it stands."""

    identifier: str
    title: str
    page_number: int
    start_char: int
    """Offset on its page."""
    position: int
    """Offset in the whole document."""

    @property
    def first(self) -> str:
        """The first identifier of a combined heading."""
        return self.identifier.partition(",")[0]

    @property
    def last(self) -> str:
        """The last identifier of a combined heading."""
        return self.identifier.rpartition(", ")[2]


class ItemFinder:
    """Takes a document's pages in order, then tells its items."""

    def __init__(self) -> None:
        self._candidates: list[Item] = []
        self._lengths: list[int] = []
        self._length = 0

    def add(self, text: str) -> None:
        """Take the next page."""
        for match in HEADING.finditer(text):
            identifier = _identifiers(match["first"], match["more"])
            title = " ".join(match["title"].split()).rstrip(".: ")
            if identifier is None or REFERENCE.match(title):
                continue
            if not title:
                # The title may stand on the next line, or in the next cell of a table.
                title = " ".join(text[match.end() :].lstrip().partition("\n")[0].split())[:200]
            self._candidates.append(
                Item(identifier, title, len(self._lengths), match.start(), self._length + match.start())
            )
        self._lengths.append(len(text))
        self._length += len(text) + 1

    def items(self) -> list[Item]:
        """The items, in their order, each once."""
        listed = _without_contents(self._candidates)
        return _longest_chain(listed)

    def on_pages(self) -> list[list[Item]]:
        """For each page the items that have text on it; none before the first heading."""
        found: list[list[Item]] = []
        current: Item | None = None
        waiting = iter(self.items())
        ahead = next(waiting, None)
        for number, length in enumerate(self._lengths):
            on_page: list[Item] = []
            first = True
            while ahead is not None and ahead.page_number == number:
                # What stands above the first heading still belongs to the item before.
                if first and current is not None and ahead.start_char > min(200, length // 10):
                    on_page.append(current)
                first = False
                on_page.append(ahead)
                current = ahead
                ahead = next(waiting, None)
            if not on_page and current is not None:
                on_page.append(current)
            found.append(on_page)
        return found

    def columns(self) -> dict[str, list[Any]]:
        """The columns of `pages` that tell items: ``item``, identifiers joined by ", ", and ``item_titles``."""
        pages = self.on_pages()
        return {
            "item": [", ".join(item.identifier for item in items) or None for items in pages],
            "item_titles": [[item.title for item in items] or None for items in pages],
        }


def _identifiers(first: str, more: str) -> str | None:
    numbers = [first, *NUMBER.findall(more)]
    named = [re.sub(r"\s", "", number).upper() for number in numbers]
    if any(name not in ORDER for name in named):
        return None
    if re.search(r"through|–|—|-", more, re.IGNORECASE) and len(named) == 2:
        low, high = ORDER.index(named[0]), ORDER.index(named[1])
        named = list(ORDER[low : high + 1]) or named
    places = [ORDER.index(name) for name in named]
    return ", ".join(named) if places == sorted(set(places)) else None


def _without_contents(candidates: list[Item]) -> list[Item]:
    """Without tables of contents: runs of close headings whose items nearly all stand again further on."""
    runs: list[list[Item]] = []
    for item in candidates:
        run = runs[-1] if runs else []
        close = bool(run) and item.position - run[-1].position <= CONTENTS_GAP + len(run[-1].title)
        if close and ORDER.index(item.first) > ORDER.index(run[-1].last):
            run.append(item)
        else:
            runs.append([item])
    kept: list[Item] = []
    later: set[str] = set()
    for run in reversed(runs):
        again = sum(item.first in later for item in run)
        later |= {item.first for item in run}
        if len(run) < CONTENTS_RUN or again < CONTENTS_SHARE * len(run):
            kept = run + kept
    return kept


def _longest_chain(candidates: list[Item]) -> list[Item]:
    """The longest chain whose identifiers ascend; of equal ones that whose headings stand furthest back.

    A heading in a table of contents is always ahead of the item itself.
    """
    # For each place in the order of items, the best chain that ends there: its length and its last candidate.
    ends: dict[int, tuple[int, int]] = {}
    before: list[int] = []
    for i, item in enumerate(candidates):
        first, last = ORDER.index(item.first), ORDER.index(item.last)
        length, previous = max((end for place, end in ends.items() if place < first), default=(0, -1))
        before.append(previous)
        if (length + 1, i) > ends.get(last, (0, -1)):
            ends[last] = (length + 1, i)
    _, at = max(ends.values(), default=(0, -1))
    chain: list[Item] = []
    while at >= 0:
        chain.append(candidates[at])
        at = before[at]
    return chain[::-1]

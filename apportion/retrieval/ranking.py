"""What every ranker takes and gives: pages in scope, questions with their filings, ranked pages."""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

Scope = Mapping[str, Sequence[int] | None]
"""The pages that are searched: for each filing its page numbers, or None for all that are indexed of it."""


@dataclass(frozen=True)
class Ranked:
    """A page or a chunk of a filing with its score; larger is better.

    Attributes:
        filing_id: the filing.
        number: the page's, zero-based, or the chunk's where chunks are ranked.
        score: within what its ranker gives.
    """

    filing_id: str
    number: int
    score: float


class Ranker(Protocol):
    """Ranks the pages of a scope."""

    def rank(self, questions: Sequence[str], filings: Sequence[str | None], k: int) -> list[list[Ranked]]:
        """The first k pages for each question, best first; fewer where fewer are in scope.

        Args:
            questions: the texts.
            filings: for each, the filing to stay within, or None for the whole scope. A filing outside the scope has
                no page.
            k: pages to return at most.

        Ties go to the earlier page in (filing_id, page_number).
        """
        ...


def best(pages: Iterable[Ranked], k: int) -> list[Ranked]:
    """The first k pages or chunks by score; ties by filing and number."""
    return heapq.nsmallest(k, pages, key=lambda page: (-page.score, page.filing_id, page.number))


def by_filing(filings: Sequence[str | None]) -> dict[str | None, list[int]]:
    """The places of the questions on each filing."""
    places: dict[str | None, list[int]] = {}
    for place, filing in enumerate(filings):
        places.setdefault(filing, []).append(place)
    return places

"""The document-routed systems: what each searches, and what of it the model reads.

`cbr`, `cbr_meta`, `cbr_context` search every filing's chunks, as they are, tagged, or described; `hdrr` only those of
the filings that the resolver named; `agentic` searches all and checks what it found. `sfr` reads the resolver's
filings whole, `full_filing` the one given with the question (document-routed retrieval, sections 4 and 5.3).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from apportion.retrieval.chunk_search import Search
from apportion.retrieval.cutting import kept
from apportion.retrieval.queries import SearchQuery
from apportion.retrieval.resolver.resolver import Resolution
from apportion.routes.prompts import ContextPage
from apportion.tokens import count_tokens, encoding


@dataclass(frozen=True)
class System:
    """One system: the variant of the chunk index it searches, none where filings are read whole."""

    name: str
    variant: str | None
    resolves: bool


PLAIN, TAGGED, DESCRIBED = "plain", "tagged", "described"
"""The variants of the chunk index: chunks as they are, behind a line that names their filing, behind a description."""

SYSTEMS: Mapping[str, System] = {
    one.name: one
    for one in (
        System("cbr", PLAIN, False),
        System("cbr_meta", TAGGED, False),
        System("cbr_context", DESCRIBED, False),
        System("hdrr", PLAIN, True),
        System("agentic", PLAIN, True),
        System("sfr", None, True),
        System("full_filing", None, False),
    )
}
CHUNKED = tuple(name for name, system in SYSTEMS.items() if system.variant is not None)
WHOLE = tuple(name for name, system in SYSTEMS.items() if system.variant is None)

RESERVED = 2_000
"""Tokens of a model's window kept for the instruction, the question and the answer."""


def plan_search(
    system: str, query: SearchQuery, resolution: Resolution | None, corpus: Sequence[str]
) -> Search:
    """What a system searches for a question: the resolver's scope for `hdrr`, every filing for the others.

    Several resolved filings are searched apart, so that each gets its share. Where nothing is resolved, the candidates
    are searched together, or else the whole corpus.
    """
    if system != "hdrr" or resolution is None:
        return Search(query, tuple(corpus))
    scope = resolution.scope()
    there = tuple(filing for filing in scope or () if filing in set(corpus))
    if not there:
        return Search(query, tuple(corpus))
    return Search(query, there, apart=searched_apart(resolution))


def searched_apart(resolution: Resolution | None) -> bool:
    """Whether a question's filings are searched each by itself."""
    return (
        resolution is not None
        and len(resolution.filing_ids) > 1
        and resolution.scope() == resolution.filing_ids
    )


def read_chunks(ranked: Sequence[Mapping[str, Any]], *, apart: bool) -> list[Mapping[str, Any]]:
    """The ranked chunks that are read after the adaptive cut; searched apart, the cut is each filing's own.

    Args:
        ranked: rows of `retrievals` of one question, best first.
        apart: whether its filings were searched each by itself.
    """
    if not apart:
        return list(ranked[: kept([row["score"] for row in ranked])])
    of_filing: dict[str, list[float]] = {}
    for row in ranked:
        of_filing.setdefault(row["filing_id"], []).append(row["score"])
    room = {filing: kept(scores) for filing, scores in of_filing.items()}
    chosen = []
    for row in ranked:
        if room[row["filing_id"]] > 0:
            room[row["filing_id"]] -= 1
            chosen.append(row)
    return chosen


def whole_context(filings: Sequence[str], pages: pl.DataFrame, window: int) -> tuple[ContextPage, ...]:
    """Whole filings as a context, cut to a model's window with a note where they are cut.

    Args:
        filings: in the order in which they are read; each gets an equal share of the window.
        pages: columns ``filing_id``, ``page_number``, ``text`` and ``token_count``, of at least those filings.
        window: tokens that the model takes.
    """
    if not filings:
        return ()
    room = max(window - RESERVED, 0) // len(filings)
    context: list[ContextPage] = []
    for filing in filings:
        rows = pages.filter(pl.col("filing_id") == filing).sort("page_number").rows(named=True)
        context += _within(filing, rows, room)
    return tuple(context)


def _within(filing: str, rows: Sequence[Mapping[str, Any]], room: int) -> list[ContextPage]:
    read: list[ContextPage] = []
    # Tags around a page take a few tokens each.
    left = room
    for place, row in enumerate(rows):
        size = (row["token_count"] or count_tokens(row["text"])) + 24
        if size > left:
            shown = encoding().decode(
                encoding().encode_ordinary(row["text"])[: max(left - 64, 0)], errors="ignore"
            )
            note = (
                f"[The filing is cut here to fit the model's window: the rest of page {row['page_number']} and "
                f"{len(rows) - place - 1} pages after it are not shown.]"
            )
            read.append(ContextPage(filing, row["page_number"], f"{shown}\n{note}".strip()))
            break
        left -= size
        read.append(ContextPage(filing, row["page_number"], row["text"]))
    return read

"""Chunks of a filing's running text: 2,500 characters, half over the one before (document-routed retrieval, 4.1.1)."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import polars as pl

SIZE = 2_500
STEP = SIZE // 2


@dataclass(frozen=True)
class Chunk:
    """One chunk: its number in the filing, the page it begins on, its place in the running text, its text."""

    number: int
    page_number: int
    start: int
    end: int
    text: str


def chunk_pages(
    page_numbers: Sequence[int], texts: Sequence[str], size: int = SIZE, step: int = STEP
) -> Iterator[Chunk]:
    """Cut one filing's pages, joined by line breaks, into chunks.

    Args:
        page_numbers: ascending.
        texts: the pages' texts.
        size: characters of a chunk; the last may be shorter.
        step: characters from one chunk's start to the next's.

    Chunks without any text are left out and keep their number.

    Raises:
        ValueError: the step isn't between 1 and the size.
    """
    if not 1 <= step <= size:
        raise ValueError(f"a step of {step} characters for chunks of {size}: it must lie between 1 and that")
    starts, numbers, place = [], [], 0
    for number, text in zip(page_numbers, texts, strict=True):
        if text:
            starts.append(place)
            numbers.append(number)
        place += len(text) + 1
    running = "\n".join(texts)
    for number, start in enumerate(range(0, len(running), step)):
        end = min(start + size, len(running))
        text = running[start:end]
        if text.strip():
            # The page of the first character that is seen.
            first = start + len(text) - len(text.lstrip())
            yield Chunk(number, numbers[max(bisect_right(starts, first) - 1, 0)], start, end, text)
        if end == len(running):
            break


def chunk_rows(pages: pl.DataFrame) -> pl.DataFrame:
    """Rows of `chunks` for the pages of some filings, but for the batch.

    Args:
        pages: columns ``filing_id``, ``page_number`` and ``text``; every page of each filing.
    """
    rows = [
        (part["filing_id"][0], one.number, one.page_number, one.start, one.end, one.text)
        for part in pages.sort("filing_id", "page_number").partition_by("filing_id", maintain_order=True)
        for one in chunk_pages(part["page_number"].to_list(), part["text"].to_list())
    ]
    return pl.DataFrame(
        rows,
        schema={
            "filing_id": pl.String,
            "chunk_number": pl.Int64,
            "page_number": pl.Int64,
            "start_char": pl.Int64,
            "end_char": pl.Int64,
            "text": pl.String,
        },
        orient="row",
    )

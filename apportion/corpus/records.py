"""What every reader of filings and questions hands on: rows as frames, and what it refused, in plain words."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass

import polars as pl

PAGE_REFERENCE = pl.Struct({"filing_id": pl.String, "page_number": pl.Int64})
"""A page: its filing and its zero-based number."""

QUESTION_COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "question_id": pl.String,
    "text": pl.String,
    "family": pl.String,
    "company": pl.String,
    "filing_id": pl.String,
    "reference_answer": pl.String,
    "evidence": pl.List(PAGE_REFERENCE),
}
"""Columns of a source's questions."""

UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ud800-\udfff\ufffe\uffff]")


class UnreadableError(ValueError):
    """A file that gives no pages; the message is its ``status_reason``."""


@dataclass(frozen=True)
class Problem:
    """One input that was refused or mended: where it stands, what it is, and what to do about it."""

    source: str
    line: int | None
    field: str
    value: str
    remedy: str
    refused: bool = True

    def __str__(self) -> str:
        place = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{place}: {self.field} {shorten(self.value)}: {self.remedy}"


@dataclass(frozen=True)
class Corpus:
    """Filings, their pages and questions on them, in the columns of the tables of those names.

    Batch and set are not in the frames: whoever stores them knows those. Columns that may be null may be absent.
    ``sha256`` is that of the source's bytes.
    """

    filings: pl.DataFrame
    pages: pl.DataFrame
    questions: pl.DataFrame
    problems: list[Problem]
    sha256: str


def shorten(value: str, limit: int = 60) -> str:
    """A value as it is shown in a message: one line, bounded, quoted."""
    flat = " ".join(value.split())
    return repr(flat if len(flat) <= limit else flat[: limit - 1] + "…")


def clean_text(text: str) -> str:
    """A page's text without what no table can hold: control characters, halves of surrogate pairs; lines end in LF."""
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return CONTROL.sub("", text)


def safe_name(name: str) -> str:
    """A document's name as an identifier: ``[A-Za-z0-9._-]``, never empty, never a path.

    A name that had to be changed carries eight hex digits of its SHA-256, so that two names never share one.
    """
    safe = UNSAFE.sub("_", name)
    if not safe.strip("._-"):
        safe = "document"
    safe = safe.lstrip(".")[:80]
    if safe != name:
        safe = f"{safe}-{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    return safe

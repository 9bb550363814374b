"""What every importer hands on: the rows of one outcome set, and what it refused, row by row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import polars as pl

from apportion.corpus.records import Problem

PAGES = pl.List(pl.Struct({"filing_id": pl.String, "page_number": pl.Int64}))

REFUSALS = {
    "source": pl.String,
    "line": pl.Int64,
    "field": pl.String,
    "value": pl.String,
    "reason": pl.String,
}

SHOWN = 200
"""Refused rows that are told one by one; the report that is kept holds all of them."""


class LogError(ValueError):
    """A log that cannot be imported at all; the message says where and what to do."""


@dataclass(frozen=True)
class ImportedLog:
    """One outcome set, in the columns of the tables of those names, without the set's name.

    Attributes:
        questions: rows of `questions`.
        outcomes: rows of `route_outcomes`.
        quality: rows of `route_quality`.
        refusals: one row a refused input row: source, line, field, value, reason.
        rows: input rows read, refused ones included.
        notes: what else should be known, a line each.
    """

    questions: pl.DataFrame
    outcomes: pl.DataFrame
    quality: pl.DataFrame
    refusals: pl.DataFrame
    rows: int
    notes: Sequence[str] = field(default_factory=tuple)

    def problems(self) -> list[Problem]:
        """The first refused rows, then each reason with its number of rows, then the notes."""
        first = [
            Problem(source, line, name, value or "", reason)
            for source, line, name, value, reason in self.refusals.head(SHOWN).iter_rows()
        ]
        total = [
            Problem("refused", None, name, f"{count} rows", reason) for name, reason, count in self.reasons()
        ]
        return [*first, *total]

    def reasons(self) -> list[tuple[str, str, int]]:
        """Field, reason and number of refused rows, the most frequent first."""
        counted = (
            self.refusals.group_by("field", "reason")
            .len()
            .sort("len", "field", "reason", descending=[True, False, False])
        )
        return [(name, reason, count) for name, reason, count in counted.iter_rows()]


def refusals(rows: Iterable[tuple[str, int | None, str, object, str]] = ()) -> pl.DataFrame:
    """A frame of refused rows from tuples of source, line, field, value, reason."""
    listed = [
        (source, line, name, None if value is None else str(value)[:200], reason)
        for source, line, name, value, reason in rows
    ]
    return pl.DataFrame(listed, schema=REFUSALS, orient="row")

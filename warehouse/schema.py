"""What a table contract is, and what it derives: empty frames, validation, SQL types, documentation.

A contract states a table once. Everything else that needs the table's shape asks the contract.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property

import polars as pl
from polars.datatypes import DataType, DataTypeClass

PolarsType = DataType | DataTypeClass

PARTITION_KEY = re.compile(r"[A-Za-z0-9._:-]{1,100}")
"""What the name of an outcome set or a filing batch may look like: never a path, never SQL."""

PAGE_REFERENCE = pl.Struct({"filing_id": pl.String, "page_number": pl.Int64})
"""A page: its filing and its zero-based number."""


class ContractError(ValueError):
    """Rows that their table's contract refuses. Nothing of them is committed."""


@dataclass(frozen=True)
class Column:
    """One column: its type, whether it may be null, and the range or values it may take."""

    name: str
    dtype: PolarsType
    doc: str
    nullable: bool = False
    low: float | None = None
    high: float | None = None
    values: tuple[str, ...] = ()

    def violations(self, frame: pl.DataFrame) -> pl.Series | None:
        """Mask of the rows that break this column's rule, or None where no row can."""
        series = frame[self.name]
        bad: pl.Series | None = None

        def add(mask: pl.Series) -> None:
            nonlocal bad
            mask = mask.fill_null(value=False)
            bad = mask if bad is None else bad | mask

        if not self.nullable and series.null_count():
            add(series.is_null())
        if series.dtype.is_float():
            add(~series.is_finite())
        if self.low is not None:
            add(series < self.low)
        if self.high is not None:
            add(series > self.high)
        if self.values:
            add(~series.is_in(self.values))
        return bad

    @property
    def rule(self) -> str:
        """The rule in words, for messages and the documentation."""
        parts = []
        if self.values:
            parts.append("one of " + ", ".join(self.values))
        if self.low is not None and self.high is not None:
            parts.append(f"{self.low:g} to {self.high:g}")
        elif self.low is not None:
            parts.append(f"at least {self.low:g}")
        elif self.high is not None:
            parts.append(f"at most {self.high:g}")
        parts.append("may be null" if self.nullable else "never null")
        return "; ".join(parts)


@dataclass(frozen=True)
class Table:
    """A table of the warehouse: columns, key, and the slice that one write replaces.

    ``slices`` names the columns whose values select what a write replaces; they lead the key wherever the key
    holds them. Rows stand in the order of the key, so that the same rows are the same bytes.
    """

    name: str
    grain: str
    columns: tuple[Column, ...]
    key: tuple[str, ...]
    slices: tuple[str, ...]
    notes: str = ""
    by_name: Mapping[str, Column] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "by_name", {column.name: column for column in self.columns})
        unknown = [name for name in (*self.key, *self.slices) if name not in self.by_name]
        if unknown:
            raise ValueError(f"table {self.name}: key or slice names no column: {', '.join(unknown)}")

    @cached_property
    def schema(self) -> dict[str, PolarsType]:
        """Column names and Polars types, in order."""
        return {column.name: column.dtype for column in self.columns}

    @property
    def order(self) -> tuple[str, ...]:
        """The columns rows are sorted by: the slice first, then the key."""
        return (*self.slices, *(name for name in self.key if name not in self.slices))

    def empty(self) -> pl.DataFrame:
        """The table without a row."""
        return pl.DataFrame(schema=self.schema)

    def arrange(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The frame with this table's columns, types and row order; nullable columns it lacks are null."""
        extra = [name for name in frame.columns if name not in self.by_name]
        if extra:
            raise ContractError(
                f"table {self.name}: unknown column {extra[0]!r}; known: {', '.join(self.schema)}"
            )
        missing = [c for c in self.columns if c.name not in frame.columns]
        for column in missing:
            if not column.nullable:
                raise ContractError(
                    f"table {self.name}: column {column.name!r} is missing and may not be null"
                )
        frame = frame.with_columns(pl.lit(None).alias(column.name) for column in missing)
        try:
            frame = frame.select(pl.col(name).cast(dtype) for name, dtype in self.schema.items())
        except pl.exceptions.PolarsError as error:
            raise ContractError(f"table {self.name}: {str(error).splitlines()[0]}") from error
        return frame.sort(self.order)

    def validate(
        self, frame: pl.DataFrame, *, after: tuple[object, ...] | None = None
    ) -> tuple[object, ...] | None:
        """Refuse a frame that breaks the contract.

        Args:
            frame: the rows, with exactly this table's columns and types.
            after: the order key of the last row of the batch before, for streams.

        Returns:
            The order key of the last row, to pass on with the next batch of a stream.

        Raises:
            ContractError: names the table, the row by its key, the column, its value and the rule.
        """
        if dict(frame.schema) != dict(pl.Schema(self.schema)):
            wrong = next(
                (
                    f"{n}: {frame.schema.get(n)} instead of {t}"
                    for n, t in self.schema.items()
                    if frame.schema.get(n) != t
                ),
                "columns stand in another order or there are more of them",
            )
            raise ContractError(f"table {self.name}: columns differ from the contract ({wrong})")
        if frame.is_empty():
            return after
        for column in self.columns:
            bad = column.violations(frame)
            if bad is not None and bad.any():
                row = int(bad.arg_true()[0])
                raise ContractError(
                    f"table {self.name}, row {self.describe(frame, row)}: {column.name} is "
                    f"{frame[column.name][row]!r} ({int(bad.sum())} such rows); it must be {column.rule}"
                )
        self._validate_order(frame, after)
        return tuple(frame.row(-1, named=True)[name] for name in self.order)

    def _validate_order(self, frame: pl.DataFrame, after: tuple[object, ...] | None) -> None:
        """Rows must ascend strictly along the order, which makes keys unique as well."""
        keys = frame.select(self.order)
        same = pl.lit(value=True)
        ahead = pl.lit(value=False)
        for name in self.order:
            previous = pl.col(name).shift(1)
            ahead = ahead | (same & (pl.col(name) > previous))
            same = same & (pl.col(name) == previous)
        flags = keys.select(
            ahead.fill_null(value=False).alias("ahead"), same.fill_null(value=False).alias("same")
        )
        wrong = (~flags["ahead"]).arg_true()
        for row in wrong.to_list():
            if row == 0:
                first = keys.row(0)
                if after is None or first > after:
                    continue
            what = "stands twice" if flags["same"][row] or keys.row(row) == after else "is out of order"
            remedy = "make keys unique" if what == "stands twice" else f"sort by {', '.join(self.order)}"
            raise ContractError(f"table {self.name}: row {self.describe(frame, row)} {what}; {remedy}")

    def describe(self, frame: pl.DataFrame, row: int) -> str:
        """A row by its key, for messages."""
        values = frame.row(row, named=True)
        return f"{row} (" + ", ".join(f"{name}={values[name]!r}" for name in self.key) + ")"


def text(name: str, doc: str, *, nullable: bool = False, values: tuple[str, ...] = ()) -> Column:
    """A text column."""
    return Column(name, pl.String, doc, nullable=nullable, values=values)


def whole(
    name: str, doc: str, *, nullable: bool = False, low: float | None = 0, high: float | None = None
) -> Column:
    """A column of whole numbers: counts, tokens, page numbers."""
    return Column(name, pl.Int64, doc, nullable=nullable, low=low, high=high)


def real(
    name: str, doc: str, *, nullable: bool = False, low: float | None = None, high: float | None = None
) -> Column:
    """A column of finite real numbers."""
    return Column(name, pl.Float64, doc, nullable=nullable, low=low, high=high)


def share(name: str, doc: str, *, nullable: bool = False) -> Column:
    """A column of numbers in [0, 1]: qualities, shares, probabilities."""
    return Column(name, pl.Float64, doc, nullable=nullable, low=0, high=1)


def flag(name: str, doc: str, *, nullable: bool = False) -> Column:
    """A column of truth values."""
    return Column(name, pl.Boolean, doc, nullable=nullable)


def pages(name: str, doc: str) -> Column:
    """A column of lists of pages."""
    return Column(name, pl.List(PAGE_REFERENCE), doc)


SQL_TYPES: tuple[tuple[PolarsType, str], ...] = (
    (pl.String, "VARCHAR"),
    (pl.Int64, "BIGINT"),
    (pl.Float64, "DOUBLE"),
    (pl.Boolean, "BOOLEAN"),
    (pl.Date, "DATE"),
)


def sql_type(dtype: PolarsType) -> str:
    """DuckDB's name of a contract's type."""
    for polars_type, name in SQL_TYPES:
        if dtype == polars_type:
            return name
    if isinstance(dtype, pl.Datetime):
        return "TIMESTAMP WITH TIME ZONE" if dtype.time_zone else "TIMESTAMP"
    if isinstance(dtype, pl.List):
        return sql_type(dtype.inner) + "[]"
    if isinstance(dtype, pl.Struct):
        return "STRUCT(" + ", ".join(f'"{f.name}" {sql_type(f.dtype)}' for f in dtype.fields) + ")"
    raise ValueError(f"no SQL type for {dtype}")

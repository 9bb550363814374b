"""What a command shows: tables on standard output in three formats, everything else on standard error."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from enum import StrEnum
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl


class Format(StrEnum):
    """How a table is printed."""

    table = "table"
    json = "json"
    csv = "csv"


def say(message: str) -> None:
    """A line for the person at the terminal, on standard error."""
    print(clean(message), file=sys.stderr, flush=True)


def clean(text: str) -> str:
    """Text without control characters: what a filing or a model wrote doesn't steer a terminal."""
    return "".join(c if c in "\n\t" or c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def show(
    frame: pl.DataFrame, layout: Format, *, title: str | None = None, columns: Sequence[str] | None = None
) -> None:
    """Print a table.

    Args:
        frame: the rows.
        layout: ``csv`` and ``json`` print every column with full precision, ``table`` rounds for people.
        title: stands above a ``table``.
        columns: the columns of a ``table``; all by default.
    """
    if layout is Format.csv:
        sys.stdout.write(flat(frame).write_csv())
    elif layout is Format.json:
        sys.stdout.write(json.dumps(frame.to_dicts(), default=str, ensure_ascii=False, indent=1) + "\n")
    else:
        _table(frame.select(columns) if columns else frame, title)


def flat(frame: pl.DataFrame) -> pl.DataFrame:
    """Nested columns as JSON text, which CSV can hold."""
    import polars as pl

    nested = [name for name, dtype in frame.schema.items() if dtype.is_nested()]
    return frame.with_columns(
        pl.Series(
            name,
            [
                None if v is None else json.dumps(v.to_list() if isinstance(v, pl.Series) else v, default=str)
                for v in frame[name]
            ],
            dtype=pl.String,
        )
        for name in nested
    )


def _table(frame: pl.DataFrame, title: str | None) -> None:
    import shutil

    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from apportion.showing import cell

    width = None if sys.stdout.isatty() else max(shutil.get_terminal_size((200, 50)).columns, 200)
    table = Table(box=box.SIMPLE_HEAD, title=title, title_justify="left", title_style="bold", pad_edge=False)
    for name, dtype in frame.schema.items():
        table.add_column(
            name.replace("_", " "), justify="right" if dtype.is_numeric() else "left", overflow="fold"
        )
    for row in frame.iter_rows():
        table.add_row(*(Text(clean(cell(value))) for value in row))
    Console(width=width, highlight=False).print(table)


class ProgressBar:
    """Progress on standard error; only where a person watches."""

    def __init__(self) -> None:
        self._progress: Any = None
        self._task: Any = None

    def begin(self, label: str, total: int) -> None:
        """Start a bar."""
        if not sys.stderr.isatty():
            say(label)
            return
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

        self._progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
            transient=True,
        )
        self._progress.start()
        self._task = self._progress.add_task(label, total=total)

    def advance(self, done: int) -> None:
        """Move it."""
        if self._progress is not None:
            self._progress.update(self._task, completed=done)

    def end(self) -> None:
        """Take it away."""
        if self._progress is not None:
            self._progress.stop()
            self._progress = None

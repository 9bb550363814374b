"""Rows of CSV, JSON Lines and Parquet files, a batch at a time, each with the line it stands on.

Every format comes out as text columns, so that one set of rules decides what a value means. A row that can't be
taken apart at all is refused here, with its line; the others go on.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from apportion.importing.records import LogError

BATCH = 50_000
LINE = "line"

SUFFIXES = {
    ".csv": "csv",
    ".tsv": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".json": "jsonl",
    ".parquet": "parquet",
    ".pq": "parquet",
}

Refused = tuple[str, int | None, str, object, str]


@dataclass(frozen=True)
class Batch:
    """Some rows of a file.

    Attributes:
        source: the file's name.
        frame: a text column for each field that the file has, and ``line``, counted from 1.
        refused: rows that could not be taken apart.
    """

    source: str
    frame: pl.DataFrame
    refused: Sequence[Refused]


def files_of(path: Path) -> list[Path]:
    """The files at a path: itself, or those of a known suffix in the folder, in the order of their names.

    Raises:
        LogError: there is none, or the file's suffix is unknown.
    """
    if path.is_dir():
        found = sorted(p for p in path.iterdir() if p.is_file() and p.suffix.lower() in SUFFIXES)
        if not found:
            raise LogError(f"{path}: no {', '.join(sorted(set(SUFFIXES)))} file in this folder")
        return found
    if path.suffix.lower() not in SUFFIXES:
        raise LogError(
            f"{path}: the suffix {path.suffix or 'is missing and'} tells no format; use .csv, .jsonl or .parquet"
        )
    return [path]


def read_rows(path: Path, fields: Mapping[str, Sequence[str]]) -> Iterator[Batch]:
    """The rows of a file with the fields asked for.

    Args:
        path: CSV with a header, JSON Lines or Parquet, told by its suffix.
        fields: by our name, the names that the source may give it, the first found winning; a dot goes into a nested
            object of JSON. Fields that the source lacks are absent from the frame.

    Raises:
        LogError: the file cannot be read at all.
    """
    kind = SUFFIXES[path.suffix.lower()]
    if kind == "parquet":
        yield from _parquet(path, fields)
    elif kind == "jsonl":
        yield from _jsonl(path, fields)
    else:
        yield from _csv(path, fields, "\t" if kind == "tsv" else ",")


def _csv(path: Path, fields: Mapping[str, Sequence[str]], separator: str) -> Iterator[Batch]:
    with path.open(encoding="utf-8-sig", errors="replace", newline="") as handle:
        reader = csv.reader(handle, delimiter=separator)
        try:
            header = next(reader)
        except (StopIteration, csv.Error) as error:
            raise LogError(f"{path}: no header line; the first line names the columns") from error
        doubled = sorted({name for name in header if header.count(name) > 1})
        if doubled:
            raise LogError(f"{path}: column {doubled[0]!r} stands twice in the header")
        places = {
            ours: header.index(name)
            for ours, names in fields.items()
            for name in names[::-1]
            if name in header
        }
        width = len(header)
        rows: list[list[str]] = []
        lines: list[int] = []
        refused: list[Refused] = []
        start = reader.line_num + 1
        while True:
            try:
                row = next(reader)
            except StopIteration:
                break
            except csv.Error as error:
                refused.append((path.name, reader.line_num, "line", "", f"not CSV ({error})"))
                start = reader.line_num + 1
                continue
            if len(row) == width:
                rows.append(row)
                lines.append(start)
            elif row:
                refused.append(
                    (
                        path.name,
                        start,
                        "line",
                        separator.join(row),
                        f"{len(row)} fields where the header has {width}",
                    )
                )
            start = reader.line_num + 1
            if len(rows) + len(refused) >= BATCH:
                yield _of_lists(path.name, rows, lines, places, refused)
                rows, lines, refused = [], [], []
        if rows or refused:
            yield _of_lists(path.name, rows, lines, places, refused)


def _of_lists(
    source: str, rows: list[list[str]], lines: list[int], places: Mapping[str, int], refused: list[Refused]
) -> Batch:
    columns = list(zip(*rows, strict=True)) if rows else []
    frame = pl.DataFrame(
        {
            LINE: pl.Series(lines, dtype=pl.Int64),
            **{
                ours: pl.Series(columns[place] if rows else [], dtype=pl.String)
                for ours, place in places.items()
            },
        }
    )
    # CSV has no null: an empty field is an unknown one.
    return Batch(source, frame.with_columns(pl.col(ours).replace("", None) for ours in places), refused)


def _jsonl(path: Path, fields: Mapping[str, Sequence[str]]) -> Iterator[Batch]:
    paths = {ours: [tuple(name.split(".")) for name in names] for ours, names in fields.items()}
    for lines, objects, refused in json_batches(path):
        columns: dict[str, Any] = {LINE: pl.Series(lines, dtype=pl.Int64)}
        for ours, ways in paths.items():
            columns[ours] = pl.Series([text_of(_first(row, ways)) for row in objects], dtype=pl.String)
        yield Batch(path.name, pl.DataFrame(columns), refused)


def json_batches(path: Path) -> Iterator[tuple[list[int], list[dict[str, Any]], list[Refused]]]:
    """Lines, objects and refused lines of a JSON Lines file, a batch at a time."""
    lines: list[int] = []
    objects: list[dict[str, Any]] = []
    refused: list[Refused] = []
    with path.open("rb") as handle:
        for number, raw in enumerate(handle, start=1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw)
            except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
                refused.append(
                    (
                        path.name,
                        number,
                        "line",
                        raw[:80].decode("utf-8", "replace"),
                        f"not JSON ({error.__class__.__name__})",
                    )
                )
            else:
                if isinstance(row, dict):
                    lines.append(number)
                    objects.append(row)
                else:
                    refused.append(
                        (path.name, number, "line", raw[:80].decode("utf-8", "replace"), "not a JSON object")
                    )
            if len(objects) + len(refused) >= BATCH:
                yield lines, objects, refused
                lines, objects, refused = [], [], []
    if objects or refused:
        yield lines, objects, refused


def _first(row: Mapping[str, Any], ways: Sequence[tuple[str, ...]]) -> Any:
    for way in ways:
        # A name that itself holds a dot is tried as it stands before it is taken for a path.
        value = row.get(".".join(way)) if len(way) > 1 else None
        if value is None:
            value = row
            for step in way:
                value = value.get(step) if isinstance(value, dict) else None
        if value is not None:
            return value
    return None


def text_of(value: Any) -> str | None:
    """A JSON value as text; null and the empty text are unknown."""
    if value is None or isinstance(value, str):
        return value or None
    if isinstance(value, bool):
        return "true" if value else "false"
    return repr(value) if isinstance(value, int | float) else json.dumps(value, ensure_ascii=False)


def _parquet(path: Path, fields: Mapping[str, Sequence[str]]) -> Iterator[Batch]:
    try:
        frame = pl.scan_parquet(path, glob=False)
        schema = frame.collect_schema()
    except (pl.exceptions.PolarsError, OSError) as error:
        raise LogError(f"{path}: cannot be read as Parquet ({str(error).splitlines()[0]})") from error
    chosen = {ours: name for ours, names in fields.items() for name in names[::-1] if name in schema}
    selected = frame.select(pl.col(name).alias(ours) for ours, name in chosen.items())
    start = 1
    for part in selected.collect_batches(chunk_size=BATCH, maintain_order=True):
        text = part.select(
            pl.int_range(start, start + part.height, dtype=pl.Int64).alias(LINE),
            *(
                pl.col(name).cast(pl.String).replace("", None)
                if not part.schema[name].is_nested()
                else pl.col(name).map_elements(
                    lambda value: json.dumps(value, default=str), return_dtype=pl.String
                )
                for name in part.columns
            ),
        )
        start += part.height
        yield Batch(path.name, text, [])

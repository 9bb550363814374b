"""A team's own questions over filings that are in the corpus: JSONL or CSV, with or without gold answers."""

from __future__ import annotations

import csv
import difflib
import hashlib
import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import polars as pl

from apportion.corpus.readers import SUFFIXES
from apportion.corpus.records import QUESTION_COLUMNS, Corpus, Problem, safe_name

COLUMNS = ("question", "question_id", "filing", "family", "company", "answer")
"""What a row may hold; the first it must."""


def read_questions(path: Path) -> Corpus:
    """Read questions: ``question`` is needed; ``question_id``, ``filing``, ``family``, ``company``, ``answer`` may be.

    A question without an id gets its row number's. ``filing`` is a filing_id or the document's own name. Without an
    ``answer`` a question is answered and escalated, but not judged.

    Raises:
        ValueError: the file holds no usable question.
    """
    problems = _strange_columns(path)
    rows: dict[str, dict[str, Any]] = {}
    for line, row in _rows(path, problems):
        _add(rows, problems, path.name, line, row)
    if not rows:
        named = columns_of(path)
        if named and "question" not in named:
            raise ValueError(f"{path}: no column `question`; its columns: {', '.join(named)}")
        reasons = "; ".join(str(problem) for problem in problems[:3]) or "the file is empty"
        raise ValueError(f"{path}: no usable question ({reasons})")
    nothing = pl.DataFrame(schema={"filing_id": pl.String, "sha256": pl.String})
    return Corpus(
        filings=nothing,
        pages=pl.DataFrame(schema={"filing_id": pl.String, "page_number": pl.Int64}),
        questions=pl.DataFrame(list(rows.values()), schema=QUESTION_COLUMNS),
        problems=problems,
        sha256=hashlib.sha256(path.read_bytes()).hexdigest(),
    )


def _strange_columns(path: Path) -> list[Problem]:
    """A line for each column that is none of ours: what stands in it is left out, perhaps by a slip of the pen."""
    try:
        strange = [name for name in columns_of(path) if name not in COLUMNS]
    except UnicodeDecodeError:
        return []
    lines = []
    for name in strange:
        near = difflib.get_close_matches(name.lower(), COLUMNS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"columns: {', '.join(COLUMNS)}"
        lines.append(Problem(path.name, None, "column", name, f"left out; {hint}", refused=False))
    return lines


def columns_of(path: Path) -> list[str]:
    """Columns of a CSV file, keys of the first object of a JSONL file; none of a folder or another file of text.

    Raises:
        UnicodeDecodeError: the file isn't UTF-8 text.
    """
    if not path.is_file():
        return []
    if path.suffix.lower() == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as handle:
            return [name for name in csv.DictReader(handle).fieldnames or [] if name]
    with path.open(encoding="utf-8-sig") as handle:
        for raw in islice(handle, 100):
            try:
                found = json.loads(raw)
            except json.JSONDecodeError:
                continue
            if isinstance(found, dict):
                return list(found)
    return []


def _rows(path: Path, problems: list[Problem]) -> Iterator[tuple[int, Mapping[str, Any]]]:
    if path.is_dir():
        raise ValueError(f"{path}: a folder; name the file that holds the questions")
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(f"{path}: not UTF-8 at byte {error.start}; save it as UTF-8") from error
    if path.suffix.lower() == ".csv":
        with path.open(newline="", encoding="utf-8-sig") as handle:
            reader = csv.DictReader(handle)
            for row in reader:
                if None in row:
                    problems.append(
                        Problem(
                            path.name,
                            reader.line_num,
                            "line",
                            ",".join(str(value) for value in row.values() if isinstance(value, str)),
                            "more fields than columns; a field with a comma in it needs quotes around it",
                        )
                    )
                    continue
                yield (
                    reader.line_num,
                    {name: value for name, value in row.items() if name and value not in (None, "")},
                )
        return
    with path.open(encoding="utf-8-sig") as handle:
        for number, raw in enumerate(handle, start=1):
            if not raw.strip():
                continue
            try:
                found = json.loads(raw)
            except json.JSONDecodeError as error:
                problems.append(
                    Problem(path.name, number, "line", raw, f"not JSON ({error}); mend or drop it")
                )
                continue
            if isinstance(found, dict):
                yield number, found
            else:
                problems.append(Problem(path.name, number, "line", raw, "not a JSON object; mend or drop it"))


def _add(
    rows: dict[str, dict[str, Any]], problems: list[Problem], source: str, line: int, row: Mapping[str, Any]
) -> None:
    text = row.get("question")
    if not isinstance(text, str) or not text.strip():
        problems.append(
            Problem(source, line, "question", str(text), "missing or not text; every row needs one")
        )
        return
    identifier = str(row.get("question_id") or f"q{line:06d}")
    if identifier in rows:
        problems.append(Problem(source, line, "question_id", identifier, "stands twice; the first is used"))
        return
    filing = row.get("filing")
    answer = row.get("answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float | None):
        problems.append(
            Problem(source, line, "answer", str(answer), "not text or a number; leave it out if unknown")
        )
        return
    rows[identifier] = {
        "question_id": identifier,
        "text": text,
        "family": _text(row.get("family")),
        "company": _text(row.get("company")),
        "filing_id": _filing(str(filing)) if filing else None,
        "reference_answer": None if answer is None else _text(str(answer)),
        "evidence": [],
    }


def _filing(name: str) -> str:
    """The filing that a document's name stands for, with its suffix or without."""
    suffix = Path(name).suffix
    return safe_name(name[: -len(suffix)] if suffix.lower() in SUFFIXES else name)


def _text(value: object) -> str | None:
    return value if isinstance(value, str) and value.strip() else None

"""LiteLLM's call logs (its standard logging payload, one JSON object a line), joined with a file of scores.

A call belongs to a question and a route. The scores file says so by the call's ``id`` (or ``trace_id``): columns
``id``, ``score``, and where there are any ``question``, ``route``, ``group``, ``text``, ``correct``. What it doesn't
say is taken from the log: the route is the model group, else the model; the question is the text of the last user
message, under the first sixteen hex digits of its SHA-256. Calls of one question on one route are one outcome:
tokens, money and time add up, the last answer counts, and a retry that failed before it costs what it cost.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import polars as pl

from apportion.importing.generic import log_of
from apportion.importing.records import ImportedLog, LogError
from apportion.importing.rows import LINE, Batch, Refused, files_of, json_batches, read_rows, text_of

SCORE_FIELDS: Mapping[str, Sequence[str]] = {
    "id": ("id", "call_id", "trace_id"),
    "score": ("score", "quality"),
    "correct": ("correct",),
    "question": ("question", "question_id"),
    "route": ("route",),
    "group": ("group",),
    "text": ("text",),
    "judge": ("judge",),
    "reference_answer": ("reference_answer",),
    "family": ("family",),
}

SUMMED = ("input_tokens", "output_tokens", "cost_usd", "latency_ms")


def read_litellm(path: Path, scores: Path | None) -> ImportedLog:
    """Read LiteLLM's logs.

    Args:
        path: a JSON Lines file of standard logging payloads, or a folder of them.
        scores: CSV, JSON Lines or Parquet; without it nothing is graded.

    Raises:
        LogError: no call is usable, or the scores file names no call.
    """
    graded = {} if scores is None else _scores(scores)
    return log_of(batch for batch in _batches(files_of(path), graded))


def _scores(path: Path) -> dict[str, dict[str, str | None]]:
    found: dict[str, dict[str, str | None]] = {}
    for batch in read_rows(path, SCORE_FIELDS):
        if "id" not in batch.frame.columns:
            raise LogError(f"{path}: no column id; the scores file names each call by its id")
        for row in batch.frame.iter_rows(named=True):
            if row["id"] is not None:
                found.setdefault(row["id"], row)
    return found


def _batches(files: Sequence[Path], graded: Mapping[str, Mapping[str, str | None]]) -> Iterator[Batch]:
    merged: dict[tuple[str, str], dict[str, Any]] = {}
    for file in files:
        bad: list[Refused] = []
        for lines, objects, refused in json_batches(file):
            bad += refused
            for line, call in zip(lines, objects, strict=True):
                row = _row(call, graded)
                if isinstance(row, tuple):
                    bad.append((file.name, line, *row))
                else:
                    row |= {LINE: line, "source": file.name}
                    key = (row["question"], row["route"])
                    merged[key] = _merge(merged[key], row) if key in merged else row
        if bad:
            yield Batch(
                file.name,
                pl.DataFrame(schema={LINE: pl.Int64, "question": pl.String, "route": pl.String}),
                bad,
            )
    by_source: dict[str, list[dict[str, Any]]] = {}
    for row in merged.values():
        by_source.setdefault(row.pop("source"), []).append(row)
    for source, rows in by_source.items():
        lines_of = [row.pop(LINE) for row in rows]
        texts = [{name: text_of(value) for name, value in row.items()} for row in rows]
        frame = pl.DataFrame(texts, infer_schema_length=None).cast(pl.String)
        yield Batch(source, frame.with_columns(pl.Series(LINE, lines_of, dtype=pl.Int64)), [])


def _row(
    call: Mapping[str, Any], graded: Mapping[str, Mapping[str, str | None]]
) -> dict[str, Any] | tuple[str, object, str]:
    """One call as a row of the generic log, or the field, value and reason for which it is refused."""
    score = next(
        (graded[str(call[name])] for name in ("id", "trace_id") if str(call.get(name)) in graded), {}
    )
    asked = _last_user_message(call.get("messages"))
    question = score.get("question") or (hashlib.sha256(asked.encode()).hexdigest()[:16] if asked else None)
    if question is None:
        return (
            "messages",
            call.get("id"),
            "no user message to know the question by; name it in the scores file",
        )
    route = score.get("route") or call.get("model_group") or call.get("model")
    if not route:
        return "model", call.get("id"), "missing; name the route in the scores file"
    start, end = call.get("startTime"), call.get("endTime")
    seconds = (
        end - start
        if isinstance(start, int | float) and isinstance(end, int | float)
        else call.get("response_time")
    )
    inputs, outputs = call.get("prompt_tokens"), call.get("completion_tokens")
    counted = bool(inputs) or bool(outputs)
    return {
        "question": question,
        "route": route,
        "model": call.get("model"),
        "text": score.get("text") or asked,
        "answer": _answer(call.get("response")),
        "input_tokens": inputs if counted else None,
        "output_tokens": outputs if counted else None,
        "cost_usd": call.get("response_cost"),
        "latency_ms": seconds * 1000 if isinstance(seconds, int | float) else None,
        "status": str(call.get("status", "success")),
        "calls_made": 1,
        "asked_at": start if isinstance(start, int | float) else None,
        **{
            name: score.get(name)
            for name in ("score", "correct", "group", "judge", "reference_answer", "family")
        },
    }


def _merge(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """Two calls of one outcome: sums are known where both parts are; the later call decides how it ended."""
    row = {name: after[name] if after[name] is not None else before[name] for name in after}
    for name in SUMMED:
        a, b = before[name], after[name]
        row[name] = a + b if a is not None and b is not None else None
    asked = [part["asked_at"] for part in (before, after) if part["asked_at"] is not None]
    row |= {"calls_made": before["calls_made"] + 1, LINE: before[LINE], "source": before["source"]}
    row["asked_at"] = min(asked, default=None)
    return row


def _last_user_message(messages: Any) -> str | None:
    if isinstance(messages, str):
        return messages.strip() or None
    for message in reversed(messages if isinstance(messages, list) else []):
        if isinstance(message, dict) and message.get("role") == "user":
            return _content(message.get("content"))
    return None


def _content(content: Any) -> str | None:
    if isinstance(content, list):
        parts = [part.get("text") for part in content if isinstance(part, dict)]
        content = "\n".join(part for part in parts if isinstance(part, str))
    return content.strip() or None if isinstance(content, str) else None


def _answer(response: Any) -> str | None:
    if isinstance(response, str):
        return response
    try:
        return _content(response["choices"][0]["message"]["content"])
    except (KeyError, IndexError, TypeError):
        return None

"""RouterArena's logs: one JSON Lines file a model, a row a question, with score, usage and cost.

A route is a model. The question's family is the data set it comes from: its ``global_index`` without the number.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import polars as pl

from apportion.importing.generic import log_of
from apportion.importing.records import ImportedLog
from apportion.importing.rows import LINE, Batch, Refused, files_of, json_batches, text_of

JUDGE = "routerarena"


def read_routerarena(path: Path) -> ImportedLog:
    """Read RouterArena's files.

    Raises:
        LogError: no row is usable.
    """
    return log_of((batch for file in files_of(path) for batch in _batches(file)), clip=True)


def _batches(file: Path) -> Iterator[Batch]:
    for lines, objects, refused in json_batches(file):
        rows: list[dict[str, str | None]] = []
        kept: list[int] = []
        bad: list[Refused] = list(refused)
        for line, row in zip(lines, objects, strict=True):
            graded = row.get("evaluation_result")
            usage = row.get("token_usage")
            if graded is not None and not isinstance(graded, dict):
                bad.append((file.name, line, "evaluation_result", graded, "not an object"))
            elif usage is not None and not isinstance(usage, dict):
                bad.append((file.name, line, "token_usage", usage, "not an object"))
            else:
                kept.append(line)
                rows.append(_row(row, graded or {}, usage or {}))
        frame = pl.DataFrame(rows, schema=dict.fromkeys(_row({}, {}, {}), pl.String))
        yield Batch(file.name, frame.with_columns(pl.Series(LINE, kept, dtype=pl.Int64)), bad)


def _row(
    row: Mapping[str, Any], graded: Mapping[str, Any], usage: Mapping[str, Any]
) -> dict[str, str | None]:
    index = text_of(row.get("global_index"))
    return {
        "question": index,
        "route": text_of(row.get("llm_selected")),
        "model": text_of(row.get("llm_selected")),
        "text": text_of(row.get("question")),
        "answer": text_of(row.get("generated_answer")),
        "family": index.rpartition("_")[0] or None if index else None,
        "reference_answer": text_of(graded.get("ground_truth")),
        "score": text_of(graded.get("score")),
        "input_tokens": text_of(usage.get("input_tokens")),
        "output_tokens": text_of(usage.get("output_tokens")),
        "cost_usd": text_of(graded.get("inference_cost")),
        "status": "ok" if row.get("success", True) else "failed",
        "judge": JUDGE,
    }

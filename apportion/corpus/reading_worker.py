"""Reads files in a process of its own, which may be killed: one request a line on standard input, one answer a line.

A request is ``{"path": ..., "out": ...}``. Pages go into a Parquet file at ``out``, a row group at a time; facts,
columns that only the whole document tells, and the outcome stand in its metadata and in the answer. Run as
``python -m apportion.corpus.reading_worker``.
"""

from __future__ import annotations

import contextlib
import json
import os
import signal
import sys
from pathlib import Path
from typing import Any

MEMORY_LIMIT = 3 * 1024**3
"""Address space of a worker: what a hostile file may make a parser allocate."""

ROWS_AT_ONCE = 64
GRACE_S = 90
METADATA_KEY = b"apportion"


def read_to_parquet(path: Path, out: Path) -> dict[str, Any]:
    """Read a document's pages into a Parquet file, whole or not at all.

    Returns:
        ``status`` (``ok``, ``no_text``, ``failed``), ``reason``, ``pages``, ``facts``, and ``columns``, a value a
        page: those of `ItemFinder.columns` and :func:`apportion.corpus.page_kinds.page_columns`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    from apportion.corpus.items import ItemFinder
    from apportion.corpus.page_kinds import page_columns, profiles_of
    from apportion.corpus.page_reading import PageReading, read_page
    from apportion.corpus.readers import read_document
    from apportion.corpus.records import UnreadableError
    from apportion.tokens import count_tokens_batch

    schema = pa.schema(
        [
            ("page_number", pa.int64()),
            ("text", pa.large_string()),
            ("token_count", pa.int64()),
            ("has_text", pa.bool_()),
        ]
    )
    draft = out.with_name(f".{out.name}-{os.getpid()}")
    finder = ItemFinder()
    readings: list[PageReading] = []
    count, with_text = 0, 0
    try:
        document = read_document(path)
        with pq.ParquetWriter(draft, schema, compression="zstd") as writer:

            def flush(texts: list[str]) -> None:
                numbers = list(range(count - len(texts), count))
                columns = [numbers, texts, count_tokens_batch(texts), [bool(text.strip()) for text in texts]]
                writer.write_table(pa.table(columns, schema=schema))

            held: list[str] = []
            for text in document.pages:
                finder.add(text)
                readings.append(read_page(text))
                held.append(text)
                count += 1
                with_text += bool(text.strip())
                if len(held) == ROWS_AT_ONCE:
                    flush(held)
                    held = []
            if held:
                flush(held)
            answer: dict[str, Any] = {
                "status": "ok" if with_text else "no_text",
                "reason": None if with_text else f"none of its {count} pages has text; it may be scanned",
                "pages": count,
                "facts": document.facts.as_json(),
                "columns": finder.columns() | page_columns(profiles_of(readings)),
            }
            writer.add_key_value_metadata({METADATA_KEY: json.dumps(answer).encode()})
    except (UnreadableError, MemoryError, RecursionError, OSError) as error:
        with contextlib.suppress(OSError):
            draft.unlink(missing_ok=True)
        return {"status": "failed", "reason": _reason(error), "pages": 0, "facts": {}, "columns": {}}
    draft.replace(out)
    return answer


def _reason(error: BaseException) -> str:
    if isinstance(error, MemoryError):
        return "reading it takes more memory than a file may"
    if isinstance(error, OSError) and error.strerror:
        return f"cannot be opened: {error.strerror}"
    return " ".join(str(error).split()) or type(error).__name__


def main() -> None:
    """Answer requests until standard input ends."""
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_LIMIT, MEMORY_LIMIT))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    # Whatever a parser prints goes nowhere: the channel is for answers.
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    for line in sys.stdin:
        request = json.loads(line)
        if hasattr(signal, "alarm"):
            # Whoever asked may have been killed; a parser that never comes back shan't outlive it for long.
            signal.alarm(int(request["time_limit_s"]) + GRACE_S)
        try:
            answer = read_to_parquet(Path(request["path"]), Path(request["out"]))
        except Exception as error:
            answer = {
                "status": "failed",
                "reason": f"the reader failed on it ({type(error).__name__}: {' '.join(str(error).split())[:200]})",
                "pages": 0,
                "facts": {},
                "columns": {},
            }
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()

"""Reading many files at once, each in a worker process that is killed when it takes too long."""

from __future__ import annotations

import contextlib
import json
import os
import queue
import select
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from apportion.corpus.metadata import Facts
from apportion.corpus.reading_worker import METADATA_KEY
from apportion.progress import track

TIME_LIMIT_S = 300.0
STARTUP_S = 60.0
WORKERS = min(os.cpu_count() or 1, 8)


@dataclass(frozen=True)
class Task:
    """A file to read and where its pages go."""

    path: Path
    out: Path


@dataclass(frozen=True)
class Reading:
    """What became of a file: its pages in a Parquet file (None where it failed), its facts, and the columns
    of its pages that only the whole document tells."""

    path: Path
    status: str
    reason: str | None
    page_count: int
    facts: Facts
    out: Path | None
    columns: Mapping[str, list[Any]] = field(default_factory=dict)

    @classmethod
    def of(cls, task: Task, answer: dict[str, Any]) -> Reading:
        """From a worker's answer."""
        failed = answer["status"] == "failed"
        return cls(
            task.path,
            answer["status"],
            answer["reason"],
            int(answer["pages"]),
            Facts.from_json(answer["facts"]),
            None if failed else task.out,
            answer["columns"],
        )


def kept_reading(task: Task) -> Reading | None:
    """What an earlier, perhaps interrupted, run left of a file; None where it left nothing whole."""
    import pyarrow.parquet as pq

    if not task.out.is_file():
        return None
    try:
        answer = json.loads(pq.read_metadata(task.out).metadata[METADATA_KEY])
    except (OSError, KeyError, TypeError, ValueError):
        task.out.unlink(missing_ok=True)
        return None
    return Reading.of(task, answer)


def read_files(
    tasks: Sequence[Task], *, workers: int = WORKERS, time_limit_s: float = TIME_LIMIT_S
) -> list[Reading]:
    """Read files, each in a worker; a file that takes too long or takes its worker with it is ``failed``.

    Args:
        tasks: the files.
        workers: processes at once.
        time_limit_s: seconds a file may take.

    Returns:
        What became of each, in order.
    """
    results: list[Reading | None] = [kept_reading(task) for task in tasks]
    waiting: queue.SimpleQueue[int] = queue.SimpleQueue()
    left = [i for i, result in enumerate(results) if result is None]
    for i in left:
        waiting.put(i)
    finished: queue.SimpleQueue[tuple[int, Reading] | BaseException | None] = queue.SimpleQueue()
    stop = threading.Event()

    started: list[_Worker] = []

    def work() -> None:
        worker = _Worker()
        started.append(worker)
        try:
            while not stop.is_set():
                try:
                    i = waiting.get_nowait()
                except queue.Empty:
                    break
                finished.put((i, Reading.of(tasks[i], worker.ask(tasks[i], time_limit_s))))
        except BaseException as error:  # handed to whoever waits
            finished.put(error)
        finally:
            worker.close()
            finished.put(None)

    count = max(1, min(workers, len(left)))
    threads = [threading.Thread(target=work, daemon=True) for _ in range(count if left else 0)]
    for thread in threads:
        thread.start()
    running, done = len(threads), 0
    try:
        with (
            track("reading files", len(left))
            if left
            else contextlib.nullcontext(lambda done: None) as advance
        ):
            while running:
                try:
                    # Waking now and then lets an interruption through.
                    message = finished.get(timeout=0.5)
                except queue.Empty:
                    continue
                if message is None:
                    running -= 1
                elif isinstance(message, BaseException):
                    raise message
                else:
                    results[message[0]] = message[1]
                    done += 1
                    advance(done)
    finally:
        stop.set()
        if running:
            # Interrupted: whoever waits for a file shan't wait until it is read.
            for worker in started:
                worker.stop()
        for thread in threads:
            thread.join()
    return [result for result in results if result is not None]


class _Worker:
    """One process, started when it is first needed and again after it was killed."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None

    def ask(self, task: Task, time_limit_s: float) -> dict[str, Any]:
        """Have a file read."""
        fresh = self._process is None
        process = self._process or self._start()
        if process.stdin is None or process.stdout is None:  # pragma: no cover - both are pipes
            raise RuntimeError("the reading worker has no pipes")
        request = (
            json.dumps({"path": str(task.path), "out": str(task.out), "time_limit_s": time_limit_s}) + "\n"
        )
        try:
            process.stdin.write(request.encode())
            process.stdin.flush()
            line = _line(process.stdout.fileno(), time_limit_s + (STARTUP_S if fresh else 0.0))
        except TimeoutError:
            self.close()
            return _failed(f"reading it takes longer than {time_limit_s:g} s")
        except (BrokenPipeError, EOFError):
            status = process.wait()
            self.close()
            how = f"signal {-status}" if status < 0 else f"exit status {status}"
            return _failed(f"the reader crashed on it ({how})")
        answer = json.loads(line)
        if not isinstance(answer, dict):  # pragma: no cover - the worker writes objects
            raise TypeError("the reading worker gave no object")
        return answer

    def _start(self) -> subprocess.Popen[bytes]:
        # -P: a folder `apportion` in the current directory shan't be taken for ours.
        self._process = subprocess.Popen(
            [sys.executable, "-P", "-m", "apportion.corpus.reading_worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "POLARS_MAX_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )
        return self._process

    def stop(self) -> None:
        """Kill the process, from another thread; whoever waits for its answer is told that it ended."""
        process = self._process
        if process is not None:
            process.kill()

    def close(self) -> None:
        """End the process."""
        if self._process is None:
            return
        self._process.kill()
        self._process.wait()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with contextlib.suppress(OSError):
                    pipe.close()
        self._process = None


def _line(descriptor: int, timeout_s: float) -> bytes:
    """One line from a pipe.

    Raises:
        TimeoutError: it didn't come in time.
        EOFError: the other end closed.
    """
    import time

    held = bytearray()
    deadline = time.monotonic() + timeout_s
    while not held.endswith(b"\n"):
        ready, _, _ = select.select([descriptor], [], [], max(0.0, deadline - time.monotonic()))
        if not ready:
            raise TimeoutError
        piece = os.read(descriptor, 1 << 16)
        if not piece:
            raise EOFError
        held += piece
    return bytes(held)


def _failed(reason: str) -> dict[str, Any]:
    return {"status": "failed", "reason": reason, "pages": 0, "facts": {}, "columns": {}}


def page_batches(reading: Reading) -> Iterator[dict[str, list[Any]]]:
    """A file's pages in batches: page_number, text, token_count, has_text, and the reading's columns."""
    import pyarrow.parquet as pq

    if reading.out is None:
        return
    with pq.ParquetFile(reading.out) as file:
        for batch in file.iter_batches(batch_size=256):
            columns = batch.to_pydict()
            for name, values in reading.columns.items():
                columns[name] = [values[number] for number in columns["page_number"]]
            yield columns

"""The call ledger: every call is written before it is sent and settled after it.

One SQLite file in WAL mode, shared by the threads and processes of a machine. A finished call is served to whoever
asks for the same thing again; a call in flight is held under its sender's lease, so that nobody sends it twice; a
call whose sender died is kept as ``abandoned``, since it may have been paid for, and sent again as a new call.

A settled call survives the death of its process at any moment. WAL commits are not forced to the disk one by one,
so a power cut can lose the last moments.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from apportion.llm.ledger_reading import LedgerReading, result_of
from apportion.llm.ledger_schema import CALL_COLUMNS, SCHEMA, SCHEMA_VERSION
from apportion.llm.liveness import HEARTBEAT_S, ProcessName, is_alive, this_process
from apportion.llm.requests import CallPurpose, CallResult, ChatRequest, Status

#: Outcomes that asking again would not change: they are served. The others are sent again when asked for again.
FINISHED: frozenset[Status] = frozenset({"ok", "refused", "truncated", "context_overflow", "malformed"})
_CHUNK = 500


@dataclass(frozen=True)
class Sizes:
    """What a call is expected to hold before it is sent, in tokens: estimated input, and bounds on input and output."""

    input_estimate: int
    input_bound: int
    output_bound: int


@dataclass(frozen=True)
class Claimed:
    """The call is ours to send, under this id."""

    call_id: str


@dataclass(frozen=True)
class Busy:
    """Somebody alive is sending the same call."""

    call_id: str


@dataclass(frozen=True)
class Refused:
    """The call may not be sent: ``wait`` says whether room may come free; ``reason`` is for people."""

    wait: bool
    reason: str


#: Decides, inside the claim's transaction, whether a call may be sent; null admits it.
Admit = Callable[[sqlite3.Connection, str], Refused | None]


class Ledger(LedgerReading):
    """The ledger in the file ``path``, which is created with its folder where it is missing.

    Safe to share among threads; a process opens its own. ``ValueError`` if the file is of another version or is no
    ledger at all.
    """

    def __init__(self, path: Path | str) -> None:
        self.path = Path(path)
        self.worker_id = uuid.uuid4().hex
        self._lock = threading.RLock()
        self._process = this_process()
        self._beating: threading.Event | None = None
        self._registered = False
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._connection = self._open()

    # --- calls -----------------------------------------------------------------------------------------------

    def held(self, hashes: Iterable[str]) -> set[str]:
        """Which of these requests are finished, and so would be served."""
        found: set[str] = set()
        unique = list(dict.fromkeys(hashes))
        with self._lock:
            for start in range(0, len(unique), _CHUNK):
                chunk = unique[start : start + _CHUNK]
                marks = ",".join("?" * len(chunk))
                found.update(
                    row[0]
                    for row in self._connection.execute(
                        "SELECT DISTINCT request_hash FROM calls"  # noqa: S608
                        f" WHERE request_hash IN ({marks}) AND status IN ({_FINISHED_SQL})",
                        chunk,
                    )
                )
        return found

    def serve(self, calls: Sequence[tuple[ChatRequest, CallPurpose]]) -> dict[int, CallResult]:
        """Results, by position, of those calls that are finished; each adds a use and no spend."""
        finished = self.held(request.request_hash for request, _ in calls)
        if not finished:
            return {}
        results: dict[int, CallResult] = {}
        with self.transaction() as connection:
            for position, (request, purpose) in enumerate(calls):
                if request.request_hash in finished:
                    row = self._finished(connection, request.request_hash)
                    if row is not None:
                        _add_use(connection, row["call_id"], purpose, served=True)
                        results[position] = result_of(row, served=True)
        return results

    def claim(
        self, request: ChatRequest, purpose: CallPurpose, sizes: Sizes, admit: Admit | None = None
    ) -> CallResult | Claimed | Busy | Refused:
        """Serve the call, or take the right to send it, or say why not; one transaction.

        A sender found dead on the way loses its call, which stays on record as possibly paid.
        """
        self._register()
        with self.transaction() as connection:
            earlier = connection.execute(
                "SELECT status FROM calls WHERE request_hash = ?", [request.request_hash]
            ).fetchall()
            row = self._finished(connection, request.request_hash) if earlier else None
            if row is not None:
                _add_use(connection, row["call_id"], purpose, served=True)
                return result_of(row, served=True)
            pending = connection.execute(_PENDING_OF, [request.request_hash]).fetchall() if earlier else []
            for sent in pending:
                if self._alive(sent):
                    return Busy(sent["call_id"])
                _abandon(connection, sent)
            call_id = f"{request.request_hash.partition(':')[2][:24]}-{len(earlier) + 1}"
            if admit is not None:
                refusal = admit(connection, call_id)
                if refusal is not None:
                    return refusal
            connection.execute(
                "INSERT OR IGNORE INTO requests (request_hash, body) VALUES (?, ?)",
                [request.request_hash, zlib.compress(request.canonical.encode("utf-8", "surrogatepass"), 1)],
            )
            connection.execute(
                "INSERT INTO calls (call_id, outcome_set, question_id, route, purpose, model, request_hash, status,"
                " attempts, created_at, worker_id, input_estimate, input_bound, output_bound)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, 'pending', 1, ?, ?, ?, ?, ?)",
                [
                    call_id,
                    purpose.outcome_set,
                    purpose.question_id,
                    purpose.route,
                    purpose.purpose,
                    request.model,
                    request.request_hash,
                    time.time(),
                    self.worker_id,
                    sizes.input_estimate,
                    sizes.input_bound,
                    sizes.output_bound,
                ],
            )
            _add_use(connection, call_id, purpose, served=False)
            return Claimed(call_id)

    def next_attempt(self, call_id: str, attempt: int, admit: Admit | None = None) -> Refused | None:
        """Note that attempt number ``attempt`` is about to be sent, unless ``admit`` refuses it."""
        with self.transaction() as connection:
            refusal = None if admit is None else admit(connection, call_id)
            if refusal is None:
                connection.execute("UPDATE calls SET attempts = ? WHERE call_id = ?", [attempt, call_id])
            return refusal

    def settle(
        self,
        result: CallResult,
        finish: Callable[[sqlite3.Connection, str], None] | None = None,
    ) -> None:
        """Write what came of a call. ``finish`` runs in the same transaction: the budget settles with the call.

        A call that was given up for dead meanwhile gets its true outcome all the same.
        """
        with self.transaction() as connection:
            connection.execute(
                "UPDATE calls SET status = ?, attempts = ?, input_tokens = ?, cached_input_tokens = ?,"
                " output_tokens = ?, reasoning_tokens = ?, usage_source = ?, cost_usd = ?, latency_ms = ?,"
                " settled_at = ?, text = ?, parsed = ?, mean_logprob = ?, error = ? WHERE call_id = ?",
                [
                    result.status,
                    result.attempts,
                    result.usage.input_tokens,
                    result.usage.cached_input_tokens,
                    result.usage.output_tokens,
                    result.usage.reasoning_tokens,
                    result.usage.source,
                    result.cost_usd,
                    result.latency_ms,
                    time.time(),
                    result.text,
                    None if result.parsed is None else json.dumps(result.parsed, ensure_ascii=False),
                    result.mean_logprob,
                    result.error,
                    result.call_id,
                ],
            )
            if finish is not None:
                finish(connection, result.call_id)

    def in_flight(self, request_hash: str) -> bool:
        """Whether somebody alive is sending this request."""
        return any(self._alive(row) for row in self.query(_PENDING_OF, [request_hash]))

    def abandon(self, call_id: str) -> None:
        """Give up a call of ours that was sent and will not be waited for: it may have been paid for."""
        with self.transaction() as connection:
            for row in connection.execute(_PENDING + " AND call_id = ?", [call_id]).fetchall():
                _abandon(connection, row)

    def sweep(self) -> int:
        """Give up every call whose sender is dead; how many there were."""
        with self.transaction() as connection:
            dead = [row for row in connection.execute(_PENDING).fetchall() if not self._alive(row)]
            for row in dead:
                _abandon(connection, row)
        return len(dead)

    # --- leases ----------------------------------------------------------------------------------------------

    @contextmanager
    def lease(self) -> Iterator[None]:
        """Beat while the block runs, from a thread of its own: a busy event loop must not be taken for dead."""
        stop = threading.Event()
        thread = threading.Thread(
            target=self._beat_until, args=(stop,), name="apportion-ledger-lease", daemon=True
        )
        thread.start()
        try:
            yield
        finally:
            stop.set()
            thread.join()

    def _beat_until(self, stop: threading.Event) -> None:
        while not stop.wait(HEARTBEAT_S):
            self.beat()

    def beat(self) -> None:
        """Renew the lease on every call of this ledger's in flight."""
        with self.transaction() as connection:
            connection.execute(
                "UPDATE workers SET heartbeat_at = ? WHERE worker_id = ?", [time.time(), self.worker_id]
            )

    def _register(self) -> None:
        if self._process.pid != os.getpid():
            raise ValueError(
                f"the ledger {self.path} was opened before a fork; open it again in the new process"
            )
        if self._registered:
            return
        with self.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO workers (worker_id, host, pid, process_started, heartbeat_at)"
                " VALUES (?, ?, ?, ?, ?)",
                [self.worker_id, self._process.host, self._process.pid, self._process.started, time.time()],
            )
        self._registered = True

    def _alive(self, row: sqlite3.Row) -> bool:
        if row["pid"] is None:
            return False
        process = ProcessName(row["host"], row["pid"], row["process_started"])
        return is_alive(process, silent_for_s=time.time() - row["heartbeat_at"])

    # --- storage ---------------------------------------------------------------------------------------------

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """A writing transaction, alone in this file; rolled back if the block raises."""
        with self._lock:
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield self._connection
            except BaseException:
                self._connection.execute("ROLLBACK")
                raise
            self._connection.execute("COMMIT")

    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[sqlite3.Row]:
        """Rows of a reading query."""
        with self._lock:
            return self._connection.execute(sql, parameters).fetchall()

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self._connection.close()

    def _finished(self, connection: sqlite3.Connection, request_hash: str) -> sqlite3.Row | None:
        row = connection.execute(
            f"SELECT {CALL_COLUMNS} FROM calls WHERE request_hash = ? AND status IN ({_FINISHED_SQL})"  # noqa: S608
            " ORDER BY settled_at, call_id LIMIT 1",
            [request_hash],
        ).fetchone()
        return cast("sqlite3.Row | None", row)

    def _open(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=60.0, isolation_level=None, check_same_thread=False)
        connection.row_factory = sqlite3.Row
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            # A checkpoint forces the disk: not every few dozen calls.
            connection.execute("PRAGMA wal_autocheckpoint = 8000")
            connection.execute("BEGIN IMMEDIATE")
            version = connection.execute("PRAGMA user_version").fetchone()[0]
            if version == 0:
                for statement in SCHEMA:
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {SCHEMA_VERSION}")
            connection.execute("COMMIT")
        except sqlite3.DatabaseError as error:
            connection.close()
            raise ValueError(
                f"{self.path} cannot be used as a call ledger ({error}); move it away or name another"
            ) from error
        if version not in (0, SCHEMA_VERSION):
            connection.close()
            raise ValueError(
                f"the call ledger {self.path} is of version {version}, this program writes"
                f" {SCHEMA_VERSION}; name another"
            )
        return connection


_FINISHED_SQL = ",".join(f"'{status}'" for status in sorted(FINISHED))
_PENDING = (
    "SELECT calls.*, workers.host, workers.pid, workers.process_started, workers.heartbeat_at"
    " FROM calls LEFT JOIN workers USING (worker_id) WHERE status = 'pending'"
)
_PENDING_OF = _PENDING + " AND request_hash = ?"


def _add_use(connection: sqlite3.Connection, call_id: str, purpose: CallPurpose, *, served: bool) -> None:
    connection.execute(
        "INSERT INTO call_uses (call_id, outcome_set, question_id, route, purpose, served, used_at)"
        " VALUES (?, ?, ?, ?, ?, ?, ?)",
        [
            call_id,
            purpose.outcome_set,
            purpose.question_id,
            purpose.route,
            purpose.purpose,
            served,
            time.time(),
        ],
    )


def _abandon(connection: sqlite3.Connection, row: sqlite3.Row) -> None:
    """Possibly paid: its input is taken as estimated, its output as the most it was allowed; its money is unknown.

    What its budget held for it counts as spent.
    """
    connection.execute(
        "UPDATE calls SET status = 'abandoned', input_tokens = input_estimate, output_tokens = output_bound,"
        " usage_source = 'assumed', settled_at = ?, error = 'its sender died; it may have been paid for'"
        " WHERE call_id = ?",
        [time.time(), row["call_id"]],
    )
    for held in connection.execute(
        "SELECT * FROM reservations WHERE call_id = ?", [row["call_id"]]
    ).fetchall():
        connection.execute(
            "UPDATE budgets SET spent_tokens = spent_tokens + ?, held_tokens = held_tokens - ?,"
            " spent_usd = spent_usd + ?, held_usd = held_usd - ?, in_flight = in_flight - 1 WHERE budget = ?",
            [held["held_tokens"], held["held_tokens"], held["held_usd"], held["held_usd"], held["budget"]],
        )
        connection.execute(
            "UPDATE reservations SET spent_tokens = spent_tokens + held_tokens, spent_usd = spent_usd + held_usd,"
            " held_tokens = 0, held_usd = 0, state = 'assumed' WHERE call_id = ? AND budget = ?",
            [row["call_id"], held["budget"]],
        )

"""What the ledger says afterwards: the published tables, spending, and whether the file is sound."""

from __future__ import annotations

import json
import math
import sqlite3
import zlib
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, cast

from apportion.llm.liveness import this_process
from apportion.llm.requests import CallResult, Usage, UsageSource, sha256_name

#: Columns of the published table ``calls``, in order.
CALLS = (
    "call_id",
    "outcome_set",
    "question_id",
    "route",
    "purpose",
    "model",
    "request_hash",
    "status",
    "attempts",
    "input_tokens",
    "cached_input_tokens",
    "output_tokens",
    "reasoning_tokens",
    "usage_source",
    "cost_usd",
    "latency_ms",
    "created_at",
)
#: Columns of ``call_uses``, in order.
CALL_USES = ("use_id", "call_id", "outcome_set", "question_id", "route", "purpose", "served", "used_at")


@dataclass(frozen=True)
class Spend:
    """What calls of one kind took. Tokens include estimates and assumptions; how many calls have such is beside them.

    ``cost_usd`` sums the known prices and is null where none is known; ``unpriced`` counts calls whose price is not.
    ``served`` are uses that the ledger answered, at no spend.
    """

    outcome_set: str
    model: str
    purpose: str
    calls: int
    served: int
    attempts: int
    abandoned: int
    not_ok: int
    input_tokens: int
    cached_input_tokens: int
    output_tokens: int
    reasoning_tokens: int
    not_from_provider: int
    cost_usd: float | None
    unpriced: int


class LedgerReading(ABC):
    """Reading side of the ledger."""

    @abstractmethod
    def query(self, sql: str, parameters: Sequence[Any] = ()) -> list[Any]:
        """Rows of a reading query."""

    def calls_rows(self, outcome_set: str | None = None) -> list[dict[str, Any]]:
        """Rows of the table ``calls`` (see :data:`CALLS`) that a set paid for, every set's by default; oldest first.

        ``created_at`` is in UTC. A call in flight has status ``pending`` and null usage; one whose sender died is
        ``abandoned``.
        """
        rows = self.query(
            f"SELECT {', '.join(CALLS)} FROM calls WHERE ?1 IS NULL OR outcome_set = ?1"  # noqa: S608
            " ORDER BY created_at, call_id",
            [outcome_set],
        )
        return [{**dict(row), "created_at": _utc(row["created_at"])} for row in rows]

    def call_uses_rows(self, outcome_set: str | None = None) -> list[dict[str, Any]]:
        """Rows of ``call_uses`` (see :data:`CALL_USES`): who used which call when, and whether it was served."""
        rows = self.query(
            f"SELECT {', '.join(CALL_USES)} FROM call_uses"  # noqa: S608
            " WHERE ?1 IS NULL OR outcome_set = ?1 ORDER BY use_id",
            [outcome_set],
        )
        return [{**dict(row), "served": bool(row["served"]), "used_at": _utc(row["used_at"])} for row in rows]

    def spend(self, outcome_set: str | None = None) -> list[Spend]:
        """Spending by set, model and purpose, in that order."""
        rows = self.query(
            "SELECT outcome_set, model, purpose, count(*) AS calls, coalesce(sum(served), 0) AS served,"
            " sum(attempts) AS attempts, sum(status = 'abandoned') AS abandoned,"
            " sum(status NOT IN ('ok', 'pending', 'abandoned')) AS not_ok,"
            " coalesce(sum(input_tokens), 0) AS input_tokens,"
            " coalesce(sum(cached_input_tokens), 0) AS cached_input_tokens,"
            " coalesce(sum(output_tokens), 0) AS output_tokens,"
            " coalesce(sum(reasoning_tokens), 0) AS reasoning_tokens,"
            " coalesce(sum(usage_source <> 'provider'), 0) AS not_from_provider,"
            " sum(cost_usd) AS cost_usd, sum(cost_usd IS NULL AND status <> 'pending') AS unpriced"
            " FROM calls LEFT JOIN"
            " (SELECT call_id, sum(served) AS served FROM call_uses GROUP BY call_id) USING (call_id)"
            " WHERE ?1 IS NULL OR outcome_set = ?1"
            " GROUP BY outcome_set, model, purpose ORDER BY outcome_set, model, purpose",
            [outcome_set],
        )
        return [Spend(**dict(row)) for row in rows]

    def sent_since(self, moment: float) -> int:
        """How many calls this process has sent since ``moment`` (seconds of Unix time), for whatever purpose."""
        process = this_process()
        rows = self.query(
            "SELECT count(*) AS sent FROM calls JOIN workers USING (worker_id)"
            " WHERE created_at >= ? AND host = ? AND pid = ? AND process_started IS ?",
            [moment, process.host, process.pid, process.started],
        )
        return int(rows[0]["sent"])

    def mean_output(self, model: str, purpose: str) -> int | None:
        """Mean output tokens of a model's newest thousand calls for a purpose, rounded up; null if there are none."""
        rows = self.query(
            "SELECT avg(output_tokens) AS mean FROM (SELECT output_tokens FROM calls WHERE model = ? AND purpose = ?"
            " AND status = 'ok' ORDER BY created_at DESC LIMIT 1000)",
            [model, purpose],
        )
        return None if rows[0]["mean"] is None else math.ceil(rows[0]["mean"])

    def left_out_rows(self, budget: str) -> list[dict[str, Any]]:
        """The calls that a budget had no room for, in the order they were refused."""
        rows = self.query("SELECT * FROM left_out WHERE budget = ? ORDER BY noted_at, request_hash", [budget])
        return [{**dict(row), "noted_at": _utc(row["noted_at"])} for row in rows]

    def verify(self) -> list[str]:
        """What is wrong in the file, one line each; empty when all is sound.

        Checks the file itself, every request against its hash, that a call has a request, a use and, once settled,
        its usage, and that budgets equal their reservations.
        """
        problems = [
            f"the file is damaged: {row[0]}" for row in self.query("PRAGMA integrity_check") if row[0] != "ok"
        ]
        for row in self.query("SELECT request_hash, body FROM requests"):
            try:
                text = zlib.decompress(row["body"]).decode("utf-8", "surrogatepass")
            except (zlib.error, UnicodeDecodeError):
                problems.append(f"request {row['request_hash']} cannot be read")
                continue
            if sha256_name(text) != row["request_hash"]:
                problems.append(f"request {row['request_hash']} does not have that hash")
        problems += [f"{row['what']}: {row['name']}" for row in self.query(_UNSOUND)]
        return problems


_UNSOUND = """
SELECT 'call without its request' AS what, call_id AS name FROM calls
 WHERE request_hash NOT IN (SELECT request_hash FROM requests)
UNION ALL SELECT 'call that nobody used', call_id FROM calls WHERE call_id NOT IN (SELECT call_id FROM call_uses)
UNION ALL SELECT 'use of a call that is not there', call_id FROM call_uses
 WHERE call_id NOT IN (SELECT call_id FROM calls)
UNION ALL SELECT 'settled call without usage', call_id FROM calls
 WHERE status <> 'pending' AND (input_tokens IS NULL OR output_tokens IS NULL OR usage_source IS NULL)
UNION ALL SELECT 'reasoning exceeds output', call_id FROM calls WHERE reasoning_tokens > output_tokens
UNION ALL SELECT 'cached input exceeds input', call_id FROM calls WHERE cached_input_tokens > input_tokens
UNION ALL SELECT 'budget does not equal its reservations', budget FROM budgets
 LEFT JOIN (SELECT budget, sum(spent_tokens) AS st, sum(held_tokens) AS ht, sum(spent_usd) AS su,
   sum(held_usd) AS hu, sum(state = 'held') AS fl FROM reservations GROUP BY budget) USING (budget)
 WHERE spent_tokens <> coalesce(st, 0) OR held_tokens <> coalesce(ht, 0) OR in_flight <> coalesce(fl, 0)
   OR abs(spent_usd - coalesce(su, 0)) > 1e-9 * (1 + spent_usd)
   OR abs(held_usd - coalesce(hu, 0)) > 1e-9 * (1 + spent_usd)
UNION ALL SELECT 'reservation held for a settled call', call_id FROM reservations JOIN calls USING (call_id)
 WHERE state = 'held' AND status <> 'pending'
"""


def _utc(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, tz=UTC)


def result_of(row: sqlite3.Row, *, served: bool) -> CallResult:
    """A finished call as its row has it; ``served`` where nothing is spent on it now."""
    usage = Usage(
        row["input_tokens"],
        row["output_tokens"],
        row["cached_input_tokens"],
        row["reasoning_tokens"],
        cast("UsageSource", row["usage_source"]),
    )
    return CallResult(
        call_id=row["call_id"],
        request_hash=row["request_hash"],
        status=row["status"],
        text=row["text"],
        parsed=None if row["parsed"] is None else json.loads(row["parsed"]),
        usage=usage,
        cost_usd=row["cost_usd"],
        latency_ms=row["latency_ms"],
        attempts=row["attempts"],
        served=served,
        mean_logprob=row["mean_logprob"],
        error=row["error"],
    )

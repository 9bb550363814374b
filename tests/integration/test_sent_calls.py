"""How calls are sent holds for every call of a command, whoever named its model, and every one of them is counted."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator

import pytest
import routing_server
import tiny
from commandline import CommandLine

from apportion.judging.blind import JUDGE_SCHEMA
from apportion.judging.rubric import RUBRIC_SCHEMA
from apportion.llm import limits
from apportion.routes.prompts import ANSWER_SCHEMA

KEYS = {"OPENAI_API_KEY": "test", "HOSTED_VLLM_API_KEY": "test"}
PER_MINUTE = 2
MINUTE_S = 0.5
"""A minute of these tests."""
WITHOUT_SCHEMA = {"describe", "embed", "rerank"}


@pytest.fixture(scope="module")
def learnt(
    shared_apportion: Callable[[str], CommandLine],
    tiny_run: Callable[[CommandLine], CommandLine],
    tmp_path_factory: pytest.TempPathFactory,
) -> CommandLine:
    """A warehouse with a set to learn from, one of four questions with gold answers, and one without."""
    apportion, folder = tiny_run(shared_apportion("sent")), tmp_path_factory.mktemp("asked")
    apportion.ok("ingest", str(tiny.write(folder / "graded", tiny.rows(2))), "--set", "graded")
    own = folder / "desk.jsonl"
    own.write_text(
        "".join(
            json.dumps(
                {
                    "question_id": f"desk-{row['financebench_id']}",
                    "question": f"{row['question']} (desk)",
                    "filing": row["doc_name"],
                }
            )
            + "\n"
            for row in tiny.rows(2)
        )
    )
    apportion.ok("ingest", str(own), "--as", "questions", "--set", "desk")
    return apportion


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[routing_server.Served]:
    monkeypatch.setattr(limits, "_WINDOW_S", MINUTE_S)
    with routing_server.running() as running:
        yield running


def sent(apportion: CommandLine, server: routing_server.Served, *arguments: str) -> int:
    """Calls that a command says it made, one at a time; they are as many as the server had."""
    before = len(server.seen)
    told = ("--api-base", server.url, "--json-schema", "--rpm", str(PER_MINUTE), "--concurrency", "1")
    shown = apportion(*arguments, *told, env=KEYS)
    assert shown.status == 0, shown.err
    (said,) = re.findall(r"(\d+) model calls made", shown.err)
    assert int(said) == len(server.seen) - before
    return int(said)


def assert_paced(server: routing_server.Served) -> None:
    """No minute had more calls of a model than allowed, from whichever stage or command they came.

    One call goes at a time: a call was let go no earlier than the answer to the one before it.
    """
    models = {str(body["model"]) for _, body in server.seen}
    for model in models:
        spans = [
            span for span, (_, body) in zip(server.spans, server.seen, strict=True) if body["model"] == model
        ]
        assert len(spans) > PER_MINUTE
        for place in range(1, len(spans) - PER_MINUTE):
            assert spans[place + PER_MINUTE][0] - spans[place - 1][1] >= MINUTE_S


def schemas(server: routing_server.Served, kind: str) -> list[object]:
    """The schemas that came with calls of a kind."""
    return [body["response_format"]["json_schema"]["schema"] for k, body in server.seen if k == kind]


def test_limits_schema_and_count_hold_in_every_stage(
    learnt: CommandLine, server: routing_server.Served
) -> None:
    first = ("--model", "openai/fake", "--judge", "openai/fake", "--yes")
    found = ("--system", "embedder=openai/fake-embed", "--system", "reranker=hosted_vllm/fake-rerank")
    made = sent(learnt, server, "run", "--set", "graded", "--routes", "cbr", *first, *found[2:])
    # Reading, reranking, answering and judging; three passes over one candidate are the same call.
    assert made == 4 * (1 + 1 + 1 + 1)
    # The set is answered: the model is known from its answers.
    again = ("run", "--set", "graded", "--judge", "openai/fake", "--yes")
    assert sent(learnt, server, *again, "--routes", "agentic", *found) > 4 * (1 + 1 + 1)
    assert sent(learnt, server, *again, "--routes", "agentic", *found) == 0
    assert sent(learnt, server, "systems", "--set", "graded", "--judge", "openai/fake", "--yes") == 4
    assert {"route", "rewrite", "verify", "rerank", "embed", "answer", "judge", "rubric"} == {
        kind for kind, _ in server.seen
    }
    assert_paced(server)
    assert [
        kind for kind, body in server.seen if ("response_format" in body) is (kind in WITHOUT_SCHEMA)
    ] == []
    assert schemas(server, "judge") == [JUDGE_SCHEMA] * server.count("judge")
    assert schemas(server, "rubric") == [RUBRIC_SCHEMA] * 4


def test_limits_schema_and_count_hold_in_an_escalation(
    learnt: CommandLine, server: routing_server.Served
) -> None:
    cheap = ("run", "--set", "desk", "--routes", "top1", "--model", "openai/fake", "--yes")
    assert sent(learnt, server, *cheap) == 4
    deeper = sent(learnt, server, "escalate", "--set", "desk", "--tokens", "100000")
    assert deeper > 0
    assert {kind for kind, _ in server.seen} == {"answer"}
    assert_paced(server)
    assert schemas(server, "answer") == [ANSWER_SCHEMA] * (4 + deeper)

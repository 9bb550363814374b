"""The live decision over a real model server: cheap answers first, then the calls that a cap buys."""

from __future__ import annotations

import csv
import io
import json
import os
import signal
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import chat_server
import pytest
import tiny
from commandline import CommandLine

MODEL = "openai/pretend-model"


@pytest.fixture(scope="module")
def learnt(
    shared_apportion: Callable[[str], CommandLine], tiny_run: Callable[[CommandLine], CommandLine]
) -> CommandLine:
    """A warehouse with a judged set to learn from, and filings to ask about."""
    return tiny_run(shared_apportion("learnt"))


def own_questions(folder: Path, name: str) -> Path:
    """Questions of one's own, without gold answers, over filings that are there."""
    path = folder / f"{name}.jsonl"
    with path.open("w") as handle:
        for row in tiny.rows():
            asked = {
                "question_id": f"{name}-{row['financebench_id']}",
                # Other words in each set: what another set has paid for would be served.
                "question": f"{row['question']} ({name})",
                "filing": row["doc_name"],
            }
            handle.write(json.dumps(asked) + "\n")
        handle.write(json.dumps({"question": "And what of nothing?", "filing": "NOT_HERE_2020_10K"}) + "\n")
    return path


def test_escalation_without_gold_answers_stays_under_a_hard_cap(learnt: CommandLine, tmp_path: Path) -> None:
    shown = learnt("ingest", str(own_questions(tmp_path, "desk")), "--as", "questions", "--set", "desk")
    assert shown.status == 0
    assert "NOT_HERE_2020_10K" in shown.err
    learnt.ok("run", "--set", "desk", "--routes", "top1")
    planned = list(
        csv.DictReader(io.StringIO(learnt.ok("plan", "--set", "desk", "--tokens", "4000", "--format", "csv")))
    )
    assert 0 < len(planned) < 24
    assert sum(int(row["predicted_cost"]) for row in planned) <= 4000
    printed = learnt("escalate", "--set", "desk", "--tokens", "4000", "--hard-cap", "--format", "csv")
    assert printed.status == 0, printed.err
    (spent,) = list(csv.DictReader(io.StringIO(printed.out)))
    assert int(spent["newly_spent_tokens"]) <= 4000
    # Each call reserves its worst case and gives back what it doesn't use: over a batch that adds up to more.
    assert int(spent["reserved_tokens"]) > int(spent["newly_spent_tokens"]) > 0
    made = learnt.rows(
        "SELECT decision, count(*) AS n, sum(realised_cost) AS tokens FROM final_answers GROUP BY ALL"
    )
    by_decision = {row["decision"]: row for row in made}
    assert int(by_decision["escalated"]["tokens"]) <= 4000
    assert sum(int(row["n"]) for row in made) == 24
    answers = learnt.rows(
        "SELECT route, count(*) AS n, min(len(context)) AS pages FROM final_answers GROUP BY ALL"
    )
    assert {row["route"] for row in answers} == {"top1", "top5"}
    assert all(int(row["pages"]) >= 1 for row in answers)
    # The log that the models learn from holds what was run on purpose, not what the models themselves chose.
    assert learnt.rows("SELECT DISTINCT route FROM route_outcomes WHERE outcome_set = 'desk'") == [
        {"route": "top1"}
    ]


def test_a_judged_set_is_decided_by_its_held_out_predictions(learnt: CommandLine) -> None:
    catalogue = learnt.warehouse / "catalog.duckdb"
    catalogue.unlink()
    shown = learnt("plan", "--set", "tiny", "--budget", "0.2")
    assert shown.status == 0
    # Planning may write features: whoever looks in a shell sees them.
    assert catalogue.exists()
    assert "held-out predictions of the set itself" in shown.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("plan", "--set", "tiny"), "exactly one of --budget, --tokens and --usd"),
        (("plan", "--set", "tiny", "--budget", "0.1", "--tokens", "5"), "exactly one"),
        (("plan", "--set", "tiny", "--budget", "1.5"), "between 0 and 1"),
        (("plan", "--set", "tiny", "--budget", "0.1", "--policy", "oracle"), "choose a deployable one"),
        (
            ("plan", "--set", "tiny", "--budget", "0.1", "--policy", "gain_per_tokn"),
            "did you mean gain_per_token",
        ),
        (("plan", "--set", "nothing", "--budget", "0.1"), "there is no set"),
    ],
)
def test_a_wrong_call_is_one_line(learnt: CommandLine, arguments: tuple[str, ...], said: str) -> None:
    shown = learnt(*arguments)
    assert shown.status == 2, shown.err
    assert said in shown.error_lines[-1]
    assert "Traceback" not in shown.err


def test_no_surprise_bills(apportion: CommandLine, tmp_path: Path) -> None:
    """A model whose price is unknown needs a cap or consent before anything is sent, and the cap holds."""
    apportion.ok("ingest", str(tiny.write(tmp_path / "t", tiny.rows(4))), "--set", "tiny", "--batch", "tiny")
    with chat_server.running() as server:
        key = "sk-not-a-real-key-0123456789"
        env = {"OPENAI_API_KEY": key}
        ask = ("run", "--set", "tiny", "--routes", "top1", "--model", MODEL, "--api-base", server.url)
        refused = apportion("--debug", *ask, env=env)
        assert refused.status == 1
        assert "--max-tokens" in refused.error_lines[-1]
        # The traceback is the failing step's: where the calls were refused, not where the run was given up.
        assert "in route_outcomes" in refused.err
        assert "in call_models" in refused.err
        assert "8 calls" in refused.err
        assert server.log() == []
        capped = apportion(*ask, "--max-tokens", "2500", env=env)
        assert capped.status == 1, capped.err
        assert "2 of 2 answers failed (malformed)" in capped.err
        counted = apportion.rows("SELECT count(*) AS n, sum(total_tokens) AS tokens FROM route_outcomes")
        assert 0 < int(counted[0]["n"]) < 8
        assert int(counted[0]["tokens"]) <= 2500
        # This server doesn't keep to the answer's schema: each call is attempted again, and every attempt counted.
        attempts = apportion.rows("SELECT sum(attempts) AS n FROM calls WHERE purpose = 'answer'")
        assert int(attempts[0]["n"]) == len(server.log())
        agreed = apportion(*ask, "--yes", env=env)
        assert agreed.status == 1, agreed.err
        assert "8 of 8 answers failed (malformed)" in agreed.err
        assert apportion.rows("SELECT count(*) AS n FROM route_outcomes WHERE cost_usd IS NULL") == [
            {"n": "8"}
        ]
        made = apportion.rows(
            "SELECT sum(attempts) AS n, count(*) AS calls FROM calls WHERE purpose = 'answer'"
        )
        assert made == [{"n": str(len(server.log())), "calls": "8"}]
        for path in apportion.warehouse.rglob("*"):
            if path.is_file():
                assert key.encode() not in path.read_bytes(), path


def deep_calls(apportion: CommandLine) -> int:
    """Calls of the set's deep route that were answered."""
    ledger = sqlite3.connect(apportion.warehouse / "ledger.sqlite")
    try:
        found = ledger.execute(
            "SELECT count(*) FROM calls WHERE outcome_set = 'night' AND route = 'top5' AND status = 'ok'"
        )
        return int(found.fetchone()[0])
    finally:
        ledger.close()


def test_a_killed_escalation_goes_on_within_the_same_cap(learnt: CommandLine, tmp_path: Path) -> None:
    learnt.ok("ingest", str(own_questions(tmp_path, "night")), "--as", "questions", "--set", "night")
    learnt.ok("run", "--set", "night", "--routes", "top1")
    # Killed once so many of the calls were answered: where it falls doesn't depend on the machine's speed.
    killed = 0
    for finished in (1, 3):
        running = learnt.start(
            "escalate", "--set", "night", "--tokens", "5000", "--hard-cap", start_new_session=True
        )
        while running.poll() is None and deep_calls(learnt) < finished:
            time.sleep(0.005)
        if running.poll() is None:
            os.killpg(running.pid, signal.SIGKILL)
            killed += 1
        running.communicate()
    assert killed
    printed = learnt.ok("escalate", "--set", "night", "--tokens", "5000", "--hard-cap", "--format", "csv")
    (spent,) = list(csv.DictReader(io.StringIO(printed)))
    assert int(spent["newly_spent_tokens"]) <= 5000
    assert (
        int(learnt.rows("SELECT count(*) AS n FROM final_answers WHERE outcome_set = 'night'")[0]["n"]) == 24
    )

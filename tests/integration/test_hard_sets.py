"""Sets that are too small, too uniform or never graded: one clear line each, and what can be published is."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import chat_server
import pytest
import tiny
from commandline import CommandLine


@pytest.fixture(scope="module")
def hard(shared_apportion: Callable[[str], CommandLine]) -> CommandLine:
    return shared_apportion("hard")


def ingested(apportion: CommandLine, folder: Path, name: str, listed: list[dict[str, object]]) -> None:
    apportion.ok("ingest", str(tiny.write(folder / name, listed)), "--set", name, "--batch", name)


def last_line(shown: object) -> str:
    return shown.error_lines[-1]  # type: ignore[attr-defined]


def test_a_batch_of_one_question(hard: CommandLine, tmp_path: Path) -> None:
    ingested(hard, tmp_path, "single", tiny.rows(1)[:1])
    hard.ok("run", "--set", "single")
    shown = hard("evaluate", "--set", "single")
    assert shown.status == 1
    assert "held-out predictions need at least two" in last_line(shown)
    # What needs no prediction is there all the same.
    assert len(hard.rows("SELECT * FROM route_summary WHERE outcome_set = 'single'")) == 4


def test_all_gains_equal(hard: CommandLine, tmp_path: Path) -> None:
    """Every question is answered alike by both routes: nothing to gain, nothing to rank, and no error."""
    listed = tiny.rows(6)
    for row in listed:
        row["question"] = "Why did the chief executive choose this colour?"
    ingested(hard, tmp_path, "equal", listed)
    hard.ok("run", "--set", "equal")
    quality = hard.rows(
        "SELECT metric, value FROM prediction_quality WHERE outcome_set = 'equal' AND target = 'gain'"
    )
    assert {row["metric"]: row["value"] for row in quality if row["metric"] in ("r2", "auroc")} == {
        "r2": "",
        "auroc": "",
    }
    gained = hard.rows("SELECT DISTINCT helped, hurt FROM policy_summary WHERE outcome_set = 'equal'")
    assert gained == [{"helped": "0.0", "hurt": "0.0"}]


def test_a_question_without_a_filing_is_answered_without_a_page(hard: CommandLine, tmp_path: Path) -> None:
    path = tmp_path / "nowhere.jsonl"
    path.write_text(json.dumps({"question": "What is net revenue?"}) + "\n")
    hard.ok("ingest", str(path), "--as", "questions", "--set", "nowhere")
    shown = hard("run", "--set", "nowhere", "--routes", "top1")
    assert shown.status == 0
    assert "no page in its scope" in shown.err
    (row,) = hard.rows(
        "SELECT len(context) AS pages, status FROM route_outcomes WHERE outcome_set = 'nowhere'"
    )
    assert row == {"pages": "0", "status": "ok"}


def test_a_judge_that_never_answers(hard: CommandLine, tmp_path: Path) -> None:
    ingested(hard, tmp_path, "unjudged", tiny.rows(3))
    with chat_server.running() as server:
        env = {"OPENAI_API_KEY": "none"}
        ask = ("run", "--set", "unjudged", "--judge", "openai/mute", "--api-base", server.url, "--yes")
        shown = hard(*ask, env=env)
    assert shown.status == 1
    assert "no question that is graded" in last_line(shown)
    statuses = hard.rows(
        "SELECT status, count(*) AS n FROM judgements WHERE outcome_set = 'unjudged' GROUP BY ALL"
    )
    assert statuses == [{"status": "unjudged", "n": str(6 * 4 * 3)}]
    grades = hard.rows(
        "SELECT count(*) AS n FROM route_quality"
        " WHERE outcome_set = 'unjudged' AND quality IS NULL AND correct IS NULL",
    )
    assert grades == [{"n": "24"}]


def test_a_failing_model_stays_in_the_tables_as_failed(hard: CommandLine, tmp_path: Path) -> None:
    ingested(hard, tmp_path, "failing", tiny.rows(3))
    env = {"OPENAI_API_KEY": "none"}
    shown = hard(
        "run",
        "--set",
        "failing",
        "--model",
        "openai/absent",
        "--api-base",
        "http://127.0.0.1:9/v1",
        "--yes",
        env=env,
    )
    assert shown.status == 1, shown.err
    failed = hard.rows("SELECT DISTINCT status, answer FROM route_outcomes WHERE outcome_set = 'failing'")
    assert [row["answer"] for row in failed] == [""]
    assert failed[0]["status"] != "ok"
    summary = hard.rows(
        "SELECT DISTINCT questions, failed, accuracy FROM route_summary WHERE outcome_set = 'failing'"
    )
    assert summary == [{"questions": "6", "failed": "6", "accuracy": "0.0"}]

"""`apportion import` and `evaluate` on an imported log, as processes: no model, no retrieval, no key."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from commandline import CommandLine


def log(path: Path, questions: int = 40) -> Path:
    """A generic log of two routes on invented questions, five a group."""
    rng = random.Random(3)
    lines = []
    for i in range(questions):
        refuses = rng.random() < 0.5
        for route in ("small", "large"):
            silent = refuses and route == "small"
            lines.append(
                {
                    "qid": f"q{i:02d}",
                    "route": route,
                    "score": 0.0 if silent or rng.random() < 0.2 else 1.0,
                    "input_tokens": rng.randint(80, 120) * (1 if route == "small" else 10),
                    "output_tokens": rng.randint(5, 20),
                    "group": f"g{i // 5}",
                    "text": f"What was item {i} in 2021?",
                    "answer": "The context does not include it."
                    if silent
                    else f"It was ${rng.randint(5, 90)} million.",
                }
            )
    lines.append({**lines[0], "qid": "bad", "score": "much"})
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return path


@pytest.fixture(scope="module")
def imported(shared_apportion: Callable[[str], CommandLine]) -> CommandLine:
    command = shared_apportion("imported")
    path = log(command.folder / "log.jsonl")
    shown = command("import", str(path), "--as", "outcomes", "--set", "mine", "--map", "question=qid")
    assert shown.status == 0, shown.err
    assert "log.jsonl, line 81: score 'much': not a number" in shown.err
    assert "refused: score '1 rows': not a number" in shown.err
    assert "set mine: 40 questions on 2 routes from 81 rows; 1 refused" in shown.err
    return command


def test_an_imported_log_evaluates_without_any_model(imported: CommandLine) -> None:
    pair = ("evaluate", "--set", "mine", "--cheap", "small", "--deep", "large")
    imported.ok(*pair, "--budgets", "0.2,1", "--gain-model", "blend")
    assert imported.rows("SELECT count(*) AS n FROM calls") == [{"n": "0"}]
    assert imported.rows(
        "SELECT count(DISTINCT policy) AS n FROM policy_summary WHERE outcome_set = 'mine'"
    ) == [{"n": "9"}]
    in_use = imported.rows(
        "SELECT DISTINCT model FROM prediction_quality WHERE in_use AND target = 'gain' ORDER BY ALL",
    )
    assert in_use == [{"model": "blend"}]
    folds = imported.rows(
        "SELECT max(n) AS n FROM (SELECT count(DISTINCT fold) AS n FROM predictions JOIN questions"
        " USING (outcome_set, question_id) GROUP BY target, model, seed, question_group)",
    )
    assert folds == [{"n": "1"}]


def test_importing_again_changes_nothing(imported: CommandLine) -> None:
    path = imported.folder / "log.jsonl"
    shown = imported("import", str(path), "--set", "mine", "--map", "question=qid")
    assert shown.status == 0
    assert "nothing was new" in shown.err


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("import", "log.jsonl"), 2, "--set NAME"),
        (("import", "log.jsonl", "--as", "magic", "--set", "x"), 2, "kinds: financebench-results"),
        (("import", "nowhere.jsonl", "--set", "x"), 2, "there is nothing here"),
        (("import", "log.jsonl", "--set", "x", "--map", "qid"), 2, "FIELD=COLUMN"),
        (("import", "log.jsonl", "--set", "x", "--map", "quest=qid"), 2, "did you mean question"),
        (("import", "log.jsonl", "--set", "x", "--scores", "log.jsonl"), 2, "goes with --as litellm"),
        (("import", "log.jsonl", "--set", "x"), 1, "--map question=COLUMN"),
    ],
)
def test_a_wrong_import_is_one_line(
    imported: CommandLine, arguments: tuple[str, ...], status: int, said: str
) -> None:
    shown = imported(*arguments)
    assert shown.status == status, shown.err
    (line,) = [line for line in shown.error_lines if line.startswith("apportion:")]
    assert said in line

"""The generic log: what each value means, what is refused, and that every refused row is told."""

from __future__ import annotations

import csv
import json
from datetime import UTC, datetime
from pathlib import Path

import polars as pl
import pytest

from apportion.importing.generic import read_outcomes
from apportion.importing.records import LogError

HEADER = [
    "question",
    "route",
    "score",
    "input_tokens",
    "output_tokens",
    "cost",
    "latency",
    "group",
    "text",
    "answer",
]


def write(path: Path, rows: list[list[object]], header: list[str] = HEADER) -> Path:
    with path.open("w", newline="") as handle:
        csv.writer(handle).writerows([header, *rows])
    return path


def test_a_log_becomes_questions_outcomes_and_grades(tmp_path: Path) -> None:
    log = read_outcomes(
        write(
            tmp_path / "log.csv",
            [
                ["q1", "small", 0.25, 100, 20, 0.001, 350, "g1", "How much?", "12"],
                ["q1", "large", 1, 900, 30, "", "", "g1", "How much?", "13"],
                ["q2", "small", "", "", "", "", "", "", "", ""],
            ],
        )
    )
    assert log.questions.select("question_id", "text", "question_group").rows() == [
        ("q1", "How much?", "g1"),
        ("q2", "", None),
    ]
    assert log.outcomes.select("route", "total_tokens", "usage_source", "cost_usd", "latency_ms").rows() == [
        ("small", 120, "provider", 0.001, 350.0),
        ("large", 930, "provider", None, None),
        ("small", None, None, None, None),
    ]
    assert log.quality.select("quality", "correct").rows() == [(0.25, False), (1.0, True), (None, None)]
    assert log.refusals.is_empty()
    assert log.rows == 3


@pytest.mark.parametrize(
    ("column", "value", "reason"),
    [
        ("question", "", "missing"),
        ("route", "", "missing"),
        ("route", "a,b", "commas"),
        ("route", "*", "commas"),
        ("score", "high", "not a number"),
        ("score", "1.2", "outside 0 to 1"),
        ("score", "-0.1", "outside 0 to 1"),
        ("score", "nan", "not a number"),
        ("input_tokens", "-4", "below zero"),
        ("input_tokens", "3.5", "not a whole number"),
        ("output_tokens", "inf", "not a number"),
        ("cost", "free", "not a number"),
    ],
)
def test_a_bad_value_refuses_its_row_alone(tmp_path: Path, column: str, value: str, reason: str) -> None:
    good = ["q1", "small", 0.5, 100, 20, 0.1, 3, "", "", ""]
    bad = list(good)
    bad[0], bad[HEADER.index(column)] = "q2" if column != "question" else "", value
    log = read_outcomes(write(tmp_path / "log.csv", [good, bad]))
    assert log.outcomes["question_id"].to_list() == ["q1"]
    (refused,) = log.refusals.iter_rows(named=True)
    assert refused["line"] == 3
    assert refused["field"] in (column, {"cost": "cost_usd"}.get(column))
    assert reason in refused["reason"]


def test_lines_are_counted_through_quoted_newlines_and_ragged_rows(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text('question,route,score,answer\nq1,a,1,"two\nlines"\nq2,a\nq3,a,high,x\nq4,a,1,y\n')
    log = read_outcomes(path)
    assert log.outcomes["question_id"].to_list() == ["q1", "q4"]
    assert log.refusals.select("line", "field").rows() == [(4, "line"), (5, "score")]


def test_what_stands_twice_or_contradicts_is_refused(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log.csv",
        [
            ["q1", "a", 1, 5, 5, "", "", "g1", "How much?", ""],
            ["q1", "a", 0, 5, 5, "", "", "g1", "How much?", ""],
            ["q1", "b", 0, 5, 5, "", "", "g2", "How much?", ""],
            ["q1", "c", 0, 5, 5, "", "", "g1", "How many?", ""],
            ["q1", "d", 0, 5, 5, "", "", "", "", ""],
        ],
    )
    log = read_outcomes(path)
    assert log.outcomes["route"].to_list() == ["a", "d"]
    assert log.refusals.select("line", "reason").rows() == [
        (3, "stands twice on this route; the first row is used"),
        (4, "another group than an earlier row of this question"),
        (5, "another text than an earlier row of this question"),
    ]
    assert sum(count for _, _, count in log.reasons()) == 3


def test_a_failed_route_scores_zero_and_an_uncounted_call_is_unknown(tmp_path: Path) -> None:
    path = write(
        tmp_path / "log.csv",
        [["q1", "a", "", 7, 0, "failure"], ["q2", "a", 1, 0, 0, "success"]],
        ["question", "route", "score", "input_tokens", "output_tokens", "status"],
    )
    log = read_outcomes(path)
    assert log.quality.select("quality", "correct").rows() == [(0.0, False), (1.0, True)]
    assert log.outcomes.select("status", "total_tokens").rows() == [("failed", 7), ("ok", None)]


def test_formats_and_mappings_agree(tmp_path: Path) -> None:
    rows = [
        {"qid": f"q{i}", "sys": "a", "grade": i / 10, "usage": {"in": 10 + i, "out": 3}} for i in range(5)
    ]
    lines = tmp_path / "log.jsonl"
    lines.write_text("".join(json.dumps(row) + "\n" for row in rows) + "{broken\n[1]\n")
    flat = pl.DataFrame([{**row, "in": row["usage"]["in"], "out": 3} for row in rows]).drop("usage")
    flat.write_parquet(tmp_path / "log.parquet")
    flat.write_csv(tmp_path / "log.csv")
    names = {"question": "qid", "route": "sys", "score": "grade"}
    from_lines = read_outcomes(lines, {**names, "input_tokens": "usage.in", "output_tokens": "usage.out"})
    others = [
        read_outcomes(tmp_path / name, {**names, "input_tokens": "in", "output_tokens": "out"})
        for name in ("log.parquet", "log.csv")
    ]
    for other in others:
        assert other.outcomes.equals(from_lines.outcomes)
        assert other.quality.equals(from_lines.quality)
        assert other.questions.equals(from_lines.questions)
    assert from_lines.refusals["line"].to_list() == [6, 7]


def test_a_wrong_call_says_what_to_do(tmp_path: Path) -> None:
    path = write(tmp_path / "log.csv", [["q1", "a", 1]], ["qid", "route", "score"])
    with pytest.raises(LogError, match="--map question=COLUMN"):
        read_outcomes(path)
    with pytest.raises(LogError, match="did you mean score"):
        read_outcomes(path, {"scor": "score"})
    with pytest.raises(LogError, match="no usable row"):
        read_outcomes(write(tmp_path / "none.csv", [["q1", "a", "x"]], ["question", "route", "score"]))
    with pytest.raises(LogError, match="suffix"):
        read_outcomes(tmp_path / "log.xlsx")


@pytest.mark.parametrize(
    "said",
    [
        "2026-01-31T09:30:00Z",
        "2026-01-31 09:30:00",
        "2026-01-31T10:30:00.000+01:00",
        "2026-01-31T04:30:00-0500",
        "2026-01-31 09:30:00.000000 UTC",
        "1769851800",
        "1769851800.0",
    ],
)
def test_a_time_is_the_same_however_it_is_written(tmp_path: Path, said: str) -> None:
    log = read_outcomes(write(tmp_path / "log.csv", [["q", "r", said]], ["question", "route", "asked_at"]))
    assert log.questions["asked_at"].to_list() == [datetime(2026, 1, 31, 9, 30, tzinfo=UTC)]


@pytest.mark.parametrize("said", ["yesterday", "2026-13-01", "-5", "1e300", "nan", "2026-01-31T25:00:00Z"])
def test_what_is_no_time_is_refused(tmp_path: Path, said: str) -> None:
    rows = [["q1", "r", said], ["q2", "r", ""], ["q3", "r", "2026-01-31"]]
    log = read_outcomes(write(tmp_path / "log.csv", rows, ["question", "route", "asked_at"]))
    assert log.refusals.select("line", "field", "value").rows() == [(2, "asked_at", said)]
    assert log.questions["asked_at"].to_list() == [None, datetime(2026, 1, 31, tzinfo=UTC)]

"""FinanceBench's results, RouterArena's and LiteLLM's logs, on invented files and, where there are any, real ones."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from apportion.importing.financebench_results import Passages, models_of, questions_near, read_results
from apportion.importing.litellm_log import read_litellm
from apportion.importing.records import LogError
from apportion.importing.routerarena import read_routerarena
from apportion.tokens import count_tokens


def result(
    question: str, mode: str, label: str, answer: object = "It was 5.", **more: object
) -> dict[str, object]:
    return {
        "financebench_id": question,
        "model_name": "m",
        "eval_mode": mode,
        "question": f"What is {question}?",
        "gold_answer": 5,
        "model_answer": answer,
        "label": label,
        **more,
    }


def results(path: Path, rows: list[dict[str, object]]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_labels_are_read_by_their_letters_and_numbers_are_text(tmp_path: Path) -> None:
    path = results(
        tmp_path / "m.jsonl",
        [
            result("a", "singleStore", "Correct Answer"),
            result("b", "singleStore", "correct answer ", 0),
            result("c", "singleStore", "Incorrect Answer"),
            result("d", "singleStore", "Refusal"),
            result("e", "singleStore", "Perhaps"),
            result("a", "singleStore", "Refusal"),
            result("f", "telepathy", "Refusal"),
        ],
    )
    log = read_results(path, "m", benchmark=None, filing_tokens={}, passages=Passages(2, 100))
    assert log.quality["correct"].to_list() == [True, True, False, False]
    assert log.outcomes["answer"].to_list()[1] == "0"
    assert log.refusals.select("line", "field").rows() == [
        (5, "label"),
        (6, "financebench_id"),
        (7, "eval_mode"),
    ]
    first = log.outcomes.row(0, named=True)
    assert first["input_tokens"] == 200 + count_tokens("What is a?")
    assert first["usage_source"] == "assumed"
    assert log.rows == 7


def test_a_filing_of_unknown_length_costs_null_and_is_counted(tmp_path: Path) -> None:
    path = results(
        tmp_path / "m.jsonl", [result("a", "inContext", "Refusal"), result("a", "closedBook", "Refusal")]
    )
    log = read_results(path, "m", benchmark=None, filing_tokens={}, passages=Passages())
    assert log.outcomes.select("route", "total_tokens", "usage_source").rows() == [
        ("inContext", None, None),
        ("closedBook", count_tokens("What is a?") + count_tokens("It was 5."), "estimated"),
    ]
    assert any("1 answers on inContext" in note for note in log.notes)


@pytest.mark.parametrize("text", ["4", "4x", "axb", "4x-1"])
def test_passages_are_two_numbers(text: str) -> None:
    with pytest.raises(LogError, match="4x256"):
        Passages.of(text)


def arena(question: str, model: str, score: float, **more: object) -> dict[str, object]:
    return {
        "global_index": question,
        "question": f"text of {question}",
        "llm_selected": model,
        "generated_answer": "b",
        "token_usage": {"input_tokens": 10, "output_tokens": 2, "total_tokens": 12},
        "success": True,
        "evaluation_result": {"ground_truth": "b", "score": score, "inference_cost": 0.25},
        **more,
    }


def test_routerarena_keeps_scores_and_costs(tmp_path: Path) -> None:
    path = results(
        tmp_path / "ra.jsonl",
        [
            arena("Set_one_1", "m1", 1.0),
            arena("Set_one_1", "m2", -0.25),
            arena("Set_one_2", "m1", 0.5, success=False),
            arena("Set_one_3", "m1", 1.0, token_usage="many"),
        ],
    )
    log = read_routerarena(path)
    assert log.quality.select("quality", "correct", "logged_score").rows() == [
        (1.0, True, 1.0),
        (0.0, False, -0.25),
        (0.0, False, 0.5),
    ]
    assert log.questions["family"].to_list() == ["Set_one", "Set_one"]
    assert log.outcomes["cost_usd"].sum() == 0.75
    assert log.refusals.select("line", "field").rows() == [(4, "token_usage")]


def call(identifier: str, asked: str, **more: object) -> dict[str, object]:
    return {
        "id": identifier,
        "status": "success",
        "model": "provider/m",
        "model_group": "cheap",
        "prompt_tokens": 10,
        "completion_tokens": 5,
        "response_cost": 0.5,
        "startTime": 100.0,
        "endTime": 100.5,
        "messages": [
            {"role": "system", "content": "s"},
            {"role": "user", "content": [{"type": "text", "text": asked}]},
        ],
        "response": {"choices": [{"message": {"content": f"answer to {identifier}"}}]},
        **more,
    }


def test_litellm_calls_join_their_scores_and_retries_add_up(tmp_path: Path) -> None:
    log_file = results(
        tmp_path / "calls.jsonl",
        [
            call("1", "how much", status="failure", completion_tokens=0, response=None),
            call("2", "how much", startTime=99.0, endTime=99.5),
            call("3", "how many", prompt_tokens=0, completion_tokens=0),
            call("4", "x", messages=None),
        ],
    )
    scores = tmp_path / "scores.csv"
    scores.write_text("id,score,group\n2,0.75,g\n3,0,g\n")
    log = read_litellm(log_file, scores)
    assert log.outcomes.select(
        "route", "model", "total_tokens", "cost_usd", "latency_ms", "calls_made", "status"
    ).rows() == [
        ("cheap", "provider/m", 25, 1.0, 1000.0, 2, "ok"),
        ("cheap", "provider/m", None, 0.5, 500.0, 1, "ok"),
    ]
    assert log.outcomes["answer"].to_list() == ["answer to 2", "answer to 3"]
    assert log.quality["quality"].to_list() == [0.75, 0.0]
    assert log.questions["question_group"].to_list() == ["g", "g"]
    assert log.questions["asked_at"].dt.epoch("s").to_list() == [99, 100]
    assert log.refusals.select("line", "field").rows() == [(4, "messages")]


FACTS = {
    "gpt-4-1106-preview": {
        "closedBook": 14, "sharedStore": 29, "singleStore": 75, "inContext": 37, "inContext_reverse": 118,
        "oracle": 128, "oracle_reverse": 134,
    },
    "gpt-4": {"closedBook": 7, "sharedStore": 25, "singleStore": 63, "oracle": 126, "oracle_reverse": 118},
    "llama2": {"sharedStore": 29, "singleStore": 62},
    "claude-2": {"inContext": 56, "inContext_reverse": 114},
}  # fmt: skip
CHANGES = {
    ("sharedStore", "singleStore"): (53, 7),
    ("singleStore", "inContext"): (14, 52),
    ("singleStore", "inContext_reverse"): (51, 8),
    ("singleStore", "oracle"): (55, 2),
}


@pytest.mark.data
def test_the_facts_of_financebench_come_out(test_data: Path) -> None:
    path = test_data / "financebench" / "results"
    assert models_of(path) == sorted(FACTS)
    for model, correct in FACTS.items():
        log = read_results(path, model, benchmark=questions_near(path), filing_tokens={}, passages=Passages())
        counted = log.quality.group_by("route").agg(pl.col("correct").sum(), pl.len())
        assert {route: right for route, right, _ in counted.iter_rows()} == correct
        assert set(counted["len"]) == {150}
        assert log.refusals.is_empty()
        assert log.questions["filing_id"].n_unique() == 84
        if model == "gpt-4-1106-preview":
            wide = log.quality.pivot(on="route", index="question_id", values="correct")
            for (cheap, deep), facts in CHANGES.items():
                helped = wide.filter(~pl.col(cheap) & pl.col(deep)).height
                hurt = wide.filter(pl.col(cheap) & ~pl.col(deep)).height
                assert (helped, hurt) == facts


@pytest.mark.data
def test_routerarenas_totals_recompute(test_data: Path) -> None:
    folder = test_data / "router_outcomes"
    log = read_routerarena(folder)
    assert log.refusals.is_empty()
    for file in folder.glob("*.jsonl"):
        rows = [json.loads(line) for line in file.read_text().splitlines()]
        route = rows[0]["llm_selected"]
        scores = log.quality.filter(pl.col("route") == route).sort("question_id")
        costs = log.outcomes.filter(pl.col("route") == route).sort("question_id")
        logged = sorted((r["global_index"], r["evaluation_result"]) for r in rows)
        assert scores["logged_score"].to_list() == [graded["score"] for _, graded in logged]
        assert costs["cost_usd"].to_list() == [graded["inference_cost"] for _, graded in logged]

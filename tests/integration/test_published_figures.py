"""What a run publishes: on FinanceBench the counts and figures that it must reach, and on another model's tokens."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import counting_server
import pytest
from commandline import CommandLine


def figure(apportion: CommandLine, statement: str) -> float:
    ((value,),) = [tuple(row.values()) for row in apportion.rows(statement)]
    return float(value)


@pytest.fixture(scope="module")
def financebench(shared_apportion: Callable[[str], CommandLine], test_data: Path) -> CommandLine:
    apportion = shared_apportion("financebench")
    apportion.ok("ingest", str(test_data / "financebench"), "--as", "financebench")
    apportion.ok("run", "--set", "financebench")
    return apportion


@pytest.mark.data
def test_counts(financebench: CommandLine) -> None:
    counted = {
        table: int(figure(financebench, f"SELECT count(*) FROM {table}"))
        for table in ("filings", "pages", "questions", "route_outcomes", "judgements")
    }
    assert counted == {
        "filings": 84,
        "pages": 168,
        "questions": 150,
        "route_outcomes": 600,
        "judgements": 1800,
    }


@pytest.mark.data
def test_gold_pages_are_found(financebench: CommandLine) -> None:
    (found,) = financebench.rows(
        "SELECT count(*) FILTER (first_hit = 1) AS first, count(*) FILTER (first_hit <= 5) AS five FROM page_hits",
    )
    assert int(found["first"]) >= 110
    assert int(found["five"]) >= 145


@pytest.mark.data
def test_the_additional_call_costs_what_it_should(financebench: CommandLine) -> None:
    cost = {
        row["family"]: float(row["mean_cost"]) for row in financebench.rows("SELECT * FROM family_summary")
    }
    assert cost["domain-relevant"] > cost["novel-generated"] > cost["metrics-generated"]
    assert 0.5 <= figure(financebench, "SELECT coefficient_of_variation FROM cost_summary") <= 0.65
    assert (
        2000
        <= figure(financebench, "SELECT tokens_per_question FROM route_summary WHERE route = 'top5'")
        <= 2700
    )


@pytest.mark.data
def test_cost_is_predictable(financebench: CommandLine) -> None:
    quality = {
        (row["model"], row["metric"]): float(row["value"])
        for row in financebench.rows(
            "SELECT * FROM prediction_quality WHERE split = 'held_out' AND target = 'cost'"
        )
    }
    assert quality["ridge", "r2"] >= 0.93
    assert quality["exact_prompt", "r2"] >= 0.99
    assert quality["exact_prompt", "mape"] <= 0.02


@pytest.mark.data
def test_every_table_of_the_paper_is_there(financebench: CommandLine) -> None:
    for table in (
        "route_summary", "policy_summary", "policy_comparison", "selection_overlap", "family_summary", "cost_quartiles",
        "cost_summary", "prediction_quality", "question_audit", "frontier",
    ):  # fmt: skip
        assert figure(financebench, f"SELECT count(*) FROM {table}") > 0, table
    assert figure(financebench, "SELECT count(DISTINCT policy) FROM policy_summary") == 9
    assert figure(financebench, "SELECT count(DISTINCT budget_fraction) FROM policy_summary") == 8
    report = Path(financebench.ok("report").strip())
    page = report.read_text(encoding="utf-8")
    assert "<script" not in page
    assert "http" not in page.replace("http://www.w3.org/", "").replace("http-equiv", "")


def test_cost_stays_predictable_under_another_tokenizer(apportion: CommandLine) -> None:
    with counting_server.running() as address:
        asked = ("run", "--set", "sample", "--routes", "top1,top5", "--model", "openai/other", "--yes")
        shown = apportion(*asked, "--api-base", address, env={"OPENAI_API_KEY": "none"})
    assert shown.status == 0, shown.err
    quality = apportion.rows(
        "SELECT value FROM prediction_quality WHERE split = 'held_out' AND model = 'exact_prompt' AND metric = 'r2'",
    )
    assert float(quality[0]["value"]) >= 0.98
    billed = figure(apportion, "SELECT avg(f.cheap_input_tokens / f.cheap_prompt_tokens) FROM features AS f")
    assert billed > 1.5  # the server's tokens are another size than ours

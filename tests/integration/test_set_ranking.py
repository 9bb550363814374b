"""A set is answered from one ranking: a later run keeps to it, or answers every route that reads pages anew.

And what was answered beside the pair is evaluated by the command that the run names.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import tiny
from commandline import CommandLine

from assets.answered import answered_ranking
from orchestration.instance import open_instance
from orchestration.running import WorkFailedError, quiet, run_job
from warehouse.store import Store

ANSWERS = "SELECT * EXCLUDE (latency_ms) FROM route_outcomes WHERE route LIKE 'top%' ORDER BY ALL"


@pytest.fixture(scope="module")
def answered(
    shared_apportion: Callable[[str], CommandLine], tmp_path_factory: pytest.TempPathFactory
) -> CommandLine:
    """A small set, answered from full text."""
    command = shared_apportion("ranked")
    folder = tiny.write(tmp_path_factory.mktemp("ranked-source"), tiny.rows(4))
    command.ok("ingest", str(folder), "--set", "tiny", "--batch", "tiny")
    command.ok("run", "--set", "tiny", "--retriever", "fulltext", "--routes", "top1,top5", "--deep", "hdrr")
    return command


def test_a_run_without_a_ranking_keeps_the_set_s_own(answered: CommandLine) -> None:
    store = Store(answered.warehouse)
    before = answered.rows(ANSWERS)
    shown = answered("run", "--set", "tiny", "--routes", "direct,sfr", "--deep", "hdrr")
    assert shown.status == 0
    assert answered_ranking(store, "tiny") == {"retriever": "fulltext", "pool": "filing"}
    assert answered.rows(ANSWERS) == before
    (line,) = [line for line in shown.error_lines if "not evaluated" in line]
    assert "the pair top1, hdrr has no answers on hdrr; `apportion evaluate --set tiny --routes top1," in line


def test_a_list_of_routes_is_evaluated_on_the_pages_that_the_answers_read(answered: CommandLine) -> None:
    answered.ok("evaluate", "--set", "tiny", "--routes", "top5,top1")
    assert answered.rows("SELECT DISTINCT cheap_route, deep_route FROM policy_summary ORDER BY ALL") == [
        {"cheap_route": "top5", "deep_route": "top1"}
    ]
    made = Store(answered.warehouse).history("features")[0]
    assert made["slice"]["cheap_route"] == "top5"
    assert made["arguments"] == {"retriever": "fulltext", "pool": "filing"}


def test_another_ranking_beside_answers_that_stay_is_refused(answered: CommandLine) -> None:
    store = Store(answered.warehouse)
    before = store.version("retrievals")
    shown = answered("run", "--set", "tiny", "--retriever", "tfidf", "--routes", "direct,top1")
    assert shown.status == 2
    (line,) = shown.error_lines
    assert "was answered from fulltext, and top5 would stay so; leave --retriever out" in line
    assert store.version("retrievals") == before


def test_the_step_itself_refuses_to_mix(answered: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPORTION_WAREHOUSE", str(answered.warehouse))
    for name in ("DAGSTER_HOME", "APPORTION_RUNS"):
        monkeypatch.setenv(name, "")
    quiet()
    asked = {"answering": {"routes": ["top1"]}}
    with (
        open_instance() as instance,
        pytest.raises(
            WorkFailedError, match="route_outcomes: --retriever tfidf: set 'tiny' was answered from"
        ),
    ):
        run_job(instance, "answer", "tiny", asked, selection=["route_outcomes"])


def test_newer_pages_beside_answers_over_older_ones_are_refused(
    answered: CommandLine, tmp_path: Path
) -> None:
    store = Store(answered.warehouse)
    before = store.version("retrievals")
    answered.ok("run", "--set", "tiny", "--refresh", "--routes", "top1", "--deep", "hdrr")
    (tmp_path / "new.txt").write_text("A filing that came later.\nNet revenue 1,234\n")
    answered.ok("ingest", str(tmp_path / "new.txt"))
    shown = answered("run", "--set", "tiny", "--refresh", "--routes", "top1")
    assert shown.status == 2
    (line,) = shown.error_lines
    assert "--refresh: set 'tiny' was answered over older pages, and sfr, top5 would stay so" in line
    assert "(--routes top1,sfr,top5)" in line
    assert store.version("retrievals") == before

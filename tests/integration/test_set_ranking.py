"""A set is answered from one ranking: a later run keeps to it, or answers every route that reads pages anew."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from commandline import CommandLine

from assets.answered import answered_ranking
from orchestration.instance import open_instance
from orchestration.running import WorkFailedError, quiet, run_job
from warehouse.store import Store

ANSWERS = "SELECT * EXCLUDE (latency_ms) FROM route_outcomes WHERE route LIKE 'top%' ORDER BY ALL"


@pytest.fixture(scope="module")
def answered(
    shared_apportion: Callable[[str], CommandLine], tiny_run: Callable[[CommandLine], CommandLine]
) -> CommandLine:
    """The tiny set, answered from full text."""
    command = tiny_run(shared_apportion("ranked"))
    command.ok("run", "--set", "tiny", "--retriever", "fulltext")
    return command


def test_a_run_without_a_ranking_keeps_the_set_s_own(answered: CommandLine) -> None:
    store = Store(answered.warehouse)
    before, features = answered.rows(ANSWERS), store.version("features")
    answered.ok("run", "--set", "tiny", "--routes", "direct,sfr")
    assert answered_ranking(store, "tiny") == {"retriever": "fulltext", "pool": "filing"}
    assert answered.rows(ANSWERS) == before
    assert store.history("features")[0]["arguments"] == {"retriever": "fulltext", "pool": "filing"}
    assert store.version("features") > features


def test_another_ranking_beside_answers_that_stay_is_refused(answered: CommandLine) -> None:
    store = Store(answered.warehouse)
    before = store.version("retrievals")
    shown = answered("run", "--set", "tiny", "--retriever", "tfidf", "--routes", "direct,top1")
    assert shown.status == 2
    (line,) = shown.error_lines
    assert "was answered from fulltext, and top2, top5 would stay so; leave --retriever out" in line
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

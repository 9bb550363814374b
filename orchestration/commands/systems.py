"""`apportion systems`: the document-routed systems' tables of a set that is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from apportion.progress import listen
from apportion.routes.verifying import VERIFIERS
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import check_judge, check_set
from orchestration.instance import open_instance
from orchestration.output import Format, ProgressBar, say, show
from orchestration.running import quiet, run_job
from warehouse.store import Store

TITLES = {
    "system_comparison": "Differences between systems",
    "resolver_summary": "How questions were resolved",
    "coverage_summary": "Questions on several companies",
    "system_costs": "Costs",
    "judge_agreement": "Two judges",
}


TEXTS = (
    "router",
    "describer",
    "embedder",
    "reranker",
    "verifier",
    "companies",
    "model_folder",
    "document_schema",
)
NUMBERS = ("default_year", "window")


def read_settings(given: list[str] | None) -> dict[str, Any]:
    """Settings of the systems, given as KEY=VALUE.

    Raises:
        CallError: there is no such setting, or its value isn't of its kind.
    """
    read: dict[str, Any] = {}
    for entry in given or []:
        key, _, value = entry.partition("=")
        if key not in (*TEXTS, *NUMBERS) or not value:
            raise CallError(f"--system {entry}: give KEY=VALUE; keys: {', '.join((*TEXTS, *NUMBERS))}")
        if key in NUMBERS and not value.isdecimal():
            raise CallError(f"--system {entry}: {key} is a whole number")
        if key == "verifier" and value not in VERIFIERS:
            raise CallError(f"--system {entry}: verifiers: {', '.join(VERIFIERS)}")
        read[key] = int(value) if key in NUMBERS else value
    return read


def compare_systems(outcome_set: str, settings: Mapping[str, Mapping[str, Any]], layout: Format) -> None:
    """Score every answer by the rubric and print the systems' tables.

    Raises:
        CallError: there is no such set, or it isn't answered.
    """
    check_set(outcome_set)
    where = {"outcome_set": outcome_set}
    if Store().read("route_outcomes", where).is_empty():
        raise CallError(
            f"set {outcome_set!r} is not answered; `apportion run --set {outcome_set} --routes cbr,hdrr,...`"
        )
    for judge in (settings["answering"]["judge"], settings["answering"].get("second_judge")):
        if judge:
            check_judge(judge)
    quiet()
    with open_instance() as instance, listen(ProgressBar()):
        finished = run_job(instance, "compare_systems", outcome_set, settings)
    for line in finished.problems:
        say(line)
    say(f"set {outcome_set}: {finished.model_calls} model calls made")
    refresh_catalogue()
    store = Store()
    judge = settings["answering"]["judge"]
    summary = store.read("system_summary", {**where, "judge": judge}).sort("mean_score", descending=True)
    if layout is not Format.table:
        show(summary, layout)
        return
    show(
        summary.drop("outcome_set", "judge"), layout, title=f"Systems of set {outcome_set}, scored by {judge}"
    )
    for table, title in TITLES.items():
        rows = store.read(table, where)
        if table == "system_comparison" and not rows.is_empty():
            rows = rows.filter(pl.col("metric") == "mean_score")
        if not rows.is_empty():
            show(rows.drop("outcome_set"), layout, title=title)

"""`apportion run`, `evaluate` and `report`: work on a set, then its tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import polars as pl

from apportion.defaults import CHEAP, DEEP, ROUTES
from apportion.evaluation.pairs import question_groups
from apportion.features.consistency import sampled_route
from apportion.progress import listen
from apportion.routes.answering import check_routes
from assets.answered import check_one_snapshot
from assets.several import MANY
from assets.sources import BUILT_IN, COMPANIES, SAMPLE
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import (
    answered_routes,
    check_answered,
    check_grades,
    check_judge,
    check_model,
    check_name,
    check_ranking,
    check_route,
    check_set,
    names,
    set_ranking,
)
from orchestration.commands.failing import all_failed, failure_lines, left_out_line
from orchestration.commands.ingest import ingest_source
from orchestration.instance import open_instance
from orchestration.output import Format, ProgressBar, say, show
from orchestration.running import Finished, WorkFailedError, quiet, run_job
from warehouse.contracts import POLICIES
from warehouse.paths import local_root
from warehouse.store import Store

SUMMARY_COLUMNS = (
    "policy",
    "budget_fraction",
    "accuracy",
    "quality",
    "tokens_per_question",
    "escalated_share",
    "helped",
    "hurt",
    "realised_spend",
)
ROUTE_COLUMNS = (
    "route",
    "accuracy",
    "quality",
    "ci_low",
    "ci_high",
    "tokens_per_question",
    "latency_ms",
    "cost_usd",
)


def run_set(outcome_set: str, settings: Mapping[str, Mapping[str, Any]], layout: Format) -> None:
    """Answer, judge and publish a set, then print its tables.

    Raises:
        CallError: what was asked for cannot be run.
        WorkFailedError: a step failed, or no answer of the routes asked is good.
    """
    answering, pair = dict(settings.get("answering", {})), dict(settings.get("comparison", {}))
    routes = answering.get("routes", ROUTES)
    check_name(outcome_set)
    try:
        check_routes(routes)
    except ValueError as error:
        raise CallError(str(error)) from error
    for side, default in (("cheap", CHEAP), ("deep", DEEP)):
        check_route(f"--{side}", pair.get(side, default), answered_routes(outcome_set))
    check_ranking(answering.get("retriever"), answering.get("pool"))
    if answering.get("model"):
        check_model(answering["model"])
    if answering.get("judge"):
        check_judge(answering["judge"])
    if outcome_set in BUILT_IN:
        # What is built in is asked for by name; whoever does so need not know that it has to be brought in first.
        held = Store().slices("questions", "outcome_set")
        if SAMPLE not in held:
            ingest_source(None, SAMPLE, batch=SAMPLE, outcome_set=SAMPLE)
        if outcome_set == COMPANIES and COMPANIES not in held:
            ingest_source(None, COMPANIES, batch=SAMPLE, outcome_set=COMPANIES)
    answering |= set_ranking(outcome_set, answering.get("retriever"), answering.get("pool"), routes)
    if answering.get("refresh"):
        try:
            check_one_snapshot(Store(), outcome_set, routes)
        except ValueError as error:
            raise CallError(str(error)) from error
    missing = lacking(outcome_set, pair.get("cheap", CHEAP), pair.get("deep", DEEP), routes)
    try:
        finished = _work("answer" if missing else "run", outcome_set, {**settings, "answering": answering})
    except WorkFailedError as error:
        # What is computed from failures may fail in turn; the cause is told, not what came of it.
        failures, nothing_good = failure_lines(outcome_set, routes)
        for line in failures:
            say(line)
        if nothing_good:
            raise all_failed(outcome_set, routes) from error
        raise
    say(
        f"set {outcome_set}: {finished.model_calls} model calls made; "
        + (f"{len(finished.committed)} tables changed" if finished.committed else "no table changed")
    )
    left_out = left_out_line(finished)
    if left_out:
        say(left_out)
    failures, nothing_good = failure_lines(outcome_set, routes)
    for line in failures:
        say(line)
    if nothing_good:
        raise all_failed(outcome_set, routes)
    if missing is None:
        print_tables(outcome_set, pair, layout)
    else:
        say(f"answered, not evaluated: {missing}")
        show(answer_counts(outcome_set), layout, title=f"Answers, set {outcome_set}")


def lacking(outcome_set: str, cheap: str, deep: str, routes: Sequence[str]) -> str | None:
    """What an evaluation lacks once some routes are answered, and what to do about it; None where it lacks nothing."""
    there = list(dict.fromkeys((*routes, *answered_routes(outcome_set))))
    missing = [route for route in (cheap, deep) if route not in there]
    asked = Store().read("questions", {"outcome_set": outcome_set})
    gold = asked.filter(pl.col("reference_answer").is_not_null())
    if gold.is_empty():
        return "no question has a reference answer; `apportion plan` decides by what other sets taught"
    if not missing and question_groups(gold)["group"].n_unique() < 2:
        return (
            "the reference answers are of one filing, and held-out predictions need at least two; add questions on "
            "other filings, or let `apportion plan` decide by what other sets taught"
        )
    if not missing:
        return None
    told = f"the pair {cheap}, {deep} has no answers on {' and '.join(missing)}"
    # Further samples of a route are no arm of their own.
    arms = [route for route in there if sampled_route(route) == route]
    if len(arms) > 1:
        first = [cheap] if cheap in arms else []
        listed = ",".join((*first, *(route for route in arms if route not in first)))
        return f"{told}; `apportion evaluate --set {outcome_set} --routes {listed}` compares what there is"
    return f"{told}; `apportion run --set {outcome_set} --routes {','.join(missing)}` answers"


def answer_counts(outcome_set: str) -> pl.DataFrame:
    """How a set's answers ended, by route."""
    return (
        Store()
        .read("route_outcomes", {"outcome_set": outcome_set})
        .group_by("route", "model", "status")
        .agg(pl.len().alias("questions"), pl.col("total_tokens").sum().alias("tokens"))
        .sort("route", "status")
    )


def judge_set(outcome_set: str, answering: Mapping[str, Any], layout: Format) -> None:
    """Grade every answer of a set, then print how far each judge agrees with its human labels."""
    check_set(outcome_set)
    check_judge(answering["judge"])
    if answer_counts(outcome_set).is_empty():
        raise CallError(f"set {outcome_set!r} has no answers yet; `apportion run` or `import` brings some")
    finished = _work("grade", outcome_set, {"answering": answering})
    say(f"set {outcome_set}: {finished.model_calls} model calls made")
    found = Store().read("human_agreement", {"outcome_set": outcome_set})
    if found.is_empty():
        say(f"set {outcome_set} has no human labels to compare with: graded, nothing compared")
    title = f"Judges against human labels, set {outcome_set}"
    show(found.drop("outcome_set") if layout is Format.table else found, layout, title=title)


def evaluate_set(outcome_set: str, settings: Mapping[str, Mapping[str, Any]], layout: Format) -> None:
    """Evaluate a set from its log, then print its tables."""
    check_set(outcome_set)
    pair = dict(settings.get("comparison", {}))
    check_answered(outcome_set, pair.get("cheap", CHEAP))
    deep = deep_routes(outcome_set, pair)
    check_answered(outcome_set, *deep)
    check_grades(pair.get("judge"), outcome_set)
    if len(deep) == 1:
        _work("evaluate", outcome_set, {**settings, "comparison": {**pair, "deep": deep[0]}})
        print_tables(outcome_set, {**pair, "deep": deep[0]}, layout)
        return
    for route in deep:
        _work("evaluate", outcome_set, {**settings, "comparison": {**pair, "deep": route}})
    together = {**pair, "deep": MANY, "deep_routes": deep}
    _work("evaluate_many", outcome_set, {**settings, "comparison": together})
    print_tables(outcome_set, together, layout)


def deep_routes(outcome_set: str, pair: Mapping[str, Any]) -> list[str]:
    """The deep routes asked for; ``*`` is every other route of the set whose tokens somebody counted.

    Raises:
        CallError: a route isn't there, stands twice or is the cheap one, or ``*`` finds none.
    """
    outcomes = Store().read("route_outcomes", {"outcome_set": outcome_set})
    known = outcomes["route"].unique().sort().to_list()
    asked = names(pair.get("deep", DEEP))
    if asked == [MANY]:
        counted = outcomes.filter(pl.col("total_tokens").is_not_null())["route"].unique().sort().to_list()
        asked = [route for route in counted if sampled_route(route) != pair["cheap"]]
    if not asked or len(set(asked)) < len(asked) or pair.get("cheap") in asked:
        raise CallError(
            f"--deep {pair.get('deep')}: give routes other than {pair.get('cheap')}, each once; in set "
            f"{outcome_set!r} there are {', '.join(known) or 'none'}"
        )
    return asked


def _work(job: str, outcome_set: str, settings: Mapping[str, Mapping[str, Any]]) -> Finished:
    check_set(outcome_set)
    quiet()
    with open_instance() as instance, listen(ProgressBar()):
        finished = run_job(instance, job, outcome_set, settings)
        if job in ("run", "evaluate"):
            # What the live decision will use, should it learn from this set alone.
            learning = {
                "comparison": settings.get("comparison", {}),
                "escalation": {"learn_from": [outcome_set]},
            }
            run_job(instance, "fit_models", None, learning)
    for line in finished.problems:
        say(line)
    refresh_catalogue()
    return finished


def print_tables(outcome_set: str, pair: Mapping[str, Any], layout: Format) -> None:
    """Print `policy_summary`, and before it, for people, `route_summary`."""
    store = Store()
    where = {
        "outcome_set": outcome_set,
        "cheap_route": pair.get("cheap", CHEAP),
        "deep_route": pair.get("deep", DEEP),
    }
    rank = {policy: i for i, policy in enumerate(POLICIES)}
    summary = (
        store.read("policy_summary", where)
        .with_columns(pl.col("policy").replace_strict(rank, return_dtype=pl.Int64).alias("rank"))
        .sort("budget_fraction", "rank")
        .drop("rank")
    )
    if layout is Format.table:
        routes = store.read("route_summary", {"outcome_set": outcome_set})
        show(routes, layout, title=f"Routes, set {outcome_set}", columns=ROUTE_COLUMNS)
        title = f"Policies, {where['cheap_route']} to {where['deep_route']}; budgets are shares of escalating everybody"
        show(summary, layout, title=title, columns=SUMMARY_COLUMNS)
    else:
        show(summary, layout)


def report(*, open_it: bool, aside: bool = False) -> None:
    """Write the report and say where it is; ``aside`` says so on standard error, where a table is the output.

    Raises:
        CallError: nothing is evaluated yet.
    """
    from assets.reporting import write_report

    try:
        path = write_report(Store(), local_root())
    except ValueError as error:
        raise CallError(str(error)) from error
    if aside:
        say(str(path))
    else:
        print(path)
    if open_it:
        import webbrowser

        webbrowser.open(path.as_uri())

"""`apportion run`, `evaluate` and `report`: work on a set, then its tables."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from apportion.evaluation.sweep import BUDGETS
from apportion.features.consistency import sampled_route
from apportion.prediction.gain import NAME as PAPER_MODEL
from apportion.prediction.selection import BENEFIT_NAMES, SELECTED, WEIGHTED
from apportion.progress import listen
from apportion.retrieval.retrievers import RETRIEVERS
from apportion.routes.answering import check_routes
from assets.provenance import last_commit
from assets.resources import JUDGE
from assets.several import MANY
from assets.sources import BUILT_IN, COMPANIES, SAMPLE
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.ingest import check_name, ingest_source
from orchestration.instance import open_instance
from orchestration.output import Format, ProgressBar, say, show
from orchestration.running import Finished, quiet, run_job
from warehouse.contracts import POLICIES, POOLS
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


def names(joined: str) -> list[str]:
    """Names joined by commas, without empty ones."""
    return [name.strip() for name in joined.split(",") if name.strip()]


def comparison(
    cheap: str,
    deep: str,
    judge: str | None,
    budgets: str | None,
    gain_model: str = PAPER_MODEL,
    text_encoder: str | None = None,
) -> dict[str, Any]:
    """The settings of a comparison.

    Raises:
        CallError: a budget is not a fraction, a route is compared with itself, or there is no such benefit model.
    """
    known = (PAPER_MODEL, WEIGHTED, *BENEFIT_NAMES, SELECTED)
    if gain_model not in known:
        raise CallError(
            f"--gain-model {gain_model}: there is no such benefit model; models: {', '.join(known)}"
        )
    if cheap == deep:
        raise CallError(f"--cheap and --deep are both {cheap}; a pair has two routes")
    fractions = list(BUDGETS)
    if budgets is not None:
        try:
            fractions = sorted({float(part) for part in names(budgets)})
        except ValueError:
            raise CallError(f"--budgets {budgets}: give fractions such as 0.1,0.2,1") from None
        if not fractions or not all(0 <= fraction <= 1 for fraction in fractions):
            raise CallError(f"--budgets {budgets}: fractions lie between 0 and 1")
    return {
        "cheap": cheap,
        "deep": deep,
        "judge": judge,
        "budgets": fractions,
        "gain_model": gain_model,
        "text_encoder": text_encoder,
    }


def run_set(outcome_set: str, settings: Mapping[str, Mapping[str, Any]], layout: Format) -> None:
    """Answer, judge and publish a set, then print its tables."""
    answering = settings.get("answering", {})
    try:
        check_routes(answering.get("routes", ("top1",)))
    except ValueError as error:
        raise CallError(str(error)) from error
    check_ranking(answering.get("retriever"), answering.get("pool"))
    if answering.get("model"):
        _check_model(answering["model"])
    if answering.get("judge"):
        check_judge(answering["judge"])
    if outcome_set in BUILT_IN:
        # What is built in is asked for by name; whoever does so need not know that it has to be brought in first.
        held = Store().slices("questions", "outcome_set")
        if SAMPLE not in held:
            ingest_source(None, SAMPLE, batch=SAMPLE, outcome_set=SAMPLE)
        if outcome_set == COMPANIES and COMPANIES not in held:
            ingest_source(None, COMPANIES, batch=SAMPLE, outcome_set=COMPANIES)
    check_set(outcome_set)
    comparable = _comparable(outcome_set, settings)
    finished = _work("run" if comparable else "answer", outcome_set, settings)
    say(
        f"set {outcome_set}: {finished.model_calls} model calls made; "
        + (f"{len(finished.committed)} tables changed" if finished.committed else "no table changed")
    )
    if comparable:
        print_tables(outcome_set, settings.get("comparison", {}), layout)
    else:
        say("answered, not evaluated: that takes gold answers, and outcomes of both routes of the pair")
        show(answer_counts(outcome_set), layout, title=f"Answers, set {outcome_set}")


def check_ranking(retriever: str | None, pool: str | None) -> None:
    """Refuse a ranking that there is none of; None is any.

    Raises:
        CallError: there is no such retriever or pool.
    """
    for name, given, known in (("pool", pool, POOLS), ("retriever", retriever, sorted(RETRIEVERS))):
        if given is not None and given not in known:
            raise CallError(f"--{name} {given}: there is no such {name}; choose of {', '.join(known)}")


def answered_from(outcome_set: str, retriever: str | None, pool: str | None) -> dict[str, str]:
    """The ranking that a set's answers were made from, as settings: decisions on it rest on the same pages.

    Args:
        outcome_set: its name.
        retriever, pool: as named by the user; what the answers were made from where they are None.

    Raises:
        CallError: there is no such set, retriever or pool, or the answers were made from another.
    """
    check_ranking(retriever, pool)
    check_set(outcome_set)
    made = (last_commit(Store(), "route_outcomes", outcome_set) or {}).get("arguments", {})
    found = {}
    for name, given, default in (("retriever", retriever, "tfidf"), ("pool", pool, "filing")):
        kept = made.get(name)
        if given is not None and kept is not None and given != kept:
            raise CallError(
                f"--{name} {given}: set {outcome_set!r} was answered from {kept}; "
                f"leave --{name} out, or run the set again"
            )
        found[name] = given or kept or default
    return found


def _comparable(outcome_set: str, settings: Mapping[str, Mapping[str, Any]]) -> bool:
    """Whether, after this run, both routes of the pair are answered and some question can be graded."""
    store, where = Store(), {"outcome_set": outcome_set}
    pair = settings.get("comparison", {})
    asked = settings.get("answering", {}).get("routes")
    if asked is None:
        return True
    answered = {*asked, *store.read("route_outcomes", where)["route"]}
    graded = store.read("questions", where)["reference_answer"].drop_nulls()
    return {pair.get("cheap", "top1"), pair.get("deep", "top5")} <= answered and not graded.is_empty()


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
    deep = deep_routes(outcome_set, pair)
    check_answered(outcome_set, pair.get("cheap", "top1"), *deep)
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
    asked = names(pair.get("deep", "top5"))
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


def check_set(outcome_set: str) -> None:
    """Refuse a set that isn't there.

    Raises:
        CallError: there is no such set.
    """
    import difflib

    check_name(outcome_set)
    known = Store().slices("questions", "outcome_set")
    if outcome_set in known:
        return
    near = difflib.get_close_matches(outcome_set, known, n=1)
    hint = (
        f"did you mean {near[0]}?"
        if near
        else f"sets: {', '.join(known) or 'none yet; bring one in with `apportion ingest`'}"
    )
    raise CallError(f"there is no set {outcome_set!r}; {hint}")


def check_answered(outcome_set: str, *routes: str) -> None:
    """Refuse a pair with a route that the set has no outcome of, before anything is written about it.

    Raises:
        CallError: a route has no outcome.
    """
    answered = Store().read("route_outcomes", {"outcome_set": outcome_set})["route"].unique().sort().to_list()
    for route in routes:
        if route not in answered:
            has = f"it has {', '.join(answered)}" if answered else "it has none yet"
            raise CallError(f"set {outcome_set!r} has no outcome on route {route!r}; {has}")


def _check_model(model: str) -> None:
    """Refuse a model that no provider answers to, before any call.

    Raises:
        CallError: LiteLLM knows no such provider, or there is no such embedded model.
    """
    from apportion.llm.models import check_model

    try:
        check_model(model)
    except ValueError as error:
        raise CallError(str(error)) from error


def check_judge(judge: str) -> None:
    """Refuse a model that cannot grade, before any call.

    Raises:
        CallError: no provider answers to the name, or it is the embedded reader.
    """
    _check_model(judge)
    if judge.startswith("embedded/") and judge != JUDGE:
        raise CallError(f"{judge} does not grade; the embedded judge is {JUDGE}")


def print_tables(outcome_set: str, pair: Mapping[str, Any], layout: Format) -> None:
    """Print `policy_summary`, and before it, for people, `route_summary`."""
    store = Store()
    where = {
        "outcome_set": outcome_set,
        "cheap_route": pair.get("cheap", "top1"),
        "deep_route": pair.get("deep", "top5"),
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

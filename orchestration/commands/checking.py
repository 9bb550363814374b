"""What a call may name. Wrong names are refused here, before a job writes or spends anything."""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

import polars as pl

from apportion.allocation.policies import ORACLE_POLICIES
from apportion.defaults import CHEAP, DEEP, GAIN_MODEL, JUDGE, POOL, RETRIEVER
from apportion.evaluation.sweep import BUDGETS
from apportion.llm.requests import is_embedded
from apportion.prediction.selection import BENEFIT_NAMES, SELECTED, WEIGHTED
from apportion.retrieval.retrievers import RETRIEVERS
from apportion.routes.answering import DEPTHS
from apportion.routes.systems import SYSTEMS
from assets.answered import answered_ranking, check_one_ranking
from assets.encoding import LOCAL
from orchestration.app import CallError
from warehouse.contracts import POLICIES, POOLS
from warehouse.schema import PARTITION_KEY
from warehouse.store import Store

ROUTES = (*DEPTHS, *SYSTEMS)
"""Routes that this project answers on; an imported log has others."""
DEPLOYABLE = tuple(policy for policy in POLICIES if policy not in ORACLE_POLICIES)
"""Policies that know only what is known at the decision."""


def names(joined: str) -> list[str]:
    """Names joined by commas, without empty ones."""
    return [name.strip() for name in joined.split(",") if name.strip()]


def unknown(wrong: str, given: str, known: Iterable[str], kind: str) -> CallError:
    """The error of a name that there is none of: what is wrong, then the nearest name, or all of them.

    Args:
        wrong: the sentence.
        given: the name.
        known: the names that there are.
        kind: what they are, in the plural.
    """
    listed = list(known)
    near = difflib.get_close_matches(given, listed, n=1)
    hint = f"did you mean {near[0]}?" if near else f"{kind}: {', '.join(listed) or 'none'}"
    return CallError(f"{wrong}; {hint}")


def check_name(name: str) -> None:
    """Refuse what can't name a set or a batch.

    Raises:
        CallError: it can't.
    """
    if not PARTITION_KEY.fullmatch(name):
        raise CallError(f"{name!r} is not a name: use 1 to 100 letters, digits, '.', '_', ':' or '-'")


def check_set(outcome_set: str) -> None:
    """Refuse a set that isn't there.

    Raises:
        CallError: there is no such set.
    """
    check_name(outcome_set)
    known = Store().slices("questions", "outcome_set")
    if not known:
        raise CallError(f"there is no set {outcome_set!r}; bring one in with `apportion ingest`")
    if outcome_set not in known:
        raise unknown(f"there is no set {outcome_set!r}", outcome_set, known, "sets")


def check_model(model: str) -> None:
    """Refuse a model that no provider answers to, before any call.

    Raises:
        CallError: LiteLLM knows no such provider, or there is no such embedded model.
    """
    from apportion.llm import models

    try:
        models.check_model(model)
    except ValueError as error:
        raise CallError(str(error)) from error


def check_judge(judge: str) -> None:
    """Refuse a model that cannot grade, before any call.

    Raises:
        CallError: no provider answers to the name, or it is the embedded reader.
    """
    check_model(judge)
    if is_embedded(judge) and judge != JUDGE:
        raise CallError(f"{judge} does not grade; the embedded judge is {JUDGE}")


def check_answered(outcome_set: str, *routes: str) -> None:
    """Refuse routes that a set has no outcome of.

    Raises:
        CallError: a route has no outcome.
    """
    answered = answered_routes(outcome_set)
    if not answered:
        raise CallError(
            f"set {outcome_set!r} has no outcome yet; answer it with `apportion run --set {outcome_set}`"
        )
    for route in routes:
        if route not in answered:
            wrong = f"set {outcome_set!r} has no outcome on route {route!r}"
            raise unknown(wrong, route, answered, "it has")


def answered_routes(outcome_set: str) -> list[str]:
    """The routes that a set has outcomes of, by name."""
    return Store().read("route_outcomes", {"outcome_set": outcome_set})["route"].unique().sort().to_list()


def check_route(option: str, route: str, known: Iterable[str] = ()) -> None:
    """Refuse a route that can neither be answered here nor is in some others that are known.

    Raises:
        CallError: there is no such route.
    """
    every = list(dict.fromkeys((*ROUTES, *known)))
    if route not in every:
        raise unknown(f"{option} {route}: there is no route {route!r}", route, every, "routes")


def check_grades(judge: str | None, *sets: str, needed: bool = True) -> None:
    """Refuse a judge by whom none of some sets is graded.

    Args:
        judge: whose grades are asked for; None for whoever graded.
        sets: where they are looked for; every set where none is named.
        needed: whether there have to be grades, of one judge, where none is named.

    Raises:
        CallError: there are no such grades, or grades of several judges.
    """
    graded = Store().scan("route_quality")
    if sets:
        graded = graded.filter(pl.col("outcome_set").is_in(list(sets)))
    judges = graded.select(pl.col("judge").unique().sort()).collect()["judge"].to_list()
    where = f"set {', '.join(map(repr, sets))}" if sets else "any set"
    if not judges and (needed or judge is not None):
        raise CallError(f"there are no grades in {where}; `apportion run` or `apportion judge` makes them")
    if judge is not None and judge not in judges:
        raise unknown(
            f"--judge {judge}: there are no grades by {judge!r} in {where}", judge, judges, "judges"
        )
    if judge is None and needed and len(judges) > 1:
        raise CallError(
            f"{where} has grades of several judges ({', '.join(judges)}); choose one with --judge"
        )


def check_policy(policy: str) -> None:
    """Refuse a rule that cannot decide before the answers are known.

    Raises:
        CallError: there is no such policy, or it is an oracle.
    """
    if policy in ORACLE_POLICIES:
        raise CallError(
            f"--policy {policy}: it knows what the deep calls will bring; choose a deployable one, of "
            + ", ".join(DEPLOYABLE)
        )
    if policy not in DEPLOYABLE:
        raise unknown(f"--policy {policy}: there is no such policy", policy, DEPLOYABLE, "policies")


def check_ranking(retriever: str | None, pool: str | None) -> None:
    """Refuse a ranking that there is none of; None is any.

    Raises:
        CallError: there is no such retriever or pool.
    """
    for name, given, known in (("pool", pool, POOLS), ("retriever", retriever, RETRIEVERS)):
        if given is not None and given not in known:
            raise unknown(f"--{name} {given}: there is no such {name}", given, known, f"{name}s")


def set_ranking(
    outcome_set: str, retriever: str | None, pool: str | None, answering: Collection[str] | None = None
) -> dict[str, str]:
    """The ranking that work on a set rests on, as settings: the one that its answers were made from.

    Args:
        outcome_set: its name.
        retriever, pool: as named by the user; the set's own, or of a new set the default, where they are None.
        answering: the routes that this work answers (again); None where it answers none.

    Raises:
        CallError: there is no such set, retriever or pool, or answers from another ranking are there and stay.
    """
    check_ranking(retriever, pool)
    check_set(outcome_set)
    store = Store()
    made = answered_ranking(store, outcome_set)
    asked = {name: given for name, given in (("retriever", retriever), ("pool", pool)) if given is not None}
    if answering is None:
        for name, given in asked.items():
            if made.get(name, given) != given:
                raise CallError(
                    f"--{name} {given}: set {outcome_set!r} was answered from {made[name]}; "
                    f"leave --{name} out, or answer the set again with it (`apportion run`)"
                )
    else:
        try:
            check_one_ranking(store, outcome_set, asked, answering)
        except ValueError as error:
            raise CallError(str(error)) from error
    return {"retriever": RETRIEVER, "pool": POOL, **made, **asked}


def pair_of(cheap: str | None, deep: str | None, routes: str | None) -> tuple[str, str]:
    """The cheap route and the deep ones, joined by commas, as an evaluation is told them: apart, or in one list.

    Raises:
        CallError: both are given, or the list isn't of two routes or more, each once.
    """
    if routes is None:
        return cheap or CHEAP, deep or DEEP
    if cheap is not None or deep is not None:
        raise CallError(
            f"--routes {routes} names the cheap route and the deep ones; leave --cheap and --deep out"
        )
    listed = names(routes)
    if len(listed) < 2 or len(set(listed)) < len(listed):
        raise CallError(f"--routes {routes}: give two or more, each once, the cheap one first")
    return listed[0], ",".join(listed[1:])


def comparison(
    cheap: str,
    deep: str,
    judge: str | None,
    budgets: str | None,
    gain_model: str = GAIN_MODEL,
    text_encoder: str | None = None,
) -> dict[str, Any]:
    """The settings of a comparison.

    Raises:
        CallError: a budget is not a fraction, a route is compared with itself, or there is no such benefit model or
            encoder.
    """
    known = (GAIN_MODEL, WEIGHTED, *BENEFIT_NAMES, SELECTED)
    if gain_model not in known:
        wrong = f"--gain-model {gain_model}: there is no such benefit model"
        raise unknown(wrong, gain_model, known, "models")
    if text_encoder is not None and text_encoder != LOCAL and not Path(text_encoder).is_dir():
        raise CallError(f"--text-encoder {text_encoder}: there is no such folder; give one, or {LOCAL}")
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

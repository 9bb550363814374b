"""`apportion plan` and `apportion escalate`: the live decision, and doing it."""

from __future__ import annotations

from typing import Any

import polars as pl

from apportion.defaults import RISK
from apportion.evaluation.live import Plan
from apportion.progress import listen
from assets.calling import describe, generator_model
from assets.judged import is_decided_by_itself, judged_sets, sets_to_learn_from
from assets.live import deep_calls, make_plan
from assets.resources import Answering, Comparison, Escalation, Warehouse
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import (
    check_answered,
    check_grades,
    check_policy,
    check_route,
    check_set,
    unknown,
)
from orchestration.instance import open_instance
from orchestration.output import Format, ProgressBar, say, show
from orchestration.running import quiet, run_job
from warehouse.store import Store


def _check(
    outcome_set: str, comparison: dict[str, Any], answering: dict[str, Any], escalation: dict[str, Any]
) -> None:
    """Refuse what cannot be decided, before the features of the pair are written.

    Raises:
        CallError: a name, a cap or a chance is wrong, or no set is there to learn from.
    """
    given = [name for name in ("budget", "tokens", "usd") if escalation.get(name) is not None]
    if len(given) != 1:
        raise CallError("give exactly one of --budget, --tokens and --usd")
    if not 0 < escalation.get("risk", RISK) < 1:
        raise CallError(f"--risk {escalation['risk']}: a chance lies between 0 and 1")
    if escalation.get("budget") is not None and not 0 <= escalation["budget"] <= 1:
        raise CallError(f"--budget {escalation['budget']}: a fraction lies between 0 and 1")
    check_policy(escalation["policy"])
    check_set(outcome_set)
    check_answered(outcome_set, comparison["cheap"])
    check_route("--deep", comparison["deep"])
    store, pair = Store(), Comparison(**comparison)
    check_grades(pair.judge, needed=False)
    judged = judged_sets(store, pair)
    for name in escalation["learn_from"]:
        if name not in judged:
            wrong = f"--learn-from {name}: no such set is evaluated from {pair.cheap} to {pair.deep}"
            raise unknown(wrong, name, judged, "evaluated are")
    try:
        learnt = sets_to_learn_from(store, outcome_set, pair, escalation["learn_from"])
    except ValueError as error:
        raise CallError(str(error)) from error
    # A set that is evaluated itself is decided by what that left; otherwise grades are learnt from now.
    if escalation["learn_from"] or not is_decided_by_itself(store, outcome_set, pair):
        for name in learnt:
            check_grades(pair.judge, name)
    if escalation.get("usd") is not None:
        model = generator_model(store, outcome_set, None)
        if Answering(**answering).price_table().price(model) is None:
            raise CallError(
                f"--usd {escalation['usd']}: the price of {model} is unknown; give it with --prices, or cap tokens"
            )


def plan(
    outcome_set: str,
    comparison: dict[str, Any],
    answering: dict[str, Any],
    escalation: dict[str, Any],
    layout: Format,
) -> None:
    """Print what would be escalated and what it would cost; no model is called."""
    _check(outcome_set, comparison, answering, escalation)
    quiet()
    settings = {"comparison": comparison, "answering": answering}
    with open_instance() as instance:
        run_job(instance, "escalate", outcome_set, settings, selection=["features"])
    refresh_catalogue()
    try:
        made, origin, expected = _planned(outcome_set, answering, comparison, escalation)
    except ValueError as error:
        raise CallError(str(error)) from error
    chosen = made.selected
    columns = ["position", "question_id", "predicted_gain", "predicted_cost", "predicted_usd"]
    asked = (
        Store()
        .read("questions", {"outcome_set": outcome_set})
        .select("question_id", pl.col("text").alias("question"))
    )
    listed = chosen.select(columns).join(asked, on="question_id", how="left").sort("position")
    if layout is Format.table:
        listed = listed.with_columns(pl.col("question").str.slice(0, 70))
    show(listed, layout, title=f"Calls to buy, set {outcome_set}")
    limit = f"{made.limit_tokens:,} tokens" if made.limit_tokens is not None else f"${made.limit_usd:,.4f}"
    cost = int(chosen["predicted_cost"].sum())
    known = chosen["predicted_usd"].null_count() == 0
    money = f"${float(chosen['predicted_usd'].sum()):,.4f}" if known else "an unknown price"
    same = int(made.rows["same_context"].sum())
    say(
        f"{chosen.height} of {made.rows.height} questions under a cap of {limit}: about {cost:,} tokens, {money}; "
        f"{same} would read what was read already. To make them: {expected}. Predictions: {origin}."
    )
    say_if_hopeless(made.rows.filter(~pl.col("same_context"))["predicted_gain"])


def say_if_hopeless(gains: pl.Series) -> None:
    """Say so where no call that can be bought is expected to help."""
    if len(gains) and (gains <= 0).all():
        say("every predicted gain is at or below 0: no deeper call is expected to help")


def _planned(
    outcome_set: str, answering: dict[str, Any], comparison: dict[str, Any], escalation: dict[str, Any]
) -> tuple[Plan, str, str]:
    """The plan, where its predictions come from, and what making its calls would take."""
    store, warehouse = Store(), Warehouse()
    asked, pair = Answering(**answering), Comparison(**comparison)
    made, origin = make_plan(store, warehouse, outcome_set, asked, pair, Escalation(**escalation))
    calls = deep_calls(store, outcome_set, asked, pair, made.selected["question_id"].to_list())
    gateway = asked.gateway(warehouse.ledger_path())
    try:
        return made, origin, describe(gateway.expected([(call.request, call.purpose) for call in calls]))
    finally:
        gateway.close()


def escalate(
    outcome_set: str,
    comparison: dict[str, Any],
    answering: dict[str, Any],
    escalation: dict[str, Any],
    layout: Format,
) -> None:
    """Make the calls, write the final answers and print a spending statement."""
    _check(outcome_set, comparison, answering, escalation)
    quiet()
    settings = {"comparison": comparison, "answering": answering, "escalation": escalation}
    with open_instance() as instance, listen(ProgressBar()):
        finished = run_job(instance, "escalate", outcome_set, settings)
    refresh_catalogue()
    answers = Store().read(
        "final_answers",
        {"outcome_set": outcome_set, "cheap_route": comparison["cheap"], "deep_route": comparison["deep"]},
    )
    show(
        spending_statement(answers, str(finished.metadata["final_answers"]["budget_name"])),
        layout,
        title="Spending",
    )
    counts = ", ".join(
        f"{n} {d.replace('_', ' ')}"
        for d, n in answers["decision"].value_counts().sort("decision").iter_rows()
    )
    say(f"set {outcome_set}: {finished.model_calls} model calls made; {counts}")
    say_if_hopeless(answers.filter(pl.col("decision") != "same_context")["predicted_gain"])
    say('final answers: apportion sql "SELECT question_id, route, answer, context FROM final_answers"')
    for question in answers.filter(pl.col("decision") == "left_out")["question_id"]:
        say(f"left out for lack of budget: {question}")


def spending_statement(answers: pl.DataFrame, budget: str) -> pl.DataFrame:
    """Predicted, reserved and realised spending of an escalation, a row a model."""
    from apportion.llm.ledger import Ledger
    from apportion.llm.statements import statement, statement_by_model

    ledger = Ledger(Warehouse().ledger_path())
    try:
        whole = statement(ledger, budget)
        by_model = {row.model: row for row in statement_by_model(ledger, budget)}
    finally:
        ledger.close()
    made = answers.filter(pl.col("realised_cost").is_not_null())
    rows = []
    for (model,), part in sorted(made.group_by("model"), key=lambda item: str(item[0])):
        booked = by_model.get(str(model))
        rows.append(
            {
                "model": model,
                "calls": part.height,
                "predicted_tokens": int(part["predicted_cost"].sum()),
                "reserved_tokens": booked.reserved_tokens if booked else 0,
                "realised_tokens": int(part["realised_cost"].sum()),
                "newly_spent_tokens": booked.spent_tokens if booked else 0,
                "newly_spent_usd": booked.spent_usd if booked else 0.0,
                "cap_tokens": whole.limit_tokens,
                "cap_usd": whole.limit_usd,
                "hard_cap": whole.hard,
                "left_out": whole.left_out,
                "risk": None if whole.hard else whole.risk,
                "bound_coverage": whole.coverage,
            }
        )
    schema = {
        "cap_tokens": pl.Int64,
        "cap_usd": pl.Float64,
        "newly_spent_usd": pl.Float64,
        "risk": pl.Float64,
        "bound_coverage": pl.Float64,
    }
    return pl.DataFrame(rows, schema_overrides=schema, infer_schema_length=None)

"""The live decision as assets: models fitted on judged sets, and the final answers of an escalation."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import dagster as dg
import numpy as np
import polars as pl

from apportion.evaluation.live import Plan, plan_escalation
from apportion.llm.accounts import Budget
from apportion.llm.prices import Price
from apportion.prediction.ensemble import NAME as PAPER_MODEL
from apportion.prediction.stored import fit_models, is_stored, load_models, model_card, save_models
from apportion.prediction.training import Training
from apportion.progress import track
from apportion.routes.answering import DEPTHS, PlannedAnswer, outcome_row, plan_answers
from apportion.routes.systems import SYSTEMS
from assets.calling import describe, generator_model
from assets.checks import specs
from assets.decisions import pair_slice, read_pairs, training_of, with_pair
from assets.judged import held_out_predictions, judged_sets, sets_to_learn_from
from assets.learning import features_with_texts, pool_of_sets
from assets.partitions import outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import retrieved_pages, set_questions
from assets.resources import Answering, Comparison, Escalation, Warehouse
from warehouse.contracts import TABLES
from warehouse.store import Store


def pooled_training(store: Store, sets: Sequence[str], comparison: Comparison) -> Training:
    """What models learn from several sets together; a filing is one group in whichever of them it is asked about."""
    paper = comparison.gain_model == PAPER_MODEL
    parts = []
    for outcome_set in sets:
        known = store.read("features", pair_slice(outcome_set, comparison))
        told = known if paper else features_with_texts(store, outcome_set, comparison, known)
        parts.append(training_of(read_pairs(store, outcome_set, comparison), told))
    return Training(
        features=pl.concat([part.features for part in parts]),
        groups=[group for part in parts for group in part.groups],
        gain=np.concatenate([part.gain for part in parts]),
        input_tokens=np.concatenate([part.input_tokens for part in parts]),
        output_tokens=np.concatenate([part.output_tokens for part in parts]),
        helped=np.concatenate([part.helped for part in parts if part.helped is not None]),
        hurt=np.concatenate([part.hurt for part in parts if part.hurt is not None]),
        pool=None if paper else pool_of_sets(store, sets, comparison),
    )


def fit_and_save(
    store: Store, warehouse: Warehouse, sets: Sequence[str], comparison: Comparison
) -> tuple[Path, dict[str, Any]]:
    """Fit the models on some sets and keep them, unless those of equal data and versions are there.

    Returns:
        Their folder and card.
    """
    training = pooled_training(store, sets, comparison)
    folder = warehouse.models_folder(sets, comparison.cheap, comparison.deep, comparison.gain_model)
    card = model_card(training, sets, gain_model=comparison.gain_model)
    if not is_stored(folder, card):
        save_models(fit_models(training, sets, gain_model=comparison.gain_model), folder)
    return folder, card


@dg.multi_asset(
    name="decision_models",
    group_name="live",
    specs=[
        dg.AssetSpec(
            name,
            deps=[
                dg.AssetDep(table, partition_mapping=dg.AllPartitionMapping())
                for table in ("features", "predictions", "route_outcomes", "route_quality")
            ],
            description=description,
            kinds={"scikitlearn"},
        )
        for name, description in (
            (
                "benefit_model",
                "The gain of a deeper call, fitted on every judged question of the sets chosen.",
            ),
            ("cost_model", "The tokens of a deeper call, fitted on the same questions."),
        )
    ],
)
def decision_models(warehouse: Warehouse, comparison: Comparison, escalation: Escalation) -> Iterator[Any]:
    """Fit and store what the live decision uses: on the sets named, else on every judged one."""
    store = warehouse.store()
    sets = list(escalation.learn_from) or judged_sets(store, comparison)
    if not sets:
        raise ValueError(
            f"no set is judged on {comparison.cheap} and {comparison.deep}; `apportion run` one first"
        )
    _, card = fit_and_save(store, warehouse, sets, comparison)
    for name in ("benefit_model", "cost_model"):
        yield dg.MaterializeResult(asset_key=name, metadata={**card, "sets": ", ".join(sets)})


def predict_set(
    store: Store, warehouse: Warehouse, outcome_set: str, comparison: Comparison, escalation: Escalation
) -> tuple[pl.DataFrame, np.ndarray, np.ndarray, str]:
    """Features of a set, predicted gain and cost of each question's deep call, and what predicted them.

    Questions with held-out predictions of their own keep these, unless sets are named to learn from.

    Raises:
        ValueError: the set has no cheap answers, or no judged set is there to learn from.
    """
    where = pair_slice(outcome_set, comparison)
    known = store.read("features", where)
    if known.is_empty():
        raise ValueError(f"set {outcome_set!r} has no {comparison.cheap} answers; `apportion run` it first")
    own = held_out_predictions(store, outcome_set, comparison)
    kept = known.select("question_id").join(
        own.clear() if escalation.learn_from else own, on="question_id", how="left", maintain_order="left"
    )
    gain, cost, held_out = kept["gain"].to_numpy(), kept["cost"].to_numpy(), kept["gain"].is_not_null()
    if held_out.all():
        return known, bounded(gain), cost, "held-out predictions of the set itself"
    sets = sets_to_learn_from(store, outcome_set, comparison, escalation.learn_from)
    # Equal data and versions fit nothing; anything else is fitted anew, so that no decision rests on old grades.
    folder, _ = fit_and_save(store, warehouse, sets, comparison)
    models = load_models(folder)
    told = (
        known
        if comparison.gain_model == PAPER_MODEL
        else features_with_texts(store, outcome_set, comparison, known)
    )
    fitted = f"{comparison.gain_model} fitted on {', '.join(sets)}"
    return (
        known,
        bounded(np.where(held_out.to_numpy(), gain, models.predict_gain(told))),
        np.where(held_out.to_numpy(), cost, models.predict_cost(known)),
        f"held-out predictions of the set itself for {held_out.sum()} questions, for the others {fitted}"
        if held_out.any()
        else fitted,
    )


def bounded(gain: np.ndarray) -> np.ndarray:
    """Predicted gains within [-1, 1], shape (n,).

    A gain is the difference of two qualities in [0, 1], but a ridge knows no bounds: on signals unlike those it learnt
    from it predicts gains that there are none of. Evaluations keep predictions as the paper's model gives them.
    """
    within: np.ndarray = np.clip(gain, -1.0, 1.0)
    return within


def make_plan(
    store: Store,
    warehouse: Warehouse,
    outcome_set: str,
    answering: Answering,
    comparison: Comparison,
    escalation: Escalation,
) -> tuple[Plan, str]:
    """The plan of an escalation, and what its predictions come from."""
    known, gain, cost, origin = predict_set(store, warehouse, outcome_set, comparison, escalation)
    model = generator_model(store, outcome_set, None)
    price = answering.price_table().price(model)
    usd = None if price is None else expected_usd(price, known, cost)
    plan = plan_escalation(
        known,
        gain,
        cost,
        usd,
        policy=escalation.policy,
        budget=escalation.budget,
        tokens=escalation.tokens,
        usd=escalation.usd,
    )
    return plan, origin


def expected_usd(price: Price, known: pl.DataFrame, cost: np.ndarray) -> np.ndarray:
    """What each deep call is expected to cost, shape (n,).

    Args:
        price: of the model.
        known: features of the pair.
        cost: predicted tokens, shape (n,).
    """
    # What a document-routed system will read is known only once it has searched: nearly all of it is prompt.
    prompt = np.fmin(known["deep_prompt_tokens"].cast(pl.Float64).to_numpy(), np.rint(cost)).astype(np.int64)
    output = np.maximum(np.rint(cost).astype(np.int64) - prompt, 0)
    return np.array([price.expected(int(p), int(o)) for p, o in zip(prompt, output, strict=True)])


def escalation_budget(outcome_set: str, comparison: Comparison, escalation: Escalation, plan: Plan) -> Budget:
    """The cap of a set's escalation; what earlier runs of it spent counts, so that a resumed one stays within it."""
    return Budget(
        f"escalate:{outcome_set}:{comparison.cheap}:{comparison.deep}",
        tokens=plan.limit_tokens,
        usd=plan.limit_usd,
        hard=escalation.hard_cap,
        risk=escalation.risk,
    )


@dg.asset(
    group_name="live",
    partitions_def=outcome_sets,
    deps=["questions", "retrievals", "route_outcomes", "features", "predictions"],
    check_specs=specs("final_answers"),
    metadata={"dagster/column_schema": column_schema("final_answers")},
    kinds={"deltalake", "litellm"},
)
def final_answers(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    answering: Answering,
    comparison: Comparison,
    escalation: Escalation,
) -> Iterator[Any]:
    """Make the deep calls that the budget buys, and give each question its final answer."""
    store = warehouse.store()
    outcome_set = context.partition_key
    plan, origin = make_plan(store, warehouse, outcome_set, answering, comparison, escalation)
    wanted = plan.selected["question_id"].to_list()
    planned = deep_calls(store, outcome_set, answering, comparison, wanted)
    budget = escalation_budget(outcome_set, comparison, escalation, plan)
    calls = [(deep.request, deep.purpose) for deep in planned]
    gateway = answering.gateway(warehouse.ledger_path(), budget)
    try:
        with track(f"escalating {outcome_set}: {describe(gateway.expected(calls))}", len(calls)) as advance:
            results = gateway.complete_many(calls, progress=lambda done, total, result: advance(done))
    finally:
        gateway.close()
    deep = {plan.question_id: (plan, result) for plan, result in zip(planned, results, strict=True)}
    rows = _final_rows(store, outcome_set, comparison, plan, deep)
    sent = sum(not result.served and result.status != "left_out" for result in results)
    yield from publish(
        context,
        store,
        "final_answers",
        with_pair(rows, outcome_set, comparison),
        pair_slice(outcome_set, comparison),
        inputs={"features": None, "route_outcomes": None, "retrievals": None, "predictions": None},
        arguments={"policy": escalation.policy, "predictions": origin, "hard_cap": escalation.hard_cap},
        metadata={"answers_sent": sent, "budget_name": budget.name, "predictions": origin},
    )


def deep_calls(
    store: Store, outcome_set: str, answering: Answering, comparison: Comparison, wanted: Sequence[str]
) -> list[PlannedAnswer]:
    """The deep calls of the questions wanted, in that order."""
    asked = set_questions(store, outcome_set).filter(pl.col("question_id").is_in(list(wanted)))
    ranked = store.read(
        "retrievals", {"outcome_set": outcome_set, "retriever": answering.retriever, "pool": answering.pool}
    ).filter(pl.col("question_id").is_in(list(wanted)) & (pl.col("rank") <= DEPTHS.get(comparison.deep, 0)))
    contexts = None
    if comparison.deep in SYSTEMS:
        from assets.systems import searched_contexts

        contexts = {comparison.deep: searched_contexts(store, answering, asked, outcome_set, comparison.deep)}
    planned = plan_answers(
        asked,
        ranked,
        retrieved_pages(store, outcome_set, ranked),
        [comparison.deep],
        generator_model(store, outcome_set, None),
        system_contexts=contexts,
    )
    place = {question: i for i, question in enumerate(wanted)}
    return sorted(planned, key=lambda p: place[p.question_id])


def _final_rows(
    store: Store,
    outcome_set: str,
    comparison: Comparison,
    plan: Plan,
    deep: dict[str, tuple[PlannedAnswer, Any]],
) -> pl.DataFrame:
    cheap = {
        row["question_id"]: row
        for row in store.read("route_outcomes", {"outcome_set": outcome_set})
        .filter(pl.col("route") == comparison.cheap)
        .iter_rows(named=True)
    }
    rows = []
    for item in plan.rows.iter_rows(named=True):
        question = item["question_id"]
        row, decision, made = (
            cheap[question],
            "same_context" if item["same_context"] else "not_selected",
            None,
        )
        if question in deep:
            made = outcome_row(*deep[question])
            if made["status"] == "left_out":
                decision, made = "left_out", None
            elif made["status"] == "ok":
                row, decision = made, "escalated"
            else:
                decision = "escalation_failed"
        rows.append(
            {
                **{
                    n: row[n]
                    for n in (
                        "question_id",
                        "route",
                        "model",
                        "answer",
                        "confidence",
                        "status",
                        "context",
                        "quotes",
                    )
                },
                "decision": decision,
                "predicted_gain": item["predicted_gain"],
                "predicted_cost": item["predicted_cost"],
                "realised_cost": made["total_tokens"] if made else None,
                "usage_source": made["usage_source"] if made else None,
                "cost_usd": made["cost_usd"] if made else None,
            }
        )
    schema = {
        n: t
        for n, t in TABLES["final_answers"].schema.items()
        if n not in ("outcome_set", "cheap_route", "deep_route")
    }
    return pl.DataFrame(rows, schema=schema, infer_schema_length=None)

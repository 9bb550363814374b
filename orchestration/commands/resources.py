"""`apportion resources`: the same allocation with the budget in money or latency, or in several resources at once."""

from __future__ import annotations

from typing import Any

import polars as pl

from apportion.evaluation.policy_tables import policy_comparison, policy_summary
from apportion.evaluation.resources import RESOURCES, amount_predictions, in_resource, several_summary
from apportion.evaluation.sweep import sweep_policies
from apportion.prediction.cost import RidgeCost
from assets.decisions import pair_slice, read_pairs
from assets.resources import Comparison
from orchestration.app import CallError
from orchestration.commands.checking import check_answered, check_grades, check_set
from orchestration.output import Format, say, show
from warehouse.store import Store

SHOWN = (
    "policy",
    "budget_fraction",
    "accuracy",
    "quality",
    "spent_per_question",
    "escalated_share",
    "helped",
    "hurt",
    "quality_over_gain_only",
    "ci_low",
    "ci_high",
)


def resources(outcome_set: str, named: list[str], comparison: dict[str, Any], layout: Format) -> None:
    """Print what each policy buys when budgets count a resource, or what several caps at once allow.

    Reads the log and the stored benefit predictions; nothing is written and no model is called.

    Raises:
        CallError: there is no such resource, set or route, or the pair isn't evaluated.
        ValueError: the log lacks the resource.
    """
    unknown = [name for name in named if name not in RESOURCES]
    if unknown or not named:
        raise CallError(f"--resource {','.join(named)}: resources: {', '.join(RESOURCES)}")
    check_set(outcome_set)
    pair = Comparison(**comparison)
    check_answered(outcome_set, pair.cheap, pair.deep)
    check_grades(pair.judge, outcome_set)
    store = Store()
    where = pair_slice(outcome_set, pair)
    gains = store.read("predictions", where).filter(
        (pl.col("target") == "gain") & (pl.col("model") == pair.gain_model)
    )
    if gains.is_empty():
        raise CallError(
            f"set {outcome_set!r} has no predictions of {pair.gain_model} for {pair.cheap} to {pair.deep}; "
            f"make them with `apportion evaluate --set {outcome_set} --cheap {pair.cheap} --deep {pair.deep}`"
        )
    features = store.read("features", where)
    outcomes = store.read("route_outcomes", {"outcome_set": outcome_set})
    graded = read_pairs(store, outcome_set, pair, costed=False)
    counted = {}
    for name in dict.fromkeys(named):
        pairs = in_resource(graded, outcomes, pair.cheap, pair.deep, RESOURCES[name])
        counted[name] = (pairs, amount_predictions(pairs, features))
        if RESOURCES[name].caution:
            say(RESOURCES[name].caution)
        if pairs.left_out:
            say(f"{pairs.left_out} questions left out: not graded on both routes, or {name} not logged")
    title = f"Set {outcome_set}, {pair.cheap} to {pair.deep}"
    if len(counted) > 1:
        show(
            several_summary(counted, gains, pair.budgets),
            layout,
            title=f"{title}; caps on {' and '.join(counted)}",
        )
        return
    ((name, (pairs, amounts)),) = counted.items()
    sweep = sweep_policies(
        pairs,
        features,
        pl.concat([gains.select(amounts.columns), amounts], how="vertical_relaxed"),
        gain_model=pair.gain_model,
        cost_model=RidgeCost.name,
        budgets=pair.budgets,
    )
    against = policy_comparison(sweep, baselines=("gain_only",)).filter(pl.col("metric") == "quality")
    rows = (
        policy_summary(sweep)
        .rename({"tokens_per_question": "spent_per_question"})
        .join(
            against.select(
                "policy",
                "budget_fraction",
                pl.col("difference").alias("quality_over_gain_only"),
                "ci_low",
                "ci_high",
            ),
            on=["policy", "budget_fraction"],
            how="left",
            maintain_order="left",
        )
        .with_columns(resource=pl.lit(name), unit=pl.lit(RESOURCES[name].unit))
    )
    show(rows, layout, title=f"{title}; budgets and spending in {RESOURCES[name].unit}", columns=SHOWN)

"""What judged sets tell a live decision: held-out predictions of their own, and which of them teach a set."""

from collections.abc import Sequence

import polars as pl

from apportion.prediction.cost import COST_MODEL_IN_USE
from assets.answered import answered_ranking
from assets.decisions import pair_slice
from assets.resources import Comparison
from warehouse.store import Store


def judged_sets(store: Store, comparison: Comparison) -> list[str]:
    """The sets that have held-out predictions for the pair, so that models can be fitted on them.

    Of a set whose calls on these routes all failed there is nothing to learn.
    """
    of_pair = store.scan("predictions").filter(
        (pl.col("cheap_route") == comparison.cheap) & (pl.col("deep_route") == comparison.deep)
    )
    listed = of_pair.select(pl.col("outcome_set").unique().sort()).collect()["outcome_set"].to_list()
    failed = (
        store.scan("route_outcomes")
        .filter(pl.col("route").is_in([comparison.cheap, comparison.deep]))
        .group_by("outcome_set")
        .agg((pl.col("status") == "ok").any().alias("ok"))
        .filter(~pl.col("ok"))
        .collect()["outcome_set"]
        .to_list()
    )
    return [name for name in listed if name not in failed]


def held_out_predictions(store: Store, outcome_set: str, comparison: Comparison) -> pl.DataFrame:
    """``question_id``, ``gain`` and ``cost`` (tokens) of the questions that an evaluation predicted both of."""
    rows = (
        store.read("predictions", pair_slice(outcome_set, comparison))
        .filter(pl.col("model").is_in([comparison.gain_model, COST_MODEL_IN_USE]))
        .group_by("question_id", "target")
        .agg(pl.col("predicted").mean())
    )
    gain, cost = (
        rows.filter(pl.col("target") == target).select("question_id", pl.col("predicted").alias(target))
        for target in ("gain", "cost")
    )
    return gain.join(cost, on="question_id").drop_nulls()


def is_decided_by_itself(store: Store, outcome_set: str, comparison: Comparison) -> bool:
    """Whether every cheap answer of a set has held-out predictions, so that nothing has to be learnt elsewhere."""
    cheap = store.read("route_outcomes", {"outcome_set": outcome_set}).filter(
        pl.col("route") == comparison.cheap
    )
    return set(cheap["question_id"]) <= set(
        held_out_predictions(store, outcome_set, comparison)["question_id"]
    )


def sets_to_learn_from(
    store: Store, outcome_set: str, comparison: Comparison, named: Sequence[str] = ()
) -> list[str]:
    """The sets that teach what a set's held-out predictions don't tell.

    Those named; else every judged set that was answered from the same ranking, since scores of two retrievers are on
    scales of their own. Logs of elsewhere have no ranking, and neither teach less nor learn less for it. A set that is
    judged in part teaches its other questions too, as long as its judged ones have held-out predictions.

    Raises:
        ValueError: there is none.
    """
    if named:
        return list(named)
    judged, pair = judged_sets(store, comparison), f"from {comparison.cheap} to {comparison.deep}"
    if not judged:
        raise ValueError(
            f"no set is evaluated {pair}, so that there is nothing to learn from; "
            "`apportion run` one with reference answers first"
        )
    ranking = answered_ranking(store, outcome_set)
    own = not held_out_predictions(store, outcome_set, comparison).is_empty()
    sets = [
        name
        for name in judged
        if (own if name == outcome_set else not ranking or answered_ranking(store, name) in ({}, ranking))
    ]
    if not sets and outcome_set in judged:
        raise ValueError(
            f"set {outcome_set!r} has no predictions by {comparison.gain_model} {pair}; `apportion evaluate --set "
            f"{outcome_set} --gain-model {comparison.gain_model}` makes them"
        )
    if not sets:
        asked = " ".join(f"--{name} {value}" for name, value in ranking.items())
        raise ValueError(
            f"set {outcome_set!r} was answered from {' and '.join(ranking.values())}, and no such set is evaluated "
            f"{pair}; `apportion run {asked}` one with reference answers, such as `--set sample`, or name others with "
            f"--learn-from, at the risk that their scores differ in scale (evaluated are: {', '.join(judged)})"
        )
    return sets

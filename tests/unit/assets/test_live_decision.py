"""The live decision: what calls are priced at, and gains by a stored benefit model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from commandline import CommandLine

from apportion.llm.prices import PriceTable
from assets.judged import held_out_predictions, judged_sets
from assets.live import expected_usd, predict_set
from assets.resources import Comparison, Escalation, Warehouse
from orchestration.commands.live import say_if_hopeless


def test_a_prompt_that_is_not_known_yet_is_priced_by_its_predicted_tokens() -> None:
    price = PriceTable({"m": {"input": 2.0, "output": 10.0}}).price("m")
    assert price is not None
    known = pl.DataFrame({"deep_prompt_tokens": [None, 300, 900]}, schema={"deep_prompt_tokens": pl.Int64})
    priced = expected_usd(price, known, np.array([500.4, 500.4, 500.4]))
    assert priced == pytest.approx([500 * 2e-6, 300 * 2e-6 + 200 * 10e-6, 500 * 2e-6])


@pytest.mark.parametrize(("gains", "said"), [([-1.0, 0.0], True), ([-1.0, 0.1], False), ([], False)])
def test_calls_that_promise_nothing_are_told(
    capsys: pytest.CaptureFixture[str], gains: list[float], said: bool
) -> None:
    say_if_hopeless(pl.Series(gains, dtype=pl.Float64))
    assert ("every predicted gain is at or below 0" in capsys.readouterr().err) == said


def test_a_stored_benefit_model_decides_on_a_set(
    apportion: CommandLine, tiny_run: Callable[[CommandLine], CommandLine]
) -> None:
    warehouse = Warehouse(root=str(tiny_run(apportion).warehouse))
    learnt = Escalation(learn_from=["tiny"])
    known, gain, cost, origin = predict_set(
        warehouse.store(), warehouse, "tiny", Comparison(gain_model="weighted"), learnt
    )
    assert origin == "weighted fitted on tiny"
    assert len(gain) == len(cost) == known.height == 24
    assert np.isfinite(gain).all()
    folder = warehouse.models_folder(["tiny"], "top1", "top5", "weighted")
    written = (folder / "models.skops").stat().st_mtime_ns
    _, again, _, _ = predict_set(
        warehouse.store(), warehouse, "tiny", Comparison(gain_model="weighted"), learnt
    )
    assert np.array_equal(gain, again)
    # Equal data and versions fit nothing.
    assert (folder / "models.skops").stat().st_mtime_ns == written


def test_a_set_judged_in_part_decides_the_rest_by_what_its_own_grades_teach(
    apportion: CommandLine, tiny_run: Callable[[CommandLine], CommandLine]
) -> None:
    warehouse = Warehouse(root=str(tiny_run(apportion).warehouse))
    store, pair = warehouse.store(), Comparison()
    judged = ~pl.col("question_id").str.contains("^tiny_0[0-2]_")
    (judge,) = store.read("route_quality", {"outcome_set": "tiny"})["judge"].unique()
    slices = {
        "predictions": {"outcome_set": "tiny", "cheap_route": "top1", "deep_route": "top5"},
        "route_quality": {"outcome_set": "tiny", "judge": judge},
    }
    for table, where in slices.items():
        rows = store.read(table, where).filter(judged)
        if table == "predictions":
            # What a ridge may come to on signals unlike those it learnt from.
            far = pl.when(pl.col("target") == "gain").then(pl.lit(-2.5)).otherwise("predicted")
            rows = rows.with_columns(far.alias("predicted"))
        store.write_slice(table, rows, where, {"slice": where, "asset_partition": "tiny", "arguments": {}})
    known, gain, cost, origin = predict_set(store, warehouse, "tiny", pair, Escalation())
    assert origin == (
        "held-out predictions of the set itself for 18 questions, for the others ridge_boosting fitted on tiny"
    )
    own = known.select(judged).to_series().to_numpy()
    assert (gain[own] == -1).all()
    told = held_out_predictions(store, "tiny", pair).sort("question_id")
    order = known["question_id"].filter(own).arg_sort().to_numpy()
    assert np.array_equal(cost[own][order], told["cost"].to_numpy())
    assert (np.abs(gain[~own]) <= 1).all()
    assert np.isfinite(cost).all()


def test_a_set_whose_calls_all_failed_teaches_nothing(
    apportion: CommandLine, tiny_run: Callable[[CommandLine], CommandLine]
) -> None:
    store, pair = Warehouse(root=str(tiny_run(apportion).warehouse)).store(), Comparison()
    where = {"outcome_set": "tiny"}
    assert judged_sets(store, pair) == ["tiny"]
    outcomes = store.read("route_outcomes", where)
    one_good = outcomes.with_columns(
        pl.when((pl.col("route") == "top5").cum_sum() == 1)
        .then("status")
        .otherwise(pl.lit("failed"))
        .alias("status")
    )
    store.write_slice("route_outcomes", one_good, where)
    assert judged_sets(store, pair) == ["tiny"]
    store.write_slice("route_outcomes", outcomes.with_columns(status=pl.lit("failed")), where)
    assert judged_sets(store, pair) == []

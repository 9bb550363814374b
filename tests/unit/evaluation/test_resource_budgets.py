"""Budgets in money or latency: amounts from the log, held-out predictions, caps that hold."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from apportion.evaluation.pairs import Pairs
from apportion.evaluation.resources import RESOURCES, amount_predictions, in_resource, several_summary
from apportion.prediction.training import grouped_folds

N = 60


@pytest.fixture
def pairs() -> Pairs:
    rng = np.random.default_rng(5)
    ids = [f"q{i:02d}" for i in range(N)]
    return Pairs(
        pl.DataFrame(
            {
                "question_id": ids,
                "group": [f"filing {i % 12}" for i in range(N)],
                "cheap_quality": rng.random(N),
                "deep_quality": rng.random(N),
                "cheap_tokens": np.full(N, 100),
                "deep_tokens": rng.integers(500, 4000, N),
            }
        ),
        left_out=1,
    )


@pytest.fixture
def outcomes(pairs: Pairs) -> pl.DataFrame:
    deep = pairs.values("deep_tokens")
    both = [
        pl.DataFrame(
            {
                "question_id": pairs.frame["question_id"],
                "route": route,
                "total_tokens": tokens.astype(np.int64),
                "cost_usd": tokens * 1.5e-7,
                "latency_ms": tokens / 7,
            }
        )
        for route, tokens in (("small", np.full(N, 100.0)), ("large", deep))
    ]
    unknown = (pl.col("question_id") == "q07") & (pl.col("route") == "large")
    return pl.concat(both).with_columns(pl.when(~unknown).then("cost_usd").alias("cost_usd"))


@pytest.fixture
def features(pairs: Pairs) -> pl.DataFrame:
    return pairs.frame.select("question_id", score_first=pl.col("deep_tokens") / 4000.0)


def test_amounts_are_whole_units_and_unknown_ones_are_left_out(pairs: Pairs, outcomes: pl.DataFrame) -> None:
    money = in_resource(pairs, outcomes, "small", "large", RESOURCES["usd"])
    assert len(money) == N - 1
    assert money.left_out == 2
    assert "q07" not in money.frame["question_id"]
    dollars = pairs.frame.filter(pl.col("question_id") != "q07")["deep_tokens"].to_numpy() * 1.5e-7
    assert np.abs(money.values("deep_tokens") - dollars * 1e6).max() <= 0.5 + 1e-6


def test_a_log_without_the_resource_is_refused(pairs: Pairs, outcomes: pl.DataFrame) -> None:
    none = outcomes.with_columns(latency_ms=pl.lit(None, dtype=pl.Float64))
    with pytest.raises(ValueError, match="no question has latency_ms logged on both small and large"):
        in_resource(pairs, none, "small", "large", RESOURCES["latency"])


def test_a_budget_of_what_costs_nothing_is_refused(pairs: Pairs, outcomes: pl.DataFrame) -> None:
    free = outcomes.with_columns(cost_usd=pl.lit(0.0))
    with pytest.raises(ValueError, match="every call of large costs 0 "):
        in_resource(pairs, free, "small", "large", RESOURCES["usd"])


def test_predictions_are_held_out_by_filing(
    pairs: Pairs, outcomes: pl.DataFrame, features: pl.DataFrame
) -> None:
    timed = in_resource(pairs, outcomes, "small", "large", RESOURCES["latency"])
    found = amount_predictions(timed, features, seeds=(11,))
    assert found["fold"].to_list() == grouped_folds(timed.groups, 11).tolist()
    # What a fold's filings took doesn't enter their own predictions.
    fold = (found["fold"] == 0).to_numpy()
    frame = timed.frame.with_columns(
        deep_tokens=pl.Series(np.where(fold, 10**6, timed.values("deep_tokens")).astype(np.int64))
    )
    again = amount_predictions(Pairs(frame, 0), features, seeds=(11,))
    assert found["predicted"].to_numpy()[fold].tolist() == again["predicted"].to_numpy()[fold].tolist()
    assert np.corrcoef(found["predicted"], found["actual"])[0, 1] > 0.9


def test_several_caps_hold_at_once(pairs: Pairs, outcomes: pl.DataFrame, features: pl.DataFrame) -> None:
    counted = {}
    for name in ("tokens", "usd"):
        held = in_resource(pairs, outcomes, "small", "large", RESOURCES[name])
        counted[name] = (held, amount_predictions(held, features, seeds=(11, 22)))
    gains = pl.concat(
        pl.DataFrame({"question_id": pairs.frame["question_id"], "predicted": pairs.gain, "seed": seed})
        for seed in (11, 22)
    )
    made = several_summary(counted, gains, (0.0, 0.2, 1.0), seeds=(11, 22))
    assert made["questions"].to_list() == [N - 1] * 3
    for name in counted:
        assert (made[f"{name}_spend"] <= made[f"{name}_cap"] + 1e-9).all()
    assert (made["gap"] >= -1e-9).all()
    assert made["escalated_share"][0] == 0.0
    # With room for everybody, exactly those are escalated who are predicted to gain.
    positive = np.delete(pairs.gain, 7) > 0
    assert made["escalated_share"][2] == pytest.approx(positive.mean())
    assert made["quality_gained"][2] == pytest.approx(np.delete(pairs.gain, 7)[positive].sum() / (N - 1))

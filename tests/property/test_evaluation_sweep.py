"""What must hold of every sweep, whatever the outcomes and predictions."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
import worlds
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.allocation.policies import ORACLE_POLICIES
from apportion.evaluation.policy_tables import (
    policy_comparison,
    policy_frontier,
    policy_summary,
    selection_overlap,
)
from apportion.evaluation.sweep import BUDGETS, Sweep, order_frames, selection_frames, sweep_policies

GREEDY = ("refusal", "random", "low_confidence", "low_margin", "gain_only", "gain_per_token")


def swept(seed: int, n: int = 30, *, perfect: bool = False) -> Sweep:
    world = worlds.pairs(n, seed=seed)
    return sweep_policies(
        world,
        worlds.features(world, seed + 1),
        worlds.predictions(world, perfect=perfect, seed=seed + 2),
        gain_model="ridge_boosting",
        cost_model="exact_prompt",
    )


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_budgets_hold_and_the_ends_are_the_routes(seed: int) -> None:
    sweep = swept(seed)
    summary = policy_summary(sweep)
    assert (summary["predicted_spend"] <= summary["predicted_budget"]).all()
    cheap, deep = sweep.pairs.values("cheap_quality").mean(), sweep.pairs.values("deep_quality").mean()
    at_zero = summary.filter(pl.col("budget_fraction") == 0)
    assert at_zero["quality"].to_list() == pytest.approx([cheap] * len(sweep.policies))
    assert at_zero["selected_calls"].sum() == 0
    whole = summary.filter((pl.col("budget_fraction") == 1) & pl.col("policy").is_in(GREEDY))
    assert whole["quality"].to_list() == pytest.approx([deep] * len(GREEDY))
    assert whole["escalated_share"].to_list() == [1.0] * len(GREEDY)
    overlap = selection_overlap(sweep).filter(
        (pl.col("budget_fraction") == 1) & pl.col("policy_a").is_in(GREEDY) & pl.col("policy_b").is_in(GREEDY)
    )
    assert overlap["jaccard"].to_list() == [1.0] * overlap.height


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000))
def test_no_policy_beats_the_exact_oracle_at_the_same_spend(seed: int) -> None:
    """The oracle at a policy's own realised spend, found by trying every selection."""
    sweep = swept(seed, n=9)
    gain, cost = sweep.pairs.gain, sweep.pairs.values("deep_tokens")
    subsets = np.array(list(itertools.product([0, 1], repeat=9)))
    spends, gains = subsets @ cost, subsets @ gain
    for p, s, b in np.ndindex(sweep.chosen.shape[:3]):
        chosen = sweep.chosen[p, s, b]
        best = gains[spends <= cost[chosen].sum() + 1e-9].max()
        assert gain[chosen].sum() <= best + 1e-9, sweep.policies[p]
    oracle = sweep.policies.index("oracle")
    for s, b in np.ndindex(sweep.chosen.shape[1:3]):
        best = gains[spends <= sweep.limits[oracle, s, b]].max()
        assert gain[sweep.chosen[oracle, s, b]].sum() == pytest.approx(best)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000), st.randoms(use_true_random=False))
def test_the_order_of_rows_changes_nothing(seed: int, shuffler: object) -> None:
    world = worlds.pairs(25, seed=seed)
    features, predictions = worlds.features(world), worlds.predictions(world)
    draw = np.random.default_rng(seed)
    mixed = [frame[draw.permutation(frame.height)] for frame in (features, predictions)]
    options = {"gain_model": "ridge_boosting", "cost_model": "exact_prompt"}
    straight = sweep_policies(world, features, predictions, **options)
    shuffled = sweep_policies(world, *mixed, **options)
    assert np.array_equal(straight.chosen, shuffled.chosen)


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
def test_a_sweep_read_back_from_its_tables_is_the_same(seed: int) -> None:
    world = worlds.pairs(25, seed=seed)
    features, predictions = worlds.features(world), worlds.predictions(world)
    options = {"gain_model": "ridge_boosting", "cost_model": "exact_prompt"}
    made = sweep_policies(world, features, predictions, **options)
    bought = pl.concat(selection_frames(made, "top5"))
    again = sweep_policies(world, features, predictions, bought=bought, **options)
    assert np.array_equal(made.chosen, again.chosen)
    assert policy_summary(again).equals(policy_summary(made))


def test_summary_against_a_plain_count() -> None:
    """The published row of one policy and budget, from loops over questions and seeds."""
    sweep = swept(3)
    frame = sweep.pairs.frame.to_dicts()
    p, b = sweep.policies.index("gain_per_token"), 2
    per_seed = []
    for s in range(len(sweep.seeds)):
        chosen = sweep.chosen[p, s, b]
        final = [
            row["deep_quality"] if x else row["cheap_quality"] for row, x in zip(frame, chosen, strict=True)
        ]
        tokens = [
            row["cheap_tokens"] + (row["deep_tokens"] if x else 0)
            for row, x in zip(frame, chosen, strict=True)
        ]
        helped = sum(
            x and not row["cheap_correct"] and row["deep_correct"]
            for row, x in zip(frame, chosen, strict=True)
        )
        per_seed.append((np.mean(final), np.mean(tokens), helped, chosen.sum()))
    quality, tokens_, helped_, calls = np.mean(per_seed, axis=0)
    row = policy_summary(sweep).filter(
        (pl.col("policy") == "gain_per_token") & (pl.col("budget_fraction") == BUDGETS[b])
    )
    assert row["quality"].item() == pytest.approx(quality)
    assert row["tokens_per_question"].item() == pytest.approx(tokens_)
    assert row["helped"].item() == pytest.approx(helped_)
    assert row["selected_calls"].item() == pytest.approx(calls)
    assert row["helped"].item() + row["hurt"].item() + row["neutral"].item() == pytest.approx(calls)


def test_differences_pair_and_carry_their_interval() -> None:
    sweep = swept(5, n=60)
    compared = policy_comparison(sweep, resamples=300)
    summary = policy_summary(sweep)
    row = compared.filter(
        (pl.col("policy") == "gain_per_token")
        & (pl.col("baseline") == "gain_only")
        & (pl.col("metric") == "quality")
        & (pl.col("budget_fraction") == 0.2)
    )
    at = summary.filter(pl.col("budget_fraction") == 0.2)
    quality = dict(at.select("policy", "quality").iter_rows())
    assert row["difference"].item() == pytest.approx(quality["gain_per_token"] - quality["gain_only"])
    assert row["ci_low"].item() <= row["difference"].item() <= row["ci_high"].item()
    whole = compared.filter(
        (pl.col("budget_fraction") == 1)
        & (pl.col("policy") == "gain_per_token")
        & (pl.col("baseline") == "gain_only")
    )
    assert whole.select("difference", "ci_low", "ci_high").unique().row(0) == (0.0, 0.0, 0.0)


def test_one_filing_has_no_interval() -> None:
    world = worlds.pairs(20, filings=1)
    sweep = sweep_policies(
        world,
        worlds.features(world),
        worlds.predictions(world),
        gain_model="ridge_boosting",
        cost_model="exact_prompt",
    )
    compared = policy_comparison(sweep, resamples=50)
    assert compared["ci_low"].null_count() == compared.height
    assert policy_frontier(sweep, resamples=50)["ci_low"].null_count() == len(sweep.policies) * len(BUDGETS)


def test_orders_hold_every_question_once() -> None:
    sweep = swept(7)
    orders = pl.concat(order_frames(sweep))
    assert orders.group_by("policy", "seed").agg(pl.col("question_id").n_unique())[
        "question_id"
    ].unique().to_list() == [30]
    assert set(orders["policy"]) == set(GREEDY)
    models = dict(orders.select("policy", "gain_model").unique().iter_rows())
    assert models["gain_only"] == "ridge_boosting"
    assert models["random"] == ""
    assert set(ORACLE_POLICIES).isdisjoint(models)


def test_a_question_without_a_prediction_is_named() -> None:
    world = worlds.pairs(10)
    predictions = worlds.predictions(world).filter(pl.col("question_id") != "q0004")
    with pytest.raises(ValueError, match=r"no gain prediction .* 'q0004'"):
        sweep_policies(
            world, worlds.features(world), predictions, gain_model="ridge_boosting", cost_model="exact_prompt"
        )

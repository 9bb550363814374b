"""One of several deep routes a question: budgets hold, one deep route is the pair's sweep, the oracle is the best."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest
import worlds
from hypothesis import example, given, settings
from hypothesis import strategies as st

from apportion.evaluation.many import ManyRoutes, ManySweep, many_selection_frames, sweep_many
from apportion.evaluation.pairs import Pairs
from apportion.evaluation.policy_tables import (
    policy_comparison,
    policy_frontier,
    policy_summary,
    selection_overlap,
)
from apportion.evaluation.sweep import BUDGETS, sweep_policies

NAMES = {"gain_model": "ridge_boosting", "cost_model": "exact_prompt"}
CHEAP = ("cheap_quality", "cheap_correct", "cheap_tokens")


def several(
    seed: int, n: int, count: int = 2, *, perfect: bool = False
) -> tuple[dict[str, Pairs], ManySweep]:
    """Pairs that share their cheap outcomes, and their sweep."""
    first = worlds.pairs(n, seed=seed)
    pairs = {"deep0": first}
    for number in range(1, count):
        other = worlds.pairs(n, seed=seed + 1000 * number)
        frame = other.frame.with_columns(first.frame.select("group", *CHEAP))
        dearer = pl.col("deep_tokens") * (number + 1)
        pairs[f"deep{number}"] = Pairs(frame.with_columns(dearer, deep_input_tokens=dearer), other.left_out)
    told = {
        route: worlds.predictions(pair, perfect=perfect, seed=seed + 2 + number)
        for number, (route, pair) in enumerate(pairs.items())
    }
    return pairs, sweep_many(ManyRoutes.of(pairs), worlds.features(first, seed + 1), told, **NAMES)


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10_000))
def test_budgets_hold_and_what_is_bought_can_be_read_back(seed: int) -> None:
    _, sweep = several(seed, 20, 3)
    summary = policy_summary(sweep)
    assert (summary["predicted_spend"] <= summary["predicted_budget"]).all()
    assert summary.filter(pl.col("budget_fraction") == 0)["selected_calls"].sum() == 0
    calls = summary["helped"] + summary["hurt"] + summary["neutral"]
    assert calls.to_list() == pytest.approx(summary["selected_calls"].to_list())
    rows = pl.concat(many_selection_frames(sweep), how="vertical_relaxed")
    assert not rows.select("policy", "budget_fraction", "seed", "question_id").is_duplicated().any()
    told = {route: worlds.predictions(worlds.pairs(20, seed=seed), seed=seed) for route in sweep.log.routes}
    read = sweep_many(sweep.log, worlds.features(worlds.pairs(20, seed=seed), 1), told, bought=rows, **NAMES)
    assert (read.arms == sweep.arms).all()


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 10_000))
@example(3193)  # two choices with the oracle's best gain, at different costs
def test_with_one_deep_route_the_tables_are_the_pairs(seed: int) -> None:
    """But for gain per token, whose path buys nothing without gain, and for which of equal choices the oracle takes."""
    pairs, sweep = several(seed, 20, 1)
    world = pairs["deep0"]
    pair = sweep_policies(
        world, worlds.features(world, seed + 1), worlds.predictions(world, seed=seed + 2), **NAMES
    )
    for table in (policy_summary, policy_frontier):
        one, other = (table(s) for s in (sweep, pair))
        name = "name" if "name" in one.columns else "policy"
        for column in one.columns:
            if one.schema[column].is_numeric():
                tied = [] if column == "quality" else ["oracle"]
                kept = ~pl.col(name).is_in(["gain_per_token", *tied])
                assert one.filter(kept)[column].to_list() == pytest.approx(
                    other.filter(kept)[column].to_list(), nan_ok=True
                ), column
    same = (pl.col("policy") != "gain_per_token") & (
        (pl.col("metric") == "quality") | ~pl.any_horizontal(pl.col("policy", "baseline") == "oracle")
    )
    a, b = (policy_comparison(s, resamples=50).filter(same) for s in (sweep, pair))
    assert a["difference"].to_list() == pytest.approx(b["difference"].to_list())


@settings(max_examples=10, deadline=None)
@given(st.integers(0, 10_000))
def test_the_oracle_is_the_best_of_all_choices(seed: int) -> None:
    _, sweep = several(seed, 5)
    log, p = sweep.log, sweep.policies.index("oracle")
    every = np.array(list(itertools.product(range(3), repeat=5)))
    spent = np.where(every > 0, log.tokens[np.arange(5), every], 0).sum(axis=1)
    worth = log.quality[np.arange(5), every].sum(axis=1)
    for b in range(len(BUDGETS)):
        best = worth[spent <= sweep.limits[p, 0, b]].max()
        got = log.quality[np.arange(5), sweep.arms[p, 0, b]].sum()
        assert got == pytest.approx(best)


def test_gain_per_token_with_perfect_foresight_beats_each_single_route() -> None:
    pairs, sweep = several(3, 120, perfect=True)
    quality = policy_summary(sweep).filter(
        (pl.col("policy") == "gain_per_token") & (pl.col("budget_fraction") == 0.2)
    )
    limit = float(sweep.limits[sweep.policies.index("gain_per_token"), 0, BUDGETS.index(0.2)])
    for pair in pairs.values():
        ratio = pair.gain / pair.values("deep_tokens")
        order = np.argsort(-ratio)
        taken = order[np.cumsum(pair.values("deep_tokens")[order]) <= limit]
        alone = (pair.values("cheap_quality").sum() + pair.gain[taken].clip(0).sum()) / len(pair)
        assert quality["quality"][0] > alone - 0.01
    overlap = selection_overlap(sweep)
    assert overlap["jaccard"].drop_nulls().is_between(0, 1).all()


def test_questions_lacking_a_route_are_left_out_and_none_left_is_refused() -> None:
    first = worlds.pairs(6, seed=1)
    few = Pairs(worlds.pairs(6, seed=2).frame.with_columns(first.frame.select("group", *CHEAP)).head(4), 2)
    log = ManyRoutes.of({"a": first, "b": few})
    assert (len(log.keys), log.left_out) == (4, 2 + first.left_out if first.left_out else 2)
    with pytest.raises(ValueError, match="on each of a, b"):
        ManyRoutes.of({"a": first, "b": Pairs(few.frame.clear(), 6)})

"""The sweep from Parquet to Parquet against the policies run one by one."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
import worlds

from apportion.allocation.candidates import Candidates
from apportion.allocation.policies import PAPER_POLICIES, POLICIES, budget_levels, policy_order, select
from apportion.allocation.sweep import FRACTIONS, sweep
from apportion.evaluation.sweep import order_frames, selection_frames, sweep_policies


def predictions(n=60):
    frames = []
    for seed in (11, 22):
        rng = np.random.default_rng(seed)
        frames.append(
            pl.DataFrame(
                {
                    "seed": np.full(n, seed),
                    "question_id": [f"q{i:03d}" for i in rng.permutation(n)],
                    "predicted_gain": np.round(rng.normal(0.05, 0.2, n), 1),
                    "predicted_cost": rng.integers(1, 4000, n),
                    "confidence": pl.Series(rng.random(n)).set(pl.Series(rng.random(n) < 0.2), None),
                    "margin": rng.random(n),
                    "realised_gain": np.round(rng.normal(0.05, 0.3, n) * 3) / 3,
                    "realised_cost": rng.integers(1, 4000, n),
                }
            )
        )
    return pl.concat(frames)


def test_writes_what_the_policies_choose(tmp_path):
    table = predictions()
    table.write_parquet(tmp_path / "p.parquet")
    summary = sweep(tmp_path / "p.parquet", tmp_path / "o.parquet", tmp_path / "s.parquet")
    orders, selections = pl.read_parquet(tmp_path / "o.parquet"), pl.read_parquet(tmp_path / "s.parquet")
    assert summary.height == len(PAPER_POLICIES) * len(FRACTIONS) * 2
    for seed in (11, 22):
        rows = table.filter(pl.col("seed") == seed)
        candidates = Candidates(
            rows["question_id"].to_list(),
            *(rows[name].fill_null(float("nan")).to_numpy() if name == "confidence" else rows[name].to_numpy()
              for name in rows.columns[2:]),
        )  # fmt: skip
        names = np.array(rows["question_id"].to_list())
        for policy in PAPER_POLICIES:
            order = policy_order(policy, candidates, seed=seed)
            of_policy = (pl.col("seed") == seed) & (pl.col("policy").cast(pl.String) == policy)
            written = orders.filter(of_policy)
            if order is None:
                assert written.is_empty()
            else:
                assert written["question_id"].cast(pl.String).to_list() == names[order].tolist()
                assert written["position"].to_list() == list(range(60))
            budgets = budget_levels(policy, candidates, FRACTIONS)
            chosen = select(policy, candidates, budgets, seed=seed)
            for fraction, budget, picked in zip(FRACTIONS, budgets, chosen, strict=True):
                got = selections.filter(of_policy & (pl.col("budget_fraction") == fraction))
                assert got["question_id"].cast(pl.String).to_list() == sorted(names[picked].tolist())
                line = summary.filter(of_policy & (pl.col("budget_fraction") == fraction)).row(0, named=True)
                assert line["budget"] == budget
                assert line["selected"] == got.height
                assert line["predicted_spend"] == got["predicted_cost"].sum()
                assert line["realised_spend"] == got["realised_cost"].sum()


def test_the_commands_sweep_chooses_the_same(tmp_path):
    world = worlds.pairs(80, seed=5)
    signals, predicted = worlds.features(world, 6), worlds.predictions(world, seed=7)
    swept = sweep_policies(
        world, signals, predicted, gain_model="ridge_boosting", cost_model="exact_prompt", budgets=FRACTIONS
    )
    said = signals.select(
        "question_id",
        "margin",
        confidence="cheap_confidence",
        refused=pl.col("cheap_refused").cast(pl.Float64),
    )
    rows = [
        pl.DataFrame(
            {
                "seed": seed,
                "question_id": world.frame["question_id"],
                "predicted_gain": swept.predicted_gain[s],
                "predicted_cost": swept.predicted_cost[s],
                "realised_gain": world.gain,
                "realised_cost": world.frame["deep_tokens"],
            }
        ).join(said, on="question_id")
        for s, seed in enumerate(swept.seeds)
    ]
    pl.concat(rows).write_parquet(tmp_path / "p.parquet")
    sweep(tmp_path / "p.parquet", tmp_path / "o.parquet", tmp_path / "s.parquet", policies=POLICIES)
    for file, frames in (
        ("o", order_frames(swept)),
        ("s", selection_frames(swept, "top5")),
    ):
        written = pl.read_parquet(tmp_path / f"{file}.parquet")
        theirs = pl.concat(frames).select(written.columns)
        ours = written.cast(dict(theirs.schema))
        assert ours.height > 0
        assert ours.sort(pl.all()).equals(theirs.sort(pl.all())), file


def test_row_order_changes_no_byte(tmp_path):
    table = predictions()
    written = []
    for name, rows in (("a", table), ("b", table.sample(fraction=1, shuffle=True, seed=1))):
        rows.write_parquet(tmp_path / f"{name}.parquet")
        paths = tmp_path / f"{name}.orders", tmp_path / f"{name}.selections"
        sweep(tmp_path / f"{name}.parquet", *paths)
        written.append([path.read_bytes() for path in paths])
    assert written[0] == written[1]


def test_a_live_batch_has_no_realised_values(tmp_path):
    predictions().drop("realised_gain", "realised_cost").write_parquet(tmp_path / "p.parquet")
    places = tmp_path / "p.parquet", tmp_path / "o.parquet", tmp_path / "s.parquet"
    summary = sweep(*places, policies=["gain_per_token", "knapsack"])
    assert summary["realised_spend"].null_count() == summary.height
    with pytest.raises(ValueError, match="oracle needs realised costs"):
        sweep(*places, policies=["oracle"])


def test_refusals_leave_nothing_behind(tmp_path):
    table = predictions()
    places = tmp_path / "p.parquet", tmp_path / "o.parquet", tmp_path / "s.parquet"
    table.drop("predicted_cost").write_parquet(places[0])
    with pytest.raises(ValueError, match=r"p\.parquet has no column predicted_cost"):
        sweep(*places)
    gains = table["predicted_gain"].to_list()
    table.with_columns(predicted_gain=pl.Series([None, *gains[1:]])).write_parquet(places[0])
    with pytest.raises(
        ValueError, match=f"predicted_gain is missing at key '{table['question_id'][0]}', seed 11"
    ):
        sweep(*places)
    assert [path.name for path in tmp_path.iterdir()] == ["p.parquet"]

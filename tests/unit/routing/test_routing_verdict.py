"""What is said about a stage follows from its rows."""

from __future__ import annotations

import numpy as np
import polars as pl

from apportion.routing.arms import Arms
from apportion.routing.tables import stage_tables
from apportion.routing.verdict import verdict


def said(
    quality: np.ndarray, x: np.ndarray, prices: list[float]
) -> tuple[list[str], dict[str, pl.DataFrame]]:
    n = len(quality)
    keys = [f"q{i:04d}" for i in range(n)]
    cost = np.tile([1.0, 2.0], (n, 1))
    arms = Arms(
        ("a", "b"), keys, quality, cost, [f"f{i // 2}" for i in range(n)], ["u" if v else "v" for v in x]
    )
    tables = stage_tables(arms, pl.DataFrame({"question_id": keys, "x": x.astype(float)}), prices, seeds=(1,))
    named = {
        name: rows.with_columns(pl.lit("front_door").alias("stage"), pl.lit("a,b").alias("routes"))
        for name, rows in tables.items()
    }
    return verdict(named, "front_door"), named


def test_arms_that_never_change_places_make_routing_worthless() -> None:
    quality = np.column_stack([np.full(40, 0.4), np.full(40, 0.6)])
    lines, tables = said(quality, np.arange(40) % 2, [0.0, 0.1])
    assert lines[0].startswith("Routing is worthless")
    assert (tables["routing_gap"]["gap"] == 0).all()
    assert tables["router_summary"]["share_of_gap"].null_count() == tables["router_summary"].height


def test_a_large_learnable_reversal_is_certified_and_found_between_kinds() -> None:
    rng = np.random.default_rng(0)
    x = rng.integers(0, 2, 500)
    quality = (rng.random((500, 2)) < np.where(x[:, None] == [[0, 1]], 0.9, 0.2)).astype(float)
    lines, tables = said(quality, x, [0.0])
    assert lines[0].startswith("Routing pays: a gain over every fixed route is certified at price 0.")
    assert any("reverses between kinds" in line for line in lines)
    certified = tables["router_summary"].filter(pl.col("router") == "certified").row(0, named=True)
    assert certified["certified"]
    assert 0 < certified["gain_at_least"] < certified["gain"] <= certified["gap"]
    assert set(tables["routing_area"]["upper"]) == {"oracle", "fitted"}


def test_luck_is_a_gap_that_is_not_shown_to_pay() -> None:
    rng = np.random.default_rng(1)
    quality = (rng.random((120, 2)) < [0.6, 0.5]).astype(float)
    lines, tables = said(quality, rng.integers(0, 2, 120), [0.0])
    assert tables["routing_gap"]["gap"][0] > 0.1
    assert not lines[0].startswith("Routing pays")
    assert any("No kind of questions is shown" in line for line in lines)

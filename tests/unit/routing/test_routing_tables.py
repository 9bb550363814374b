"""The routing tables pass their checks as they come, and each check finds what it is there for."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from apportion.report.page import render
from apportion.report.routing_section import routing_section
from apportion.routing.arms import Arms
from apportion.routing.tables import stage_tables
from assets.checks import run_checks
from assets.routing import ROUTING_TABLES
from warehouse.contracts import TABLES
from warehouse.store import Store

PRICES = [0.0, 0.05, 0.3]


@pytest.fixture(scope="module")
def tables() -> dict[str, pl.DataFrame]:
    rng = np.random.default_rng(3)
    n = 60
    x = rng.random(n)
    chance = np.column_stack([0.8 - 0.6 * x, 0.2 + 0.6 * x, np.full(n, 0.6)])
    keys = [f"q{i:03d}" for i in range(n)]
    arms = Arms(
        ("a", "b", "<c>"),
        keys,
        (rng.random((n, 3)) < chance).astype(float),
        np.column_stack([0.2 + x, 1 + x, np.full(n, 3.0)]),
        [f"f{i // 3}" for i in range(n)],
        ["k" if i % 2 else "l" for i in range(n)],
    )
    features = pl.DataFrame({"question_id": keys, "x": x})
    found = stage_tables(arms, features, PRICES, seeds=(1, 2))
    return {
        name: TABLES[name].arrange(
            rows.with_columns(
                pl.lit("s").alias("outcome_set"),
                pl.lit("a,b,<c>").alias("routes"),
                pl.lit("front_door").alias("stage"),
            )
        )
        for name, rows in found.items()
    }


@pytest.fixture
def store(warehouse_folder: Path) -> Store:
    return Store()


@pytest.mark.parametrize("table", ROUTING_TABLES)
def test_every_table_passes_its_checks(table: str, tables: dict[str, pl.DataFrame], store: Store) -> None:
    assert [finding.name for finding in run_checks(store, table, tables[table]) if not finding.passed] == []


@pytest.mark.parametrize(
    ("table", "broken", "check"),
    [
        ("routing_gap", {"oracle": pl.col("best_fixed") - 0.1}, "never_negative"),
        ("routing_gap", {"reversal_share": pl.lit(0.0)}, "never_negative"),
        ("routing_reversals", {"uniquely_best": pl.col("questions")}, "add_up"),
        ("routing_frontier", {"quality": 1 - pl.col("quality")}, "concave"),
        ("router_summary", {"gain_over_chosen": pl.col("gain_over_chosen") + 1e-6}, "floor"),
        ("router_summary", {"gain": pl.col("gap") + 0.01}, "within_the_gap"),
    ],
)
def test_each_check_finds_what_it_is_for(
    table: str, broken: dict[str, pl.Expr], check: str, tables: dict[str, pl.DataFrame], store: Store
) -> None:
    found = run_checks(store, table, tables[table].with_columns(**broken))
    assert check in {finding.name for finding in found if not finding.passed}


def test_a_frontier_above_foresight_is_refused(tables: dict[str, pl.DataFrame], store: Store) -> None:
    """Only the fixed arms are raised: their own shape stays concave."""
    raised = pl.when(pl.col("frontier") == "fixed").then(pl.col("quality") * 1.6).otherwise(pl.col("quality"))
    rows = tables["routing_frontier"].with_columns(raised.clip(0, 1).alias("quality"))
    found = run_checks(store, "routing_frontier", rows)
    assert [finding.name for finding in found if not finding.passed] == ["below_foresight"]


def test_the_report_answers_with_figures_and_escapes_names(tables: dict[str, pl.DataFrame]) -> None:
    section = routing_section("s", "a,b,<c>", {name: tables[name] for name in ROUTING_TABLES})
    gap = tables["routing_gap"].filter(pl.col("price") == 0).row(0, named=True)
    said = " ".join(section.findings)
    assert f"{gap['reversal_share']:.0%} of {gap['questions']} questions" in said
    assert "exactly 0" in said
    assert sum(bool(part.svg) for part in section.parts) == 2
    page = render([section], "all")
    assert "<c>" not in page
    assert "&lt;c&gt;" in page
    again = routing_section("s", "a,b,<c>", {name: tables[name] for name in ROUTING_TABLES})
    assert [part.svg for part in again.parts] == [part.svg for part in section.parts]

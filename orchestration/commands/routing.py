"""`apportion routing`: does routing pay, in words, then in tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from apportion.progress import listen
from apportion.report.routing_plots import draw
from apportion.routing.arms import check_price
from apportion.routing.evidence import check_risk
from apportion.routing.verdict import verdict
from assets.routing import ROUTING_TABLES, routes_of
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import check_answered, check_grades, check_set, names
from orchestration.instance import open_instance
from orchestration.output import Format, ProgressBar, say, show
from orchestration.running import quiet, run_job
from warehouse.contracts import STAGES
from warehouse.store import Store

GAP_COLUMNS = (
    "price",
    "questions",
    "left_out",
    "best_fixed_route",
    "best_fixed",
    "oracle",
    "gap",
    "ci_low",
    "ci_high",
    "reversal_share",
    "no_reversal_p",
)
ROUTER_COLUMNS = (
    "price",
    "router",
    "utility",
    "gain",
    "ci_low",
    "ci_high",
    "gain_over_chosen",
    "chosen_ci_low",
    "chosen_ci_high",
    "share_of_gap",
    "p_value",
    "gain_in_sample",
    "routed_share",
    "certified",
    "gain_at_least",
)


def route_set(
    outcome_set: str,
    routes: str | None,
    price: str | None,
    judge: str | None,
    risk: float,
    plots: Path | None,
    layout: Format,
) -> None:
    """Publish the routing tables of a set and print them."""
    check_set(outcome_set)
    store = Store()
    setting = _setting(store, outcome_set, routes, price, judge, risk)
    quiet()
    with open_instance() as instance, listen(ProgressBar()):
        run_job(instance, "routing", outcome_set, {"routing_setting": setting})
    refresh_catalogue()
    where = {"outcome_set": outcome_set, "routes": ",".join(setting["routes"])}
    tables = {table: store.read(table, where) for table in ROUTING_TABLES}
    if layout is Format.table:
        _tell(outcome_set, tables)
    else:
        # One table of rows of one kind, so that a program can read it: the gap, and each router beside it.
        show(tables["routing_gap"].join(_routers(tables), on=["stage", "price"], how="left"), layout)
    if plots is not None:
        for path in draw(tables, outcome_set, plots):
            say(f"drawn: {path}")


def _setting(
    store: Store, outcome_set: str, routes: str | None, price: str | None, judge: str | None, risk: float
) -> dict[str, Any]:
    wanted = [] if routes is None else names(routes)
    check_answered(outcome_set, *wanted)
    check_grades(judge, outcome_set)
    chosen = routes_of(store, outcome_set, wanted)
    if len(chosen) < 2 or len(set(chosen)) < len(chosen):
        raise CallError(f"routes {', '.join(chosen)}: give two or more, each once")
    setting: dict[str, Any] = {"routes": chosen, "judge": judge, "risk": risk}
    try:
        check_risk(risk)
        if price is not None:
            setting["prices"] = sorted({check_price(float(part)) for part in names(price)})
            if not setting["prices"]:
                raise ValueError("give at least one price")
    except ValueError as error:
        raise CallError(f"--price {price} --risk {risk}: {error}") from error
    return setting


def _tell(outcome_set: str, tables: dict[str, pl.DataFrame]) -> None:
    for stage in STAGES:
        staged = {
            name: rows.filter(pl.col("stage") == stage)
            for name, rows in tables.items()
            if not rows.is_empty()
        }
        if "routing_gap" not in staged or staged["routing_gap"].is_empty():
            continue
        print(f"\nSet {outcome_set}, {stage.replace('_', ' ')}:")
        for line in verdict(staged, stage):
            print(f"  {line}")
        print()
        show(
            _readable(staged["routing_gap"]),
            Format.table,
            title="What perfect routing would be worth; price is quality per 1,000 tokens",
            columns=GAP_COLUMNS,
        )
        if "router_summary" in staged:
            show(
                _readable(_routers(staged)),
                Format.table,
                title="What routers collect on filings that they were not fitted on",
                columns=ROUTER_COLUMNS,
            )
        if "routing_frontier" in staged:
            show(
                staged["routing_frontier"].filter(pl.col("frontier") == "fixed"),
                Format.table,
                title="The frontier of the fixed arms; randomise between neighbours to meet a budget",
                columns=("vertex", "route", "cost", "quality", "price"),
            )
            show(
                staged["routing_area"],
                Format.table,
                title="How far frontiers lie apart: mean quality at equal cost",
                columns=("upper", "lower", "cost_low", "cost_high", "distance", "ci_low", "ci_high"),
            )


def _readable(rows: pl.DataFrame) -> pl.DataFrame:
    """Prices as they were written: rounding would show small ones as none."""
    return rows.with_columns(pl.Series("price", [f"{price:g}" for price in rows["price"]], dtype=pl.String))


def _routers(tables: dict[str, pl.DataFrame]) -> pl.DataFrame:
    """Held-out rows of `router_summary` with the in-sample gain beside them."""
    rows = tables["router_summary"]
    key = ["stage", "price", "router"]
    fitted = rows.filter(pl.col("split") == "in_sample").select(*key, pl.col("gain").alias("gain_in_sample"))
    held = rows.filter(pl.col("split") == "held_out").join(fitted, on=key, how="left", maintain_order="left")
    return (
        held.select(*key, *(name for name in ROUTER_COLUMNS if name not in key))
        if held.height
        else held.select(*key).with_columns(
            pl.lit(None).alias(name) for name in ROUTER_COLUMNS if name not in key
        )
    )

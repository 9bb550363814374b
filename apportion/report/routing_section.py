"""What the report says of routing on one set: the answer in words, the plots, and the tables they rest on."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

from apportion.report.page import Part, Section
from apportion.report.plots import to_svg
from apportion.report.routing_plots import STAGES, figures
from apportion.routing.verdict import verdict

HIDDEN = ("outcome_set", "routes")


def routing_section(outcome_set: str, routes: str, tables: Mapping[str, pl.DataFrame]) -> Section:
    """The section of one choice of routes.

    Args:
        outcome_set, routes: which.
        tables: their rows of the routing tables, by name.
    """
    said = []
    for stage, name in STAGES.items():
        staged = {table: rows.filter(pl.col("stage") == stage) for table, rows in tables.items()}
        if not staged["routing_gap"].is_empty():
            said.append(f"{name[0].upper()}{name[1:]}. {' '.join(verdict(staged, stage))}")
    drawn = {kind: to_svg(figure) for kind, figure in figures(tables).items()}
    gap = tables["routing_gap"]
    parts = [
        Part(
            "Does the order of routes reverse?",
            "Questions that another route answered strictly better than the best fixed one, the gap that perfect "
            "foresight would close, and the test that no kind of questions prefers another route on average.",
            gap.select(
                "stage",
                "price",
                "questions",
                "best_fixed_route",
                "reversal_share",
                "gap",
                "ci_low",
                "ci_high",
                "no_reversal_p",
                "reversal_family",
                "reversal_route",
                "reversal_advantage",
            ),
        ),
        Part(
            "Gap and gains against the price",
            "The gap is an upper bound on any router's gain; gains are held out by filing, less the best fixed route "
            "of the same questions.",
            svg=drawn.get("gap", ""),
        ),
        Part(
            "Three frontiers",
            "What fixed routes, a fitted router and perfect foresight achieve at a mean budget, randomising between "
            "neighbouring policies.",
            svg=drawn.get("frontiers", ""),
        ),
        Part("How far the frontiers lie apart", "", tables["routing_area"].drop(HIDDEN)),
        Part(
            "What routers collect on filings that they were not fitted on",
            "`gain` is over the best fixed route of these questions, known with hindsight; `gain over chosen` over the "
            "fixed route that the calibration filings chose.",
            _held_out(tables["router_summary"]),
        ),
        Part(
            "How often each route is the best, costs not counted",
            "",
            tables["routing_reversals"]
            .filter((pl.col("price") == 0) & (pl.col("stage") == "front_door"))
            .select("family", "route", "questions", "uniquely_best", "best", "mean_utility"),
        ),
    ]
    shown = [part for part in parts if part.svg or (part.frame is not None and not part.frame.is_empty())]
    return Section(f"{outcome_set}: routing among {routes.replace(',', ', ')}", said, shown)


def _held_out(summary: pl.DataFrame) -> pl.DataFrame:
    return summary.filter(pl.col("split") == "held_out").select(
        "stage", "price", "router", "utility", "gain", "ci_low", "ci_high", "gain_over_chosen", "chosen_ci_low",
        "chosen_ci_high", "share_of_gap", "p_value", "routed_share", "certified", "gain_at_least",
    )  # fmt: skip

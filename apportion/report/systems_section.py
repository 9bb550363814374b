"""What the report says of a set's document-routed systems: who scores how much, for how many tokens."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from apportion.report.page import Part, Section
from apportion.report.plots import new_figure, to_svg
from apportion.report.wording import difference

BASELINE = "cbr"
"""The system that the others are compared with in words: all chunks together, no routing."""


def systems_section(outcome_set: str, judge: str, tables: Mapping[str, pl.DataFrame]) -> Section:
    """The section of one set whose systems one judge scored.

    Args:
        outcome_set, judge: which.
        tables: its rows of the systems' tables, by name.
    """
    summary = tables["system_summary"].sort("mean_score", "route", descending=[True, False])
    compared = tables["system_comparison"]
    parts = [
        Part(
            "Score against tokens",
            "Mean of the rubric, 1 to 10, with its 95 % interval over filings; tokens of every call, those before the "
            "answer too, as if nothing had been cached.",
            svg=to_svg(score_against_tokens(summary)),
        ),
        Part("Systems", "", _plain(summary)),
        Part(
            "Differences between systems",
            "Over the questions that both answered, paired by question, resampled by filing.",
            _plain(compared.filter(pl.col("metric") == "mean_score")),
        ),
        Part("Costs", "", _plain(tables["system_costs"])),
        Part("How questions were resolved to filings", "", _plain(tables["resolver_summary"])),
        Part("Questions on several companies", "", _plain(tables["coverage_summary"])),
        Part("Two judges", "", _plain(tables["judge_agreement"])),
    ]
    shown = [part for part in parts if part.svg or (part.frame is not None and not part.frame.is_empty())]
    return Section(f"{outcome_set}: systems, scored by {judge}", _findings(summary, compared), shown)


def score_against_tokens(summary: pl.DataFrame) -> Any:
    """Mean score of each system against its tokens a question; systems whose tokens are unknown are left out.

    Args:
        summary: rows of `system_summary` of one judge.
    """
    figure, axes = new_figure()
    for row in summary.drop_nulls("tokens_per_question").iter_rows(named=True):
        (line,) = axes.plot(
            [row["tokens_per_question"]], [row["mean_score"]], "o", markersize=6, label=row["route"]
        )
        if row["ci_low"] is not None:
            axes.vlines(
                row["tokens_per_question"],
                row["ci_low"],
                row["ci_high"],
                color=line.get_color(),
                linewidth=1.6,
            )
    axes.set_xlim(left=0)
    axes.set_ylim(1, 10)
    axes.set_xlabel("tokens a question, all calls")
    axes.set_ylabel("mean score (1 to 10)")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
    return figure


def _findings(summary: pl.DataFrame, compared: pl.DataFrame) -> list[str]:
    said = []
    if summary.height > 1:
        best = summary.row(0, named=True)
        said.append(f"{best['route']} has the highest mean score, {best['mean_score']:.2f} of 10.")
    with_baseline = (pl.col("baseline") == BASELINE) | (pl.col("route") == BASELINE)
    said += [
        difference(row, f"{row['route']} less {row['baseline']} is", digits=2)
        for row in compared.filter(pl.col("metric") == "mean_score", with_baseline).iter_rows(named=True)
    ]
    return said


def _plain(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.drop([name for name in ("outcome_set", "judge") if name in frame.columns])

"""What the report says of one set and pair: findings in words first, then the tables they rest on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from apportion.report.page import Part, Section
from apportion.report.plots import outcome_against_cost, quality_against_tokens, to_svg
from apportion.report.wording import difference

SHOWN_BUDGETS = (0.1, 0.2, 0.5, 1.0)
"""What is shown of the usual eight; all where none of these was evaluated."""


def _of_budgets(rows: pl.DataFrame) -> pl.DataFrame:
    shown = rows.filter(pl.col("budget_fraction").is_in(SHOWN_BUDGETS))
    return rows if shown.is_empty() else shown


def escalation_section(
    outcome_set: str, cheap: str, deep: str, tables: Mapping[str, pl.DataFrame]
) -> Section:
    """The section of one pair of routes.

    Args:
        outcome_set, cheap, deep: which.
        tables: the pair's rows of the published tables, by name.
    """
    parts = [
        Part(
            "Quality against tokens",
            "Each point is a nominal budget; crosses are routes taken once for every question.",
            svg=to_svg(quality_against_tokens(tables["frontier"])),
        ),
        Part("Routes taken for every question", "", _plain(tables["route_summary"], "outcome_set")),
        Part(
            "Policies",
            "Deployable policies spend predicted tokens, oracles measured ones; figures are averaged over three seeds.",
            _policies(tables["policy_summary"]),
        ),
        Part(
            "Differences to gain-only, in quality",
            "Paired by question, resampled by filing; an interval that excludes zero is a supported difference.",
            _differences(tables["policy_comparison"]),
        ),
        Part("Overlap of what gain-only and gain-per-token buy", "", _overlap(tables["selection_overlap"])),
        Part("By family of question", "", _plain(tables["family_summary"])),
        Part(
            "What the deeper call did, against its cost",
            "",
            svg=to_svg(outcome_against_cost(tables["question_audit"])),
        ),
        Part("The additional call's cost, in tokens", "", _plain(tables["cost_summary"])),
        Part("By quartile of the additional call's cost", "", _plain(tables["cost_quartiles"])),
        Part(
            "How good the predictions are",
            "Held out by filing; in-sample figures stand beside them only to show the difference.",
            _plain(tables["prediction_quality"]),
        ),
        Part("Where helpful, harmful and twice-wrong questions sit", "", _audit(tables["question_audit"])),
    ]
    return Section(f"{outcome_set}: {cheap} to {deep}", findings(cheap, deep, tables), parts)


def many_section(outcome_set: str, cheap: str, tables: Mapping[str, pl.DataFrame]) -> Section:
    """The section where one of several deep routes is chosen for each question.

    Args:
        outcome_set, cheap: which.
        tables: its rows of the published tables and of `selections`, by name.
    """
    bought = tables["selections"]
    routes = bought["route"].unique().sort().to_list()
    each = (
        _of_budgets(bought)
        .group_by("policy", "budget_fraction", "seed", "route")
        .agg(pl.len().alias("calls"))
        .group_by("policy", "budget_fraction", "route")
        .agg((pl.col("calls").sum() / bought["seed"].n_unique()).alias("calls"))
        .pivot(on="route", index=["budget_fraction", "policy"], values="calls", sort_columns=True)
        .fill_null(0.0)
        .sort("budget_fraction", "policy")
    )
    compared = _tight(tables["policy_comparison"])
    return Section(
        f"{outcome_set}: {cheap} to one of {', '.join(routes)}",
        [_verdict(row) for row in compared.iter_rows(named=True)],
        [
            Part(
                "Quality against tokens",
                "Each point is a nominal budget, a share of the dearest call for everybody; crosses are routes taken "
                "once for every question.",
                svg=to_svg(quality_against_tokens(tables["frontier"])),
            ),
            Part("Policies", "", _policies(tables["policy_summary"])),
            Part("Differences to gain-only, in quality", "", _differences(tables["policy_comparison"])),
            Part("Calls of each deep route, mean over the seeds", "", each),
            Part(
                "Overlap of what gain-only and gain-per-token buy", "", _overlap(tables["selection_overlap"])
            ),
        ],
    )


def findings(cheap: str, deep: str, tables: Mapping[str, pl.DataFrame]) -> list[str]:
    """The answer in a few sentences, each read off a table."""
    routes = {row["route"]: row for row in tables["route_summary"].iter_rows(named=True)}
    audit = tables["question_audit"]["outcome"].value_counts()
    counts: dict[str, int] = dict(audit.iter_rows())
    said = [
        f"The deeper call turns {counts.get('helped', 0)} of {tables['question_audit'].height} answers right and "
        f"{counts.get('hurt', 0)} wrong; the others stay as they were."
    ]
    if cheap in routes and deep in routes and routes[deep]["tokens_per_question"]:
        said.append(
            f"For every question, {cheap} reaches quality {routes[cheap]['quality']:.3f} at "
            f"{routes[cheap]['tokens_per_question']:,.0f} tokens and {deep} {routes[deep]['quality']:.3f} at "
            f"{routes[deep]['tokens_per_question']:,.0f}."
        )
    said += [_verdict(row) for row in _tight(tables["policy_comparison"]).iter_rows(named=True)]
    quality = tables["prediction_quality"].filter(pl.col("in_use") & (pl.col("split") == "held_out"))
    named: dict[tuple[str, str], Any] = {
        (target, metric): value
        for target, metric, value in quality.select("target", "metric", "value").iter_rows()
    }
    cost, gain = named.get(("cost", "r2")), named.get(("gain", "auroc"))
    if cost is not None and gain is not None:
        said.append(
            f"Held out, cost is predicted with R² {cost:.3f} and helpful calls are ranked with AUROC {gain:.2f}."
        )
    return said


def _tight(comparison: pl.DataFrame) -> pl.DataFrame:
    """What spending by gain per token came to at the budget nearest to a tenth."""
    nearest = (pl.col("budget_fraction") - 0.1).abs()
    return comparison.filter((pl.col("metric") == "quality") & (pl.col("policy") == "gain_per_token")).filter(
        nearest == nearest.min()
    )


def _verdict(row: Mapping[str, Any]) -> str:
    baseline = row["baseline"].replace("_", "-")
    return difference(
        row,
        f"At {100 * row['budget_fraction']:g} % of the full budget, gain-per-token less {baseline} is",
        " in quality",
    )


PAIR = ("outcome_set", "cheap_route", "deep_route")


def _plain(frame: pl.DataFrame, *drop: str) -> pl.DataFrame:
    return frame.drop([name for name in (*PAIR, *drop) if name in frame.columns])


def _policies(summary: pl.DataFrame) -> pl.DataFrame:
    return _of_budgets(summary).sort("budget_fraction", "policy").select(
        "budget_fraction", "policy", "accuracy", "quality", "tokens_per_question", "tokens_saved_against_deep",
        "escalated_share", "mean_selected_cost", "helped", "hurt", "neutral",
    )  # fmt: skip


def _differences(comparison: pl.DataFrame) -> pl.DataFrame:
    return (
        _of_budgets(comparison)
        .filter((pl.col("baseline") == "gain_only") & (pl.col("metric") == "quality"))
        .sort("budget_fraction", "policy")
        .select("budget_fraction", "policy", "difference", "ci_low", "ci_high")
    )


def _overlap(overlap: pl.DataFrame) -> pl.DataFrame:
    return (
        overlap.filter((pl.col("policy_a") == "gain_only") & (pl.col("policy_b") == "gain_per_token"))
        .sort("budget_fraction")
        .select("budget_fraction", "share_a", "share_b", "shared", "jaccard")
        .rename({"share_a": "gain-only share", "share_b": "gain-per-token share"})
    )


def _audit(audit: pl.DataFrame) -> pl.DataFrame:
    return (
        audit.group_by("outcome")
        .agg(
            pl.len().alias("questions"),
            (pl.col("predicted_gain_quartile") == 1).sum().alias("lowest predicted gain quartile"),
            (pl.col("predicted_gain_quartile") == 4).sum().alias("highest predicted gain quartile"),
            (pl.col("score_quartile") == 1).sum().alias("lowest retrieval score quartile"),
            (pl.col("coverage_quartile") == 4).sum().alias("highest coverage quartile"),
            pl.col("cost").mean().alias("mean cost"),
        )
        .sort("outcome")
    )

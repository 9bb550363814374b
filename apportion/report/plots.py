"""Plots of a set's published tables, as SVG text or PNG bytes. Labels, units and intervals stand in the plot."""

from __future__ import annotations

import io
import re
from collections.abc import Mapping
from typing import Any

import polars as pl

STYLES: Mapping[str, tuple[str, str, str]] = {
    "gain_per_token": ("#0b6e4f", "-", "o"),
    "gain_only": ("#c8553d", "-", "s"),
    "knapsack": ("#2d5d9f", "-", "^"),
    "low_margin": ("#8d6a9f", "--", "v"),
    "low_confidence": ("#b08d57", "--", "D"),
    "random": ("#7a7a7a", ":", "."),
    "refusal": ("#d19a1f", "--", "P"),
    "oracle": ("#111111", "-", "*"),
}
"""Colour, line and marker of each policy; the oracle-cost knapsack lies on the knapsack and is left to the tables."""

METADATA = re.compile(r"<metadata>.*?</metadata>", re.DOTALL)

OUTCOMES: tuple[tuple[str, str, str], ...] = (
    ("helped", "helped", "#0b6e4f"),
    ("hurt", "hurt", "#c8553d"),
    ("both_right", "right either way", "#9bb7d4"),
    ("both_wrong", "wrong either way", "#bdbdbd"),
)


def new_figure(width: float = 8.2, height: float = 4.8) -> tuple[Any, Any]:
    """A figure and its axes, drawn without a display; the same rows give the same bytes."""
    from matplotlib.figure import Figure

    seeded_svg()
    figure = Figure(figsize=(width, height), layout="constrained")
    axes = figure.subplots()
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(visible=True, color="#e6e6e6", linewidth=0.8)
    axes.set_axisbelow(True)
    return figure, axes


def seeded_svg() -> None:
    """SVG text that is the same each time."""
    import matplotlib as mpl

    mpl.rcParams["svg.hashsalt"] = "apportion"
    mpl.rcParams["svg.fonttype"] = "path"


def to_svg(figure: Any) -> str:
    """A figure as SVG text without a date."""
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    text = METADATA.sub("", buffer.getvalue())
    return text[text.index("<svg") :]


def to_png(figure: Any, dpi: int = 110) -> bytes:
    """A figure as PNG bytes."""
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=dpi, metadata={"Software": None})
    return buffer.getvalue()


def quality_against_tokens(frontier: pl.DataFrame) -> Any:
    """Quality against realised tokens for every policy, with the one-pass routes (escalation paper, figure 2).

    Args:
        frontier: rows of `frontier` of one pair.
    """
    figure, axes = new_figure()
    for policy, (colour, line, marker) in STYLES.items():
        part = frontier.filter((pl.col("kind") == "policy") & (pl.col("name") == policy)).sort(
            "budget_fraction"
        )
        if part.is_empty():
            continue
        tokens, quality = part["tokens_per_question"].to_list(), part["quality"].to_list()
        axes.plot(
            tokens,
            quality,
            line,
            color=colour,
            marker=marker,
            markersize=5,
            linewidth=1.6,
            label=policy.replace("_", " "),
        )
        if policy == "gain_per_token" and part["ci_low"].null_count() == 0:
            low, high = part["ci_low"].to_list(), part["ci_high"].to_list()
            axes.fill_between(
                tokens, low, high, color=colour, alpha=0.10, linewidth=0, label="95 % interval, by filing"
            )
    for name, tokens, quality in (
        frontier.filter(pl.col("kind") == "route")
        .select("name", "tokens_per_question", "quality")
        .iter_rows()
    ):
        axes.plot([tokens], [quality], "x", color="#111111", markersize=8, markeredgewidth=2)
        axes.annotate(
            f"{name}, one pass", (tokens, quality), textcoords="offset points", xytext=(7, -12), fontsize=9
        )
    axes.set_xlabel("realised tokens a question, cheap call included")
    axes.set_ylabel("mean adjudication quality (0 to 1)")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9)
    return figure


def outcome_against_cost(audit: pl.DataFrame) -> Any:
    """What the deeper call did to each question, against what it cost (escalation paper, figure 3).

    Args:
        audit: rows of `question_audit` of one pair.
    """
    figure, axes = new_figure()
    known = audit.filter(pl.col("cost").is_not_null())
    for outcome, label, colour in OUTCOMES:
        part = known.filter(pl.col("outcome") == outcome).sort("question_id")
        axes.plot(
            part["cost"].to_list(),
            part["gain"].to_list(),
            "o",
            color=colour,
            markersize=6,
            alpha=0.8,
            label=f"{label} ({part.height})",
        )
    axes.axhline(0, color="#555555", linewidth=0.8)
    axes.set_ylim(-1.08, 1.08)
    axes.set_xlabel("tokens of the additional call")
    axes.set_ylabel("quality of the deep answer less that of the cheap one")
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False, fontsize=9, title="correctness")
    return figure

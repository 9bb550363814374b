"""Plots of routing: the three frontiers, and the gap against the price."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from apportion.report.plots import seeded_svg, to_png

STYLES = {
    "oracle": ("#1b7837", "perfect foresight"),
    "fitted": ("#2166ac", "fitted router, held out"),
    "fixed": ("#777777", "fixed routes"),
}
STAGES = {"front_door": "front door", "after_cheap": "after the cheap answer"}


def draw(tables: Mapping[str, pl.DataFrame], name: str, folder: Path) -> list[Path]:
    """Draw a set's frontiers and gaps as PNG files.

    Args:
        tables: rows of the routing tables of one set and one choice of routes.
        name: of the set, for titles and file names.
        folder: where to; made if it isn't there.

    Returns:
        The files written; none for tables without rows.
    """
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for kind, figure in figures(tables).items():
        figure.suptitle(f"Routing on {name}")
        path = folder / f"routing_{kind}_{name.replace(':', '_')}.png"
        path.write_bytes(to_png(figure, dpi=130))
        written.append(path)
    return written


def figures(tables: Mapping[str, pl.DataFrame]) -> dict[str, Any]:
    """The figures `frontiers` and `gap` of one set and one choice of routes; none for tables without rows."""
    from matplotlib.figure import Figure

    seeded_svg()
    made = {}
    for kind, painter, table in (
        ("frontiers", _frontiers, "routing_frontier"),
        ("gap", _gaps, "routing_gap"),
    ):
        rows = tables[table]
        if rows.is_empty():
            continue
        stages = [stage for stage in STAGES if stage in rows["stage"].to_list()]
        figure = Figure(figsize=(5.6 * len(stages), 4.2), layout="constrained")
        for place, stage in enumerate(stages):
            painter(figure.add_subplot(1, len(stages), place + 1), tables, stage)
        made[kind] = figure
    return made


def _frontiers(axes: Any, tables: Mapping[str, pl.DataFrame], stage: str) -> None:
    rows = tables["routing_frontier"].filter(pl.col("stage") == stage)
    right = float(rows["cost"].max())  # type: ignore[arg-type]
    for name, (colour, label) in STYLES.items():
        part = rows.filter(pl.col("frontier") == name).sort("vertex")
        if part.is_empty():
            continue
        # Beyond its end a frontier is flat: more tokens buy nothing.
        axes.plot(
            [*part["cost"], right],
            [*part["quality"], part["quality"][-1]],
            color=colour,
            label=label,
            lw=1.8,
            marker="o" if name == "fixed" else None,
            ms=5,
        )
        if name == "fixed":
            for cost, quality, route in part.select("cost", "quality", "route").iter_rows():
                axes.annotate(route, (cost, quality), textcoords="offset points", xytext=(5, -12), fontsize=8)
    axes.margins(x=0.12, y=0.08)
    axes.set_xlabel("tokens a question" + (", on top of the cheap answer" if stage == "after_cheap" else ""))
    axes.set_ylabel("mean quality")
    axes.set_title(STAGES[stage], fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8, loc="lower right")


def _gaps(axes: Any, tables: Mapping[str, pl.DataFrame], stage: str) -> None:
    gap = tables["routing_gap"].filter(pl.col("stage") == stage).sort("price")
    routers = tables["router_summary"].filter((pl.col("stage") == stage) & (pl.col("split") == "held_out"))
    price = gap["price"].to_list()
    axes.plot(price, gap["gap"], color=STYLES["oracle"][0], marker="o", ms=3, label="gap: perfect foresight")
    if gap["ci_low"].null_count() == 0:
        axes.fill_between(price, gap["ci_low"], gap["ci_high"], color=STYLES["oracle"][0], alpha=0.15, lw=0)
    dashes = {"ridge": "-", "boosting": "--", "signals": ":", "certified": "-."}
    for (name,), part in sorted(
        routers.group_by("router"), key=lambda item: list(dashes).index(str(item[0][0]))
    ):
        kept = part.sort("price")
        colour = "#b2182b" if name == "certified" else STYLES["fitted"][0]
        axes.plot(
            kept["price"], kept["gain"], dashes[str(name)], color=colour, label=f"gain of {name}, held out"
        )
    axes.axhline(0, color="black", lw=0.7)
    positive = [value for value in price if value > 0]
    if positive:
        axes.set_xscale("symlog", linthresh=min(positive))
        axes.set_xlim(left=0)
    axes.set_xlabel("price λ: quality per 1,000 tokens")
    axes.set_ylabel("utility over the best fixed route")
    axes.set_title(STAGES[stage], fontsize=10)
    axes.grid(alpha=0.25)
    axes.legend(fontsize=8)

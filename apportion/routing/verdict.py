"""Does routing pay? The published rows of one stage, read out in a few plain sentences."""

from __future__ import annotations

from collections.abc import Mapping

import polars as pl

LOOKS = 0.05
"""P value below which a kind of questions is said to prefer another arm."""


def verdict(tables: Mapping[str, pl.DataFrame], stage: str) -> list[str]:
    """Sentences on one stage.

    Args:
        tables: rows of the routing tables of one stage.
        stage: which.

    The first says whether routing pays: certified, or held out beyond chance but not certified, or not shown to, or
    worthless since no arm is ever passed.
    """
    gap = tables["routing_gap"].sort("price")
    routers = tables.get("router_summary", pl.DataFrame())
    lines = [_answer(gap, routers), *_reversals(gap)]
    floor = None if routers.is_empty() else floor_line(routers)
    if floor is not None:
        lines.append(floor)
    free = gap.row(0, named=True)
    priced = gap.filter(pl.col("price") > 0)
    if priced.is_empty():
        lines.append("No price above 0: no question has a token count for every route.")
    else:
        left_out = max(priced["left_out"].to_list())
        if left_out > free["left_out"]:
            lines.append(f"Above price 0, {left_out} questions are left out for want of a token count.")
    if stage == "after_cheap":
        lines.append(f"The cheap route ({free['routes'].split(',')[0]}) is paid for: its cost is sunk.")
    return lines


def _answer(gap: pl.DataFrame, routers: pl.DataFrame) -> str:
    widest = gap.sort("gap", "price", descending=[True, False]).row(0, named=True)
    if widest["gap"] == 0:
        return (
            "Routing is worthless here: one route is the best for every question at every price "
            f"({gap['best_fixed_route'].unique(maintain_order=True).str.join(', ')[0]}). "
            f"At most {widest['reversed_filings_at_most']:.1%} of filings could hold an exception."
        )
    prize = (
        f"Perfect routing would add {_signed(widest)} to always using {widest['best_fixed_route']} "
        f"(quality less price times cost, at price {widest['price']:g}, the most of all prices)."
    )
    if routers.is_empty():
        return f"Whether routing pays can't be shown on so few filings. {prize}"
    held = routers.filter(pl.col("split") == "held_out")
    certified = held.filter(pl.col("certified").fill_null(value=False)).sort("price")
    if certified.height:
        prices = ", ".join(f"{price:g}" for price in certified["price"])
        return f"Routing pays: a gain over every fixed route is certified at price {prices}. {prize}"
    fitted = held.filter(pl.col("router") != "certified")
    seen = fitted.filter(pl.col("ci_low") > 0).sort("gain", descending=True)
    best = (seen if seen.height else fitted.sort("gain", descending=True)).row(0, named=True)
    told = f"{best['router']} {_signed(best, 'gain')} at price {best['price']:g}"
    if seen.height:
        return (
            f"Routing may pay, but nothing is certified: held out, {told} is the largest gain whose own interval "
            f"excludes zero, of {fitted.height} looked at. {prize}"
        )
    return f"Routing is not shown to pay: held out, the largest gain of any router is {told}. {prize}"


def _reversals(gap: pl.DataFrame) -> list[str]:
    row = gap.row(0, named=True)
    where = (
        "each question a group of its own"
        if row["filings"] == row["questions"]
        else f"{row['reversed_filings']} of {row['filings']} filings"
    )
    lines = [
        f"At price {row['price']:g}, {row['reversal_share']:.0%} of {row['questions']} questions "
        f"({where}) were answered better by another route than "
        f"{row['best_fixed_route']}."
    ]
    if row["no_reversal_p"] is None:
        lines.append(
            "Whether kinds of questions differ in their best route can't be tested: too few filings a kind."
        )
    elif row["no_reversal_p"] <= LOOKS:
        lines.append(
            f"The order of routes reverses between kinds: {row['reversal_route']} is better by "
            f"{row['reversal_advantage']:.3f} on {row['reversal_family']} ({_p(row['no_reversal_p'])})."
        )
    else:
        lines.append(
            f"No kind of questions is shown to prefer another route on average (p = {row['no_reversal_p']:.2f}): "
            "what reverses does so within kinds, and some of it is chance."
        )
    dearer = gap.filter((pl.col("price") > 0) & (pl.col("no_reversal_p") <= LOOKS))
    if dearer.height:
        told = dearer.sort("no_reversal_p", "price").row(0, named=True)
        prices = ", ".join(f"{price:g}" for price in dearer["price"])
        lines.append(
            f"Costs counted, the order of routes reverses between kinds at price {prices}: at {told['price']:g} "
            f"{told['reversal_route']} is better than {told['best_fixed_route']} by {told['reversal_advantage']:.3f} "
            f"on {told['reversal_family']} ({_p(told['no_reversal_p'])}, each price tested by itself)."
        )
    return lines


def floor_line(routers: pl.DataFrame) -> str | None:
    """What the router with a floor did, from rows of `router_summary` of one stage; None where there is none."""
    rows = routers.filter((pl.col("router") == "certified") & (pl.col("split") == "held_out")).sort("price")
    if rows.is_empty():
        return None
    idle = rows.filter(pl.col("routed_share") == 0)
    said = (
        f"The router with a floor plays the fixed route that the calibration filings chose at {idle.height} of "
        f"{rows.height} prices, on every question: its difference to that route is exactly 0 there."
    )
    behind = idle.filter(pl.col("gain") < 0)
    if behind.height:
        worst = behind.sort("gain").row(0, named=True)
        said += (
            f" At price {worst['price']:g} the chosen route is not always the best of the held-out questions, known "
            f"only with hindsight: {_signed(worst, 'gain')}."
        )
    busy = rows.filter(pl.col("routed_share") > 0)
    if busy.height:
        told = busy.sort("gain_over_chosen", descending=True).row(0, named=True)
        said += (
            f" At {busy.height} it routes some; the most it adds to the chosen route is "
            f"{told['gain_over_chosen']:+.3f} [{told['chosen_ci_low']:.3f}, {told['chosen_ci_high']:.3f}] at price "
            f"{told['price']:g}."
        )
    return said


def _p(value: float) -> str:
    return "p < 0.001" if value < 0.001 else f"p = {value:.3f}"


def _signed(row: Mapping[str, object], name: str = "gap") -> str:
    value = f"{row[name]:+.3f}"
    if row["ci_low"] is None:
        return f"{value} (no interval)"
    return f"{value} [{row['ci_low']:.3f}, {row['ci_high']:.3f}]"

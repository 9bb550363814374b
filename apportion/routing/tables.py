"""Rows of the routing tables for one stage of one log, without the set, the routes and the stage.

Costs are held in 1,000 tokens while computing and shown in tokens.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import count
from typing import Any

import numpy as np
import polars as pl

from apportion.prediction.training import SEEDS, TooFewFilings
from apportion.progress import track
from apportion.routing.areas import Family, area_between
from apportion.routing.arms import TOKENS_A_UNIT, Arms
from apportion.routing.certified import RISK, Certificate, certified_choices, certify
from apportion.routing.collected import Collected, chosen_fixed, collected, router_choices
from apportion.routing.frontier import (
    Frontier,
    fitted_frontier,
    fixed_frontier,
    oracle_frontier,
    priced_choices,
    thinned,
)
from apportion.routing.gap import jensen_gap
from apportion.routing.reversal import no_reversal_test, reversal_table
from apportion.routing.routers import ROUTERS, Predicted, arm_calibration, held_out, in_sample

PRICES = (0.0, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5)
"""λ in quality per 1,000 tokens."""
FRONTIER_ROUTER = "ridge"
"""Whose λ-indexed policies make the fitted frontier."""
MOST_VERTICES = 200
"""Vertices of a frontier that are published; more are thinned evenly, both ends kept."""
AREA_POLICIES = 24
"""Prices at which a fitted router and the oracle are played to measure how far frontiers lie apart."""

Rows = dict[str, pl.DataFrame]


def stage_tables(
    arms: Arms,
    features: pl.DataFrame,
    prices: Sequence[float] = PRICES,
    *,
    seeds: Sequence[int] = SEEDS,
    risk: float = RISK,
    label: str = "routing",
) -> Rows:
    """Every routing table's rows at one stage, by table.

    Args:
        arms: the log with the costs of the stage.
        features: what is known at the stage, a row a question.
        prices: λ in quality per 1,000 tokens.
        seeds: of the folds of filings.
        risk: of the certified router.
        label: what progress is told under.

    With fewer than three filings no router can be fitted, certified and tested apart: their tables are empty.
    """
    usable = [price for price in prices if price == 0 or arms.costed.any()]
    fitted_kinds = ROUTERS if len(set(arms.groups)) >= 3 else ()
    with track(label, len(fitted_kinds) + 3) as advance:
        return _stage_tables(arms, features, usable, fitted_kinds, seeds, risk, counted(advance))


def counted(advance: Callable[[int], None]) -> Callable[[], None]:
    """A step that counts itself."""
    steps = count(1)
    return lambda: advance(next(steps))


def _stage_tables(
    arms: Arms,
    features: pl.DataFrame,
    usable: Sequence[float],
    kinds: Sequence[str],
    seeds: Sequence[int],
    risk: float,
    step: Callable[[], None],
) -> Rows:
    rows: Rows = {
        "routing_gap": gap_rows(arms, usable),
        "routing_reversals": pl.concat([_reversals(arms, price) for price in usable], how="vertical_relaxed")
        if usable
        else pl.DataFrame(),
    }
    step()
    predictions: dict[str, dict[str, Predicted]] = {}
    for kind in kinds:
        predictions[kind] = {
            "held_out": held_out(arms, features, kind, seeds),
            "in_sample": in_sample(arms, features, kind, seeds),
        }
        step()
    rows["router_summary"] = _summary(arms, features, predictions, usable, seeds, risk)
    step()
    rows["router_calibration"] = _calibration(arms, predictions)
    fitted = predictions.get(FRONTIER_ROUTER, {}).get("held_out")
    rows["routing_frontier"], rows["routing_area"] = _frontiers(arms, fitted, usable)
    step()
    return rows


def gap_rows(arms: Arms, prices: Sequence[float]) -> pl.DataFrame:
    """Rows of `routing_gap`."""
    rows = []
    for found in jensen_gap(arms, prices):
        test = no_reversal_test(arms, found.price)
        rows.append(
            {
                "price": found.price,
                "questions": found.questions,
                "left_out": found.left_out,
                "filings": test.filings,
                "oracle": found.oracle,
                "best_fixed_route": arms.routes[found.best_fixed_arm],
                "best_fixed": found.best_fixed,
                "gap": found.gap.estimate,
                "ci_low": found.gap.low,
                "ci_high": found.gap.high,
                "reversal_share": found.reversal_share,
                "reversed_filings": test.reversed_filings,
                "reversed_filings_at_most": test.filings_at_most,
                "no_reversal_p": test.p_value,
                "reversal_family": test.family,
                "reversal_route": None if test.arm is None else arms.routes[test.arm],
                "reversal_advantage": test.advantage,
            }
        )
    return pl.DataFrame(rows, infer_schema_length=None)


def _reversals(arms: Arms, price: float) -> pl.DataFrame:
    return reversal_table(arms, price).select(pl.lit(float(price)).alias("price"), pl.all())


def _summary(
    arms: Arms,
    features: pl.DataFrame,
    predictions: Mapping[str, Mapping[str, Predicted]],
    prices: Sequence[float],
    seeds: Sequence[int],
    risk: float,
) -> pl.DataFrame:
    chosen = chosen_fixed(arms, prices, seeds) if predictions else None
    rows = [
        _collected_row(found, kind, split)
        for kind, splits in predictions.items()
        for split, told in splits.items()
        for found in collected(
            arms, router_choices(told, prices), prices, chosen=chosen if split == "held_out" else None
        )
    ]
    if predictions:
        try:
            choices, routed = certified_choices(arms, features, prices, seeds, risk=risk)
            certificates = {c.price: c for c in certify(arms, features, prices, risk=risk).certificates}
        except TooFewFilings:
            return pl.DataFrame(rows, infer_schema_length=None)
        shares = {
            price: float(
                routed[:, place][:, np.ones(len(arms), np.bool_) if price == 0 else arms.costed].mean()
            )
            for place, price in enumerate(prices)
        }
        rows += [
            _collected_row(found, "certified", "held_out", certificates[found.price], shares[found.price])
            for found in collected(arms, choices, prices, chosen=chosen)
        ]
    return pl.DataFrame(rows, infer_schema_length=None)


def _collected_row(
    found: Collected,
    router: str,
    split: str,
    certificate: Certificate | None = None,
    routed_share: float | None = None,
) -> dict[str, Any]:
    held = split == "held_out"
    over_chosen = found.gain_over_chosen
    return {
        "price": found.price,
        "router": router,
        "split": split,
        "questions": found.questions,
        "left_out": found.left_out,
        "utility": found.utility,
        "gain": found.gain.estimate,
        "gap": found.gap,
        "share_of_gap": found.share_of_gap,
        # What was fitted on the same rows has no honest interval.
        "ci_low": found.gain.low if held else None,
        "ci_high": found.gain.high if held else None,
        "p_value": found.p_value if held else None,
        "gain_over_chosen": None if over_chosen is None else over_chosen.estimate,
        "chosen_ci_low": None if over_chosen is None else over_chosen.low,
        "chosen_ci_high": None if over_chosen is None else over_chosen.high,
        "routed_share": routed_share,
        "certified": None if certificate is None else certificate.certified,
        "margin": None if certificate is None else certificate.margin,
        "gain_at_least": None if certificate is None else certificate.gain_at_least,
    }


def _calibration(arms: Arms, predictions: Mapping[str, Mapping[str, Predicted]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "router": kind,
                "split": split,
                "route": route,
                "questions": len(arms),
                "mean_predicted": float(told.quality[:, :, arm].mean()),
                "mean_quality": float(arms.quality[:, arm].mean()),
                "calibration_error": float(errors[arm]),
            }
            for kind, splits in predictions.items()
            for split, told in splits.items()
            for errors in [arm_calibration(told, arms.quality)]
            for arm, route in enumerate(arms.routes)
        ],
        infer_schema_length=None,
    )


def _frontiers(
    arms: Arms, fitted: Predicted | None, prices: Sequence[float]
) -> tuple[pl.DataFrame, pl.DataFrame]:
    costed = arms.costed
    if not costed.any():
        return pl.DataFrame(), pl.DataFrame()
    part = arms.at_price(1.0)
    frontiers = {"fixed": fixed_frontier(part), "oracle": oracle_frontier(part)}
    families = {
        "fixed": Family(part.cost, part.quality),
        "oracle": Family.of(_all_prices(part.quality, part), part.cost, part.quality),
    }
    if fitted is not None:
        # One seed: a policy is one model a fold, and a mean of three policies would be none of them.
        quality, cost = fitted.quality[0, costed], fitted.cost[0, costed]
        frontiers["fitted"] = fitted_frontier(quality, cost, part)
        families["fitted"] = Family.of(_all_prices(quality, part, cost), part.cost, part.quality)
    vertices = [
        row for name, frontier in frontiers.items() for row in _vertex_rows(name, frontier, part.routes)
    ]
    areas = []
    for upper, lower in (("oracle", "fixed"), ("fitted", "fixed"), ("oracle", "fitted")):
        if upper in families and lower in families:
            found = area_between(families[upper], families[lower], part.groups)
            areas.append(
                {
                    "upper": upper,
                    "lower": lower,
                    "questions": len(part),
                    "cost_low": found.low * TOKENS_A_UNIT,
                    "cost_high": found.high * TOKENS_A_UNIT,
                    "distance": found.distance.estimate,
                    "ci_low": found.distance.low,
                    "ci_high": found.distance.high,
                }
            )
    return pl.DataFrame(vertices, infer_schema_length=None), pl.DataFrame(areas, infer_schema_length=None)


def _all_prices(quality: Any, part: Arms, cost: Any = None) -> Any:
    """Choices from quality at any price to the cheapest arm, shape (prices, n)."""
    spent = part.cost if cost is None else cost
    apart = np.ptp(spent, axis=1)
    dearest = 1.0 / max(float(apart[apart > 0].min(initial=np.inf)), 1e-6) if (apart > 0).any() else 1.0
    least = dearest if not (apart > 0).any() else min(0.01 / float(apart.max()), dearest)
    grid = np.geomspace(max(least, 1e-9), max(dearest, 1e-9) * 1.001, AREA_POLICIES - 1)
    return priced_choices(quality, spent, [0.0, *grid])


def _vertex_rows(name: str, frontier: Frontier, routes: Sequence[str]) -> list[dict[str, Any]]:
    shown = thinned(frontier, MOST_VERTICES)
    return [
        {
            "frontier": name,
            "vertex": vertex,
            "cost": max(float(shown.cost[vertex]), 0.0) * TOKENS_A_UNIT,
            "quality": min(max(float(shown.quality[vertex]), 0.0), 1.0),
            "price": float(shown.price[vertex]) if np.isfinite(shown.price[vertex]) else None,
            "route": routes[int(shown.policy[vertex])] if name == "fixed" else None,
        }
        for vertex in range(len(shown))
    ]

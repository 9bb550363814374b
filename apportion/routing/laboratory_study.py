"""What the laboratory shows: who is right where, what a router collects, and when the gap opens and closes.

Every figure is a median over seeds with its spread, since one corpus proves nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl

from apportion.routing.arms import Floats, choose, utilities
from apportion.routing.laboratory import ARMS, CLASSES, FEATURES, Setting, Study, study
from apportion.routing.quadratic import QuadraticRidge
from apportion.routing.routers import calibration_error, excess_loss

PRICES = (0.02, 0.05, 0.10, 0.20)
"""λ in quality per retrieval call, as in the study."""
SEEDS = 200
CELLS = 5
"""Quantile cells a feature, in which E[Q | φ] is simulated."""

SWEEP: Mapping[str, tuple[float, ...]] = {
    "bridge_angle": (0.0, 20.0, 40.0, 60.0, 80.0),
    "named_share": (0.0, 0.15, 0.28, 0.45, 0.6),
    "temperature": (0.1, 0.2, 0.3, 0.5, 1.0),
    "local_concentration": (15.0, 45.0, 150.0, 400.0),
    "sector_concentration": (15.0, 60.0, 200.0),
}
"""Parameters varied one at a time, the others as in the study."""


def figures(found: Study, prices: Sequence[float] = PRICES, *, router: bool = True) -> dict[str, float]:
    """The figures of one study.

    Args:
        found: queries and what the arms made of them.
        prices: λ per retrieval.
        router: whether to fit routers, with all features and without the cross-sector one.

    Returns:
        right:CLASS:ARM (queries right), gap:λ, reversal:λ on the held-out half, and of the router gain:λ,
        gain_in_sample:λ, gain_without_cross_sector:λ, share:λ (null gaps left out) and ece:ARM.
    """
    classes = np.asarray(found.classes)
    shown = {
        f"right:{name}:{arm}": float(found.right[classes == name, a].sum())
        for name in CLASSES
        for a, arm in enumerate(ARMS)
    }
    test, fitting = ~found.calibration, found.calibration
    cost = np.broadcast_to(np.asarray(found.costs), found.quality.shape)
    told: dict[str, Floats] = {}
    if router:
        groups = [str(i) for i in np.flatnonzero(fitting)]
        model = QuadraticRidge(0).fit(found.features[fitting], found.quality[fitting], groups)
        told["all"] = model.predict(found.features)
        fewer = found.features[:, [name != "cross_sector" for name in FEATURES]]
        told["fewer"] = QuadraticRidge(0).fit(fewer[fitting], found.quality[fitting], groups).predict(fewer)
        for a, arm in enumerate(ARMS):
            shown[f"ece:{arm}"] = calibration_error(told["all"][test, a], found.quality[test, a])
    for price in prices:
        at = f"{price:g}"
        utility = utilities(found.quality, cost, price)
        held = utility[test]
        # Mean regrets, as in `gap`: exactly 0 where one arm always wins.
        regret = held.max(axis=1, keepdims=True) - held
        best = int(regret.mean(axis=0).argmin())
        gap = float(regret[:, best].mean())
        shown[f"gap:{at}"] = gap
        shown[f"reversal:{at}"] = float((regret[:, best] > 0).mean())
        if router:
            gain = _gain(utility, choose(told["all"], cost, price), test)
            shown[f"gain:{at}"] = gain
            shown[f"gain_in_sample:{at}"] = _gain(utility, choose(told["all"], cost, price), fitting)
            shown[f"gain_without_cross_sector:{at}"] = _gain(
                utility, choose(told["fewer"], cost, price), test
            )
            if gap > 0:
                shown[f"share:{at}"] = gain / gap
    return shown


def _gain(utility: Floats, chosen: np.ndarray, rows: np.ndarray) -> float:
    played = utility[np.arange(len(utility)), chosen]
    return float(played[rows].mean() - utility[rows].mean(axis=0).max())


def summary(
    setting: Setting, seeds: Sequence[int], prices: Sequence[float] = PRICES, *, router: bool = True
) -> pl.DataFrame:
    """Each figure over the seeds: figure, median, low, high (tenth and ninetieth percentile), seeds."""
    return _spread([figures(study(setting, seed), prices, router=router) for seed in seeds])


def sweep(
    seeds: Sequence[int],
    parameters: Mapping[str, Sequence[float]] = SWEEP,
    prices: Sequence[float] = PRICES,
    setting: Setting | None = None,
) -> pl.DataFrame:
    """Figures without a router as each parameter moves by itself, the others as in the setting.

    Returns:
        parameter, value, and the columns of `summary`.
    """
    base = Setting() if setting is None else setting
    frames = []
    for name, values in parameters.items():
        for value in values:
            shown = summary(moved(base, name, value), seeds, prices, router=False)
            frames.append(
                shown.select(pl.lit(name).alias("parameter"), pl.lit(float(value)).alias("value"), pl.all())
            )
    return pl.concat(frames)


def moved(setting: Setting, name: str, value: float) -> Setting:
    """The setting with one parameter changed.

    Raises:
        ValueError: there is no such parameter, or it isn't one number.
    """
    before = getattr(setting, name, None)
    if not isinstance(before, int | float):
        raise ValueError(f"the laboratory has no parameter {name!r} that is a number")
    changes: dict[str, Any] = {name: int(value) if isinstance(before, int) else float(value)}
    return replace(setting, **changes)


def _spread(found: Sequence[Mapping[str, float]]) -> pl.DataFrame:
    names = dict.fromkeys(name for one in found for name in one)
    rows = []
    for name in names:
        values = np.array([one[name] for one in found if name in one])
        low, middle, high = np.quantile(values, [0.1, 0.5, 0.9])
        rows.append({"figure": name, "median": middle, "low": low, "high": high, "seeds": len(values)})
    return pl.DataFrame(rows)


def proposition_5(
    setting: Setting, seed: int, *, population: int = 3000, prices: Sequence[float] = PRICES
) -> pl.DataFrame:
    """Excess loss against its bound where E[Q | φ] is known: a router fitted on a study, tried on a large population.

    Features are cut into quantile cells of the population; φ is the cell, E[Q_a | φ] the population's mean in it, exact
    for that population. The router predicts from the cell's mean features, so that its estimates are functions of φ.

    Args:
        setting: of the study.
        seed: of the study; the population is other queries on the same corpus.
        population: queries a class.
        prices: λ.

    Returns:
        price, excess_loss and bound (means over the population), worst (largest loss less bound of any query).
    """
    small = study(setting, seed)
    large = study(replace(setting, queries_a_class=population), seed + 1_000_003, corpus_seed=seed)
    calibration = small.calibration
    groups = [str(i) for i in np.flatnonzero(calibration)]
    model = QuadraticRidge(0).fit(small.features[calibration], small.quality[calibration], groups)
    cuts = [np.quantile(column, np.linspace(0, 1, CELLS + 1)[1:-1]) for column in large.features.T]
    place = np.stack(
        [np.searchsorted(cut, column) for cut, column in zip(cuts, large.features.T, strict=True)]
    )
    cell = np.unique(np.ravel_multi_index(tuple(place), (CELLS,) * len(cuts)), return_inverse=True)[1]
    size = np.bincount(cell).astype(np.float64)
    conditional = _cell_means(cell, size, large.quality)
    estimated = model.predict(_cell_means(cell, size, large.features))
    cost = np.broadcast_to(np.asarray(large.costs), conditional.shape)
    rows = []
    for price in prices:
        loss, bound = excess_loss(estimated, conditional, cost, price)
        rows.append(
            {
                "price": float(price),
                "excess_loss": float(loss @ size / size.sum()),
                "bound": float(bound @ size / size.sum()),
                "worst": float((loss - bound).max()),
            }
        )
    return pl.DataFrame(rows)


def _cell_means(cell: np.ndarray, size: Floats, values: Floats) -> Floats:
    return np.stack([np.bincount(cell, weights=column) / size for column in values.T], axis=1)

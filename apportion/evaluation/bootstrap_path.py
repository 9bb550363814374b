"""Bootstrap over filings of anything a path yields: value at a budget, two policies' difference, the area between.

Reweighting items changes neither their hulls nor the order of slopes, so one order serves every resample: the counts
of the drawn filings stream along it. A resample of filings has its own number of questions; its spend and gain are
scaled to the batch's, so that a budget means the same tokens a question in each. For users of the library: published
tables resample policies of other kinds with ``bootstrap``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.compiled import kernels
from apportion.allocation.inputs import finite
from apportion.allocation.path import Path
from apportion.bootstrap import Interval, Kind, draw_counts, group_codes, interval

Floats = NDArray[np.float64]
_BLOCK = 1024  # steps between checkpoints
_COMPILED_FROM = 2_000_000  # steps times resamples, from where loading compiled code repays itself


def path_replicates(
    path: Path, groups: Any, budgets: ArrayLike, *, resamples: int = 200, seed: int = 0
) -> Floats:
    """Return the gain at each budget in each resample, in the batch's own scale, shape (resamples, b).

    Args:
        path: of n items.
        groups: a label an item (its filing), shape (n,).
        budgets: ascending, 0 or more, shape (b,).
        resamples: how many.
        seed: of the draws; paths over the same groups with the same seed share them.

    Raises:
        ValueError: for groups that don't pair with the items, or budgets that aren't ascending.
    """
    levels = finite("budget", budgets)
    if levels.ndim != 1 or (levels.size and levels.min() < 0) or (np.diff(levels) < 0).any():
        raise ValueError("budgets must be one ascending row of 0 or more")
    codes, count = group_codes(groups)
    if codes.shape[0] != path.items:
        raise ValueError(f"{codes.shape[0]} groups for {path.items} items: give one group an item")
    if count < 2:
        return np.zeros((0, levels.shape[0]))
    sizes = np.bincount(codes, weights=path.weights, minlength=count).astype(np.float64)
    drawn = list(_small(draw_counts(count, resamples, seed)))
    counts = np.ascontiguousarray(np.concatenate(drawn).T)
    shares = (sizes @ counts) / sizes.sum()
    found = np.zeros((resamples, levels.shape[0]))
    compiled = kernels(len(path) * resamples >= _COMPILED_FROM)
    stream = compiled.stream_weights if compiled is not None else stream_weights
    step_groups = codes.astype(np.int32)[path.item]
    stream(step_groups, path.cost, path.gained, counts, levels * shares[:, None], _BLOCK, found)
    scaled: Floats = found / shares[:, None]
    return scaled


def path_intervals(
    path: Path,
    groups: Any,
    budgets: ArrayLike,
    *,
    resamples: int = 200,
    seed: int = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
) -> list[Interval]:
    """Return the gain at each budget with its interval; arguments as in `path_replicates`."""
    drawn = path_replicates(path, groups, budgets, resamples=resamples, seed=seed)
    return _intervals(path.gain_at(budgets), drawn, group_codes(groups)[1], level, kind)


def difference_intervals(
    path_a: Path,
    path_b: Path,
    groups: Any,
    budgets: ArrayLike,
    *,
    resamples: int = 200,
    seed: int = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
) -> list[Interval]:
    """Return the gain of a less that of b at each budget, over the same resamples, with its interval."""
    estimate, drawn = _differences(path_a, path_b, groups, budgets, resamples, seed)
    return _intervals(estimate, drawn, group_codes(groups)[1], level, kind)


def area_interval(
    path_a: Path,
    path_b: Path,
    groups: Any,
    low: float,
    high: float,
    *,
    points: int = 200,
    resamples: int = 200,
    seed: int = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
) -> Interval:
    """Return the mean of gain a − gain b over spends from `low` to `high`: the area between, by its width.

    Args:
        path_a: of n items.
        path_b: of the same items.
        groups: a label an item.
        low: spend to start from, 0 or more.
        high: spend to end at, above `low`.
        points: of the trapezoid rule along the spend.
        resamples: how many.
        seed: of the draws.
        level: coverage.
        kind: of interval.
    """
    if not 0 <= low < high:
        raise ValueError(f"spends {low} to {high} are no range: give 0 <= low < high")
    spends = np.linspace(low, high, points)
    estimate, drawn = _differences(path_a, path_b, groups, spends, resamples, seed)
    both = np.trapezoid(np.vstack([estimate[None], drawn]), spends, axis=1) / (high - low)
    return interval(float(both[0]), both[1:], group_codes(groups)[1], level=level, kind=kind)


def stream_weights(
    groups: NDArray[np.int32],
    cost: Floats,
    gain: Floats,
    counts: NDArray[Any],
    levels: Floats,
    block: int,
    found: Floats,
) -> None:
    """Fill `found` with the gain of every resample at its levels.

    Args:
        groups: code of each step's group, shape (s,).
        cost: of each step, 0 or more, shape (s,).
        gain: of each step, shape (s,).
        counts: how often each group was drawn, shape (groups, r).
        levels: ascending spends of each resample, shape (r, b).
        block: steps at a time.
        found: output, shape (r, b).
    """
    spend, value = np.zeros(counts.shape[1]), np.zeros(counts.shape[1])
    todo = np.zeros(counts.shape[1], dtype=np.int64)
    for first in range(0, groups.shape[0], block):
        weights = counts[groups[first : first + block]].astype(np.float64)
        costs, gains = (
            weights * cost[first : first + block, None],
            weights * gain[first : first + block, None],
        )
        spends, values = (
            np.cumsum(np.vstack([spend, costs]), axis=0),
            np.cumsum(np.vstack([value, gains]), axis=0),
        )
        for r in np.flatnonzero(todo < levels.shape[1]).tolist():
            while todo[r] < levels.shape[1] and levels[r, todo[r]] < spends[-1, r]:
                level = levels[r, todo[r]]
                at = int(np.searchsorted(spends[:, r], level, side="right")) - 1
                share = (level - spends[at, r]) / costs[at, r]
                found[r, todo[r]] = values[at, r] + share * gains[at, r]
                todo[r] += 1
        spend, value = spends[-1], values[-1]
    for r, done in enumerate(todo):
        found[r, done:] = value[r]


def _differences(
    path_a: Path, path_b: Path, groups: Any, budgets: ArrayLike, resamples: int, seed: int
) -> tuple[Floats, Floats]:
    if path_a.items != path_b.items:
        raise ValueError(
            f"one path has {path_a.items} items, the other {path_b.items}: compare over the same items"
        )
    drawn = [
        path_replicates(path, groups, budgets, resamples=resamples, seed=seed) for path in (path_a, path_b)
    ]
    return path_a.gain_at(budgets) - path_b.gain_at(budgets), drawn[0] - drawn[1]


def _intervals(estimate: Floats, drawn: Floats, groups: int, level: float, kind: Kind) -> list[Interval]:
    return [
        interval(float(estimate[j]), drawn[:, j], groups, level=level, kind=kind)
        for j in range(estimate.shape[0])
    ]


def _small(blocks: Any) -> Any:
    """Counts in as few bytes as hold them: a group is rarely drawn more than a few times."""
    for block in blocks:
        yield block.astype(np.uint8 if block.max(initial=0) < 256 else np.uint32)

"""Paired bootstrap over groups (filings): means, differences, ratios, overlap, and any statistic of weights.

A resample draws as many groups as there are, with replacement, and keeps each drawn group whole, so that
questions on one filing stay together (escalation paper, section III-A; Cameron, Gelbach and Miller 2008). A
mean over resampled rows needs only each group's sums and how often it was drawn, so a resample is one product
and rows are never rebuilt. All columns of one call share their draws: differences between them are paired.

With a single group no interval can be estimated: its bounds are None. Resamples in which a statistic is
undefined (a ratio over nothing) are left out, and `Interval.resamples` counts those that remain.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.compiled import kernels
from apportion.allocation.inputs import finite

Floats = NDArray[np.float64]
Kind = Literal["percentile", "normal"]
_BLOCK = 1 << 19  # draws of one stream, held at a time: 4 MB of counts
_COMPILED_FROM = 20_000_000  # draws in all, from where compiled code repays being loaded


@dataclass(frozen=True)
class Interval:
    """An estimate with its bootstrap interval.

    Attributes:
        estimate: the statistic on the data itself; None where it is undefined.
        low: lower bound; None where not estimable (one group, or nothing defined).
        high: upper bound; likewise.
        resamples: resamples that the bounds rest on.
        groups: groups that were resampled.
    """

    estimate: float | None
    low: float | None
    high: float | None
    resamples: int
    groups: int

    @property
    def excludes_zero(self) -> bool:
        """Whether the interval is known and lies wholly on one side of zero."""
        return self.low is not None and self.high is not None and (self.low > 0 or self.high < 0)


def group_codes(groups: Any) -> tuple[NDArray[np.int64], int]:
    """Return each row's group as a code from 0 in ascending order of labels, shape (n,), and how many.

    Raises:
        ValueError: if a row's group is missing.
    """
    array = groups if isinstance(groups, np.ndarray) else None
    if array is not None and array.dtype.kind in "iu":
        low = int(array.min()) if array.size else 0
        if array.size and int(array.max()) - low < 4 * array.size:
            # Labels this close together need no sorting.
            shift = array.astype(np.int64) if array.dtype.kind == "i" else array
            places = (shift - shift.dtype.type(low)).astype(np.int64, copy=False)
            present = np.bincount(places) > 0
            return (np.cumsum(present) - 1)[places], int(present.sum())
        labels, codes = np.unique(array, return_inverse=True)
        return codes.astype(np.int64, copy=False), labels.shape[0]
    import polars as pl

    series = pl.Series("group", groups if isinstance(groups, pl.Series | np.ndarray) else list(groups))
    if series.dtype.is_float():
        series = series.fill_nan(None)
    if series.null_count():
        raise ValueError(f"group is missing in row {series.is_null().arg_max()}: give every row a group")
    if series.is_empty():
        return np.zeros(0, dtype=np.int64), 0
    codes = series.rank("dense").to_numpy().astype(np.int64) - 1
    return codes, int(codes.max()) + 1


def group_sums(codes: NDArray[np.int64], groups: int, columns: Floats) -> Floats:
    """Return the sums of `columns`, shape (n, k), within each group, shape (groups, k)."""
    sums = [np.bincount(codes, weights=columns[:, j], minlength=groups) for j in range(columns.shape[1])]
    return np.stack(sums, axis=1) if sums else np.zeros((groups, 0))


def draw_counts(groups: int, resamples: int, seed: int) -> Iterator[Floats]:
    """Yield blocks, shape (b, groups), of how often each group was drawn in b of the `resamples`.

    Each block has its own stream of random numbers, so that blocks may be drawn side by side.
    """
    rows = max(1, _BLOCK // max(groups, 1))
    for start in range(0, resamples, rows):
        yield _drawn_block(groups, resamples, seed, start)


def _drawn_block(groups: int, resamples: int, seed: int, start: int) -> Floats:
    block = min(max(1, _BLOCK // max(groups, 1)), resamples - start)
    rng = np.random.default_rng([seed, start])
    drawn = rng.integers(0, groups, size=(block, groups), dtype=np.uint32)
    compiled = kernels(groups * resamples >= _COMPILED_FROM)
    if compiled is not None:
        counts = np.zeros((block, groups))
        compiled.tally(drawn, counts)
        return counts
    flat = drawn.astype(np.int64)
    flat += np.arange(block)[:, None] * groups
    return np.bincount(flat.ravel(), minlength=block * groups).reshape(block, groups).astype(np.float64)


def resampled_sums(
    columns: ArrayLike, groups: Any, *, resamples: int = 2000, seed: int = 0
) -> tuple[Floats, Floats, int]:
    """Return the columns' sums, shape (k,), resampled ones, shape (resamples, k), and how many groups.

    Args:
        columns: shape (n, k), finite.
        groups: a label a row, shape (n,), none missing.
        resamples: how many, at least 1.
        seed: of the draws.
    """
    matrix = finite("value", columns)
    codes, count = group_codes(groups)
    if matrix.ndim != 2 or matrix.shape[0] != codes.shape[0]:
        raise ValueError(f"values have shape {matrix.shape}, groups {codes.shape}: give one group a row")
    if resamples < 1:
        raise ValueError(f"resamples is {resamples}: give at least 1")
    sums = group_sums(codes, count, matrix)
    if count < 2:
        return sums.sum(axis=0), np.zeros((0, matrix.shape[1])), count

    def part(start: int) -> Floats:
        product: Floats = _drawn_block(count, resamples, seed, start) @ sums
        return product

    starts = range(0, resamples, max(1, _BLOCK // count))
    if len(starts) > 4:
        from concurrent.futures import ThreadPoolExecutor

        kernels(count * resamples >= _COMPILED_FROM)  # loaded once, before the threads start
        with ThreadPoolExecutor(2) as pool:
            drawn = list(pool.map(part, starts))
    else:
        drawn = [part(start) for start in starts]
    return sums.sum(axis=0), np.concatenate(drawn), count


def interval(
    estimate: float, replicates: Floats, groups: int, *, level: float = 0.95, kind: Kind = "percentile"
) -> Interval:
    """Return the interval of a statistic from its value on the data and on resamples.

    Args:
        estimate: the statistic on the data; NaN is undefined.
        replicates: on the resamples, shape (r,); NaN ones are left out.
        groups: groups that were resampled; fewer than two give no bounds.
        level: coverage, between 0 and 1.
        kind: `percentile` (quantiles of the replicates) or `normal` (± z · their standard deviation).
    """
    if not 0 < level < 1:
        raise ValueError(f"level is {level}: give a coverage between 0 and 1, such as 0.95")
    if kind not in ("percentile", "normal"):
        raise ValueError(f"interval kind {kind!r} is unknown: choose percentile or normal")
    defined = replicates[np.isfinite(replicates)]
    known = float(estimate) if np.isfinite(estimate) else None
    if groups < 2 or known is None or defined.size < 2:
        return Interval(known, None, None, 0, groups)
    tail = (1 - level) / 2
    if kind == "normal":
        reach = NormalDist().inv_cdf(1 - tail) * float(defined.std(ddof=1))
        return Interval(known, known - reach, known + reach, defined.size, groups)
    low, high = np.quantile(defined, [tail, 1 - tail])
    return Interval(known, float(low), float(high), defined.size, groups)


def mean_intervals(
    values: ArrayLike,
    groups: Any,
    *,
    weights: ArrayLike | None = None,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
) -> list[Interval]:
    """Return the (weighted) mean of each column with its interval, all on the same draws.

    Args:
        values: finite, shape (n, k).
        groups: a label a row, shape (n,).
        weights: finite and not negative, shape (n,); None counts every row once.
        resamples: how many.
        seed: of the draws.
        level: coverage.
        kind: of interval.
    """
    columns = finite("value", values)
    if columns.ndim != 2:
        raise ValueError(
            f"values have shape {columns.shape}: give one row a question and one column a statistic"
        )
    heft = np.ones(columns.shape[0]) if weights is None else finite("weight", weights)
    if heft.shape != columns.shape[:1]:
        raise ValueError(
            f"weights have shape {heft.shape}, the values {columns.shape}: give one weight a row"
        )
    if (heft < 0).any():
        raise ValueError(f"weight is {heft.min()} in row {heft.argmin()}: give 0 or more")
    stacked = np.column_stack([columns * heft[:, None], heft])
    totals, drawn, count = resampled_sums(stacked, groups, resamples=resamples, seed=seed)
    found = []
    for j in range(columns.shape[1]):
        estimate, replicates = _quotient(totals[j], totals[-1]), _quotient(drawn[:, j], drawn[:, -1])
        if columns.shape[0] and columns[:, j].min() == columns[:, j].max():
            # All rows equal: the mean is that value in every resample; rounding shan't give it a width.
            estimate = np.where(np.isnan(estimate), np.nan, columns[0, j])
            replicates = np.where(np.isnan(replicates), np.nan, columns[0, j])
        found.append(interval(float(estimate), replicates, count, level=level, kind=kind))
    return found


def mean_interval(values: ArrayLike, groups: Any, **options: Any) -> Interval:
    """Return the mean of `values`, shape (n,), with its interval; options as in `mean_intervals`."""
    return mean_intervals(_column("values", values), groups, **options)[0]


def paired_difference(values_a: ArrayLike, values_b: ArrayLike, groups: Any, **options: Any) -> Interval:
    """Return the mean of a − b over the same rows with its interval; options as in `mean_intervals`.

    Raises:
        ValueError: if the two sides don't pair.
    """
    a, b = _column("values_a", values_a), _column("values_b", values_b)
    if a.shape != b.shape:
        raise ValueError(
            f"values_a has {a.shape[0]} rows, values_b {b.shape[0]}: a paired difference needs the same rows"
        )
    return mean_intervals(a - b, groups, **options)[0]


def ratio_interval(
    numerators: ArrayLike,
    denominators: ArrayLike,
    groups: Any,
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
) -> Interval:
    """Return Σ numerators / Σ denominators, both of shape (n,), with its interval."""
    columns = np.column_stack([_column("numerators", numerators), _column("denominators", denominators)])
    totals, drawn, count = resampled_sums(columns, groups, resamples=resamples, seed=seed)
    return interval(
        float(_quotient(totals[0], totals[1])),
        _quotient(drawn[:, 0], drawn[:, 1]),
        count,
        level=level,
        kind=kind,
    )


def jaccard_interval(
    chosen_a: ArrayLike, chosen_b: ArrayLike, groups: Any, *, weights: ArrayLike | None = None, **options: Any
) -> Interval:
    """Return |a ∩ b| / |a ∪ b| of two selections, booleans of shape (n,), with its interval.

    Undefined (None) where both are empty. Options as in `ratio_interval`.
    """
    a, b = np.asarray(chosen_a, dtype=np.bool_), np.asarray(chosen_b, dtype=np.bool_)
    if a.shape != b.shape:
        raise ValueError(
            f"one selection has {a.size} rows, the other {b.size}: compare over the same questions"
        )
    heft = np.ones(a.shape[0]) if weights is None else finite("weight", weights)
    return ratio_interval((a & b) * heft, (a | b) * heft, groups, **options)


def statistic_interval(
    statistic: Callable[[Floats], float],
    groups: Any,
    *,
    resamples: int = 2000,
    seed: int = 0,
    level: float = 0.95,
    kind: Kind = "percentile",
) -> Interval:
    """Return any statistic of weighted rows (a rank correlation, an area) with its interval.

    Args:
        statistic: takes how often each row counts, shape (n,), and returns the statistic, NaN if undefined.
        groups: a label a row, shape (n,).
        resamples: how many; the statistic is computed on each, so prefer sums where they suffice.
        seed: of the draws.
        level: coverage.
        kind: of interval.
    """
    codes, count = group_codes(groups)
    estimate = statistic(np.ones(codes.shape[0]))
    drawn = (
        [statistic(row[codes]) for counts in draw_counts(count, resamples, seed) for row in counts]
        if count > 1
        else []
    )
    return interval(float(estimate), np.array(drawn, dtype=np.float64), count, level=level, kind=kind)


def _column(name: str, values: ArrayLike) -> Floats:
    array = finite(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} have shape {array.shape}: give one value a row")
    return array[:, None]


def _quotient(above: Any, below: Any) -> Floats:
    above, below = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    quotient: Floats = np.divide(above, below, out=np.full(above.shape, np.nan), where=below != 0)
    return quotient

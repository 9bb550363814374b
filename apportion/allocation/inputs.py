"""Refusing unusable arrays with one line that names the array, the row's key and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray


def finite(
    name: str, values: ArrayLike, keys: Sequence[Any] | NDArray[Any] | None = None
) -> NDArray[np.float64]:
    """Return `values` as float64; raise ValueError naming `name` and the first NaN or infinite row."""
    array = np.asarray(values, dtype=np.float64)
    # One sum tells in most cases: it is finite only if no value is NaN or infinite.
    if not np.isfinite(array.sum()):
        good = np.isfinite(array)
        if not good.all():
            where = np.unravel_index(int(np.argmin(good)), array.shape)
            raise ValueError(f"{name} is {array[where]} {_at(where, keys)}: give a finite number")
    return array


def whole(
    name: str, values: ArrayLike, keys: Sequence[Any] | NDArray[Any] | None = None
) -> NDArray[np.int64]:
    """Return `values` as int64 whole tokens; raise ValueError naming `name` and the first bad row."""
    array = np.asarray(values)
    if array.dtype.kind in "iu":
        if array.dtype == np.uint64 and array.size and int(array.max()) > np.iinfo(np.int64).max:
            raise ValueError(f"{name} holds {array.max()}: token counts must fit in 64 signed bits")
        return array.astype(np.int64, copy=False)
    reals = finite(name, array, keys)
    bad = (reals != np.floor(reals)) | (np.abs(reals) >= 2.0**53)
    if bad.any():
        where = np.unravel_index(int(np.argmax(bad)), reals.shape)
        raise ValueError(
            f"{name} is {reals[where]} {_at(where, keys)}: token counts are whole numbers, round them first"
        )
    return reals.astype(np.int64)


def same_length(n: int, **arrays: NDArray[Any] | None) -> None:
    """Raise ValueError naming the first array whose first axis isn't `n` long."""
    for name, array in arrays.items():
        if array is not None and array.shape[0] != n:
            raise ValueError(f"{name} has {array.shape[0]} rows, the keys are {n}: give one value a row")


def whole_budgets(budgets: ArrayLike) -> NDArray[np.int64]:
    """Return budgets as a one-dimensional int64 array; raise ValueError for a negative or fractional one."""
    array = whole(
        "budget", np.atleast_1d(np.asarray(budgets)) if np.size(budgets) else np.zeros(0, dtype=np.int64)
    )
    if (array < 0).any():
        raise ValueError(f"budget {int(array.min())} is negative: give 0 or more tokens")
    return array


def key_ranks(keys: Any) -> NDArray[np.int64]:
    """Return each row's rank (0 to n-1) in the ascending order of its key, which must be unique.

    Text sorts by Unicode code point. Ranks break every tie, so results don't depend on the order of rows.
    """
    import polars as pl

    series = (
        keys
        if isinstance(keys, pl.Series)
        else pl.Series("key", list(keys) if _textual(keys) else np.asarray(keys))
    )
    if series.null_count():
        raise ValueError(
            f"key is missing in row {int(series.is_null().arg_max() or 0)}: give every row a key"
        )
    order = series.arg_sort().to_numpy()
    ordered = series.gather(order)
    twice = (ordered == ordered.shift(1)).fill_null(False)
    if twice.any():
        raise ValueError(f"key {ordered.filter(twice)[0]!r} stands twice: keys must be unique")
    ranks = np.empty(len(series), dtype=np.int64)
    ranks[order] = np.arange(len(series))
    return ranks


def _textual(keys: Sequence[Any] | NDArray[Any]) -> bool:
    return not isinstance(keys, np.ndarray) or keys.dtype.kind in "OUS"


def _at(where: tuple[Any, ...], keys: Sequence[Any] | NDArray[Any] | None) -> str:
    row = int(where[0])
    place = f"at key {str(keys[row])!r} (row {row})" if keys is not None else f"in row {row}"
    return place + (f", column {int(where[1])}" if len(where) > 1 else "")

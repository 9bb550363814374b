"""All policies at all budgets over a logged batch, from Parquet to Parquet, a million questions at a time.

One seed is in memory at a time, and each policy's rows are written as soon as they are known. Rows of a policy stand
in order of position (orders) or of budget and question id (selections), so the same predictions give the same bytes.
For users of the library: commands hold their tables in memory and run ``evaluation/sweep``, which chooses the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from apportion.allocation.candidates import Candidates
from apportion.allocation.policies import PAPER_POLICIES, budget_levels, known, ordered_selection

FRACTIONS: tuple[float, ...] = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Budget fractions of the escalation paper, section III-A."""

_NEEDED = ("seed", "question_id", "predicted_gain", "predicted_cost")
_OPTIONAL = ("confidence", "margin", "refused", "realised_gain", "realised_cost")
_WHOLE = ("predicted_cost", "realised_cost")


def sweep(
    predictions: Path,
    orders: Path,
    selections: Path,
    *,
    policies: Sequence[str] = PAPER_POLICIES,
    fractions: Sequence[float] = FRACTIONS,
) -> pl.DataFrame:
    """Run `policies` at `fractions` for every seed of `predictions`, and return one summary row for each.

    Args:
        predictions: Parquet; a row a seed and question with columns seed, question_id, predicted_gain, predicted_cost
            (whole tokens) and, for the policies that use them, confidence, margin, refused, realised_gain and
            realised_cost.
        orders: Parquet to write: policy, seed, question_id, position, predicted_gain, predicted_cost.
        selections: Parquet to write, only what was chosen: policy, seed, budget_fraction, question_id,
            predicted_cost, realised_cost.
        policies: of `POLICIES`.
        fractions: of each policy's whole budget, 0 to 1.

    Returns:
        policy, seed, budget_fraction, budget, selected, predicted_spend, realised_spend, realised_gain; what isn't
        known is null.

    Raises:
        ValueError: for a missing column, an unknown policy or one without its signal, or unusable values.
    """
    import pyarrow.parquet as pq

    for policy in policies:
        known(policy)
    columns = pl.read_parquet_schema(predictions)
    if missing := [name for name in _NEEDED if name not in columns]:
        raise ValueError(
            f"{predictions.name} has no column {', '.join(missing)}: a sweep needs {', '.join(_NEEDED)}"
        )
    wanted = [*_NEEDED[1:], *(name for name in _OPTIONAL if name in columns)]
    frame = pl.scan_parquet(predictions)
    seeds = frame.select("seed").unique().collect().to_series().sort().to_list()
    summary: list[dict[str, Any]] = []
    # Under other names until whole: a sweep that was stopped leaves nothing that looks finished.
    parts = [path.with_name(path.name + ".partial") for path in (orders, selections)]
    settings: dict[str, Any] = {
        "compression": "none",  # ids and costs are packed into as many bits as they need; more gains little
        "use_dictionary": ["policy", "question_id", "budget_fraction", "seed"],
        "dictionary_pagesize_limit": 1 << 28,  # a million ids stay a dictionary
        "write_statistics": False,
    }
    try:
        with (
            pq.ParquetWriter(parts[0], _order_schema(), **settings) as order_writer,
            pq.ParquetWriter(parts[1], _selection_schema(), **settings) as selection_writer,
        ):
            for seed in seeds:
                rows = frame.filter(pl.col("seed") == seed).select(wanted).collect().sort("question_id")
                batch = _Batch(rows, int(seed))
                for policy in policies:
                    batch.run(policy, fractions, order_writer, selection_writer, summary)
        for part, path in zip(parts, (orders, selections), strict=True):
            part.replace(path)
    finally:
        for part in parts:
            part.unlink(missing_ok=True)
    return pl.DataFrame(summary, schema=_SUMMARY)


_SUMMARY = {
    "policy": pl.String,
    "seed": pl.Int64,
    "budget_fraction": pl.Float64,
    "budget": pl.Int64,
    "selected": pl.Int64,
    "predicted_spend": pl.Int64,
    "realised_spend": pl.Int64,
    "realised_gain": pl.Float64,
}


class _Batch:
    """One seed's questions, in order of their ids."""

    def __init__(self, rows: pl.DataFrame, seed: int) -> None:
        import pyarrow as pa

        self.seed = seed
        values = {}
        for name in rows.columns[1:]:
            column = rows[name] if name in _WHOLE else rows[name].cast(pl.Float64)
            if name in ("confidence", "margin", "refused"):
                column = column.fill_null(float("nan"))
            elif column.null_count():
                row = int(column.is_null().arg_max() or 0)
                raise ValueError(
                    f"{name} is missing at key {rows['question_id'][row]!r}, seed {seed}: leave it out"
                )
            values[name] = column.to_numpy()
        self.candidates = Candidates(rows["question_id"], **values)
        self.ids = pa.array(rows["question_id"].to_arrow().cast(pa.string()))
        self.predicted = self.candidates.predicted_cost.astype(np.int32)
        realised = self.candidates.realised_cost
        self.realised = None if realised is None else realised.astype(np.int32)

    def run(
        self,
        policy: str,
        fractions: Sequence[float],
        order_writer: Any,
        selection_writer: Any,
        summary: list[dict[str, Any]],
    ) -> None:
        """Order and select by one policy, and write both."""
        budgets = budget_levels(policy, self.candidates, fractions)
        order, chosen = ordered_selection(policy, self.candidates, budgets, seed=self.seed)
        if order is not None:
            self._write_order(policy, order, order_writer)
        places = [np.flatnonzero(row).astype(np.int32) for row in chosen]
        self._write_selections(policy, fractions, places, selection_writer)
        for fraction, budget, picked in zip(fractions, budgets, places, strict=True):
            gain, cost = self.candidates.realised_gain, self.candidates.realised_cost
            summary.append(
                {
                    "policy": policy,
                    "seed": self.seed,
                    "budget_fraction": float(fraction),
                    "budget": budget,
                    "selected": picked.size,
                    "predicted_spend": int(self.candidates.predicted_cost[picked].sum()),
                    "realised_spend": None if cost is None else int(cost[picked].sum()),
                    "realised_gain": None if gain is None else float(gain[picked].sum()),
                }
            )

    def _write_order(self, policy: str, order: Any, writer: Any) -> None:
        import pyarrow as pa

        n = order.shape[0]
        writer.write_table(
            pa.table(
                [
                    _repeated(policy, n),
                    _repeated(self.seed, n),
                    pa.DictionaryArray.from_arrays(pa.array(order.astype(np.int32)), self.ids),
                    pa.array(np.arange(n, dtype=np.int32)),
                    pa.array(self.candidates.predicted_gain[order]),
                    pa.array(self.predicted[order]),
                ],
                schema=_order_schema(),
            ),
            row_group_size=max(n, 1),
        )

    def _write_selections(
        self, policy: str, fractions: Sequence[float], places: list[Any], writer: Any
    ) -> None:
        import pyarrow as pa

        picked = np.concatenate(places) if places else np.zeros(0, dtype=np.int32)
        if not picked.size:
            return
        which = np.repeat(np.arange(len(places), dtype=np.int32), [place.size for place in places])
        realised = (
            pa.nulls(picked.size, pa.int32()) if self.realised is None else pa.array(self.realised[picked])
        )
        writer.write_table(
            pa.table(
                [
                    _repeated(policy, picked.size),
                    _repeated(self.seed, picked.size),
                    pa.DictionaryArray.from_arrays(pa.array(which), pa.array([float(f) for f in fractions])),
                    pa.DictionaryArray.from_arrays(pa.array(picked), self.ids),
                    pa.array(self.predicted[picked]),
                    realised,
                ],
                schema=_selection_schema(),
            ),
            row_group_size=picked.size,
        )


def _repeated(value: Any, n: int) -> Any:
    import pyarrow as pa

    return pa.DictionaryArray.from_arrays(pa.array(np.zeros(n, dtype=np.int32)), pa.array([value]))


def _order_schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            ("policy", pa.dictionary(pa.int32(), pa.string())),
            ("seed", pa.dictionary(pa.int32(), pa.int64())),
            ("question_id", pa.dictionary(pa.int32(), pa.string())),
            ("position", pa.int32()),
            ("predicted_gain", pa.float64()),
            ("predicted_cost", pa.int32()),
        ]
    )


def _selection_schema() -> Any:
    import pyarrow as pa

    return pa.schema(
        [
            ("policy", pa.dictionary(pa.int32(), pa.string())),
            ("seed", pa.dictionary(pa.int32(), pa.int64())),
            ("budget_fraction", pa.dictionary(pa.int32(), pa.float64())),
            ("question_id", pa.dictionary(pa.int32(), pa.string())),
            ("predicted_cost", pa.int32()),
            ("realised_cost", pa.int32()),
        ]
    )

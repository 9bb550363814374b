"""Suites of Great Expectations over the tables of record.

Derived from the contracts where a contract says it, and written out where it takes more than one column. The data
source is a pandas frame of just the columns that a suite reads.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

import polars as pl

from warehouse.contracts import TABLES

RECORD = (
    "filings",
    "pages",
    "questions",
    "retrievals",
    "route_outcomes",
    "judgements",
    "route_quality",
    "features",
    "predictions",
    "selections",
    "policy_summary",
)
"""Tables of record: a wrong row in them makes a published number wrong."""

PAIRS: dict[str, tuple[tuple[str, str], ...]] = {
    "route_outcomes": (("total_tokens", "input_tokens"), ("total_tokens", "output_tokens")),
    "features": (("deep_pages", "deep_new_pages"),),
    "policy_summary": (("predicted_budget", "predicted_spend"),),
}
"""Columns of which the first is never the smaller one."""


MAY_BE_EMPTY = frozenset({"filings", "pages", "retrievals", "judgements", "route_quality", "selections"})
"""Tables whose slice may hold nothing: repeated filings, questions without gold answers, policies that buy nothing."""


def _suite(table: str) -> Callable[[Any], list[Any]]:
    contract = TABLES[table]

    def expectations(gxe: Any) -> list[Any]:
        listed = [gxe.ExpectTableRowCountToBeBetween(min_value=0 if table in MAY_BE_EMPTY else 1)]
        if len(contract.key) > 1:
            listed.append(gxe.ExpectCompoundColumnsToBeUnique(column_list=list(contract.key)))
        else:
            listed.append(gxe.ExpectColumnValuesToBeUnique(column=contract.key[0]))
        for column in contract.columns:
            if not column.nullable and column.dtype in (pl.String, pl.Int64, pl.Float64, pl.Boolean):
                listed.append(gxe.ExpectColumnValuesToNotBeNull(column=column.name))
            if column.low is not None or column.high is not None:
                listed.append(
                    gxe.ExpectColumnValuesToBeBetween(
                        column=column.name, min_value=column.low, max_value=column.high
                    )
                )
            if column.values:
                listed.append(
                    gxe.ExpectColumnValuesToBeInSet(column=column.name, value_set=list(column.values))
                )
        for larger, smaller in PAIRS.get(table, ()):
            listed.append(
                gxe.ExpectColumnPairValuesAToBeGreaterThanB(
                    column_A=larger, column_B=smaller, or_equal=True, ignore_row_if="either_value_is_missing"
                )
            )
        return listed

    return expectations


SUITES: dict[str, Callable[[Any], list[Any]]] = {table: _suite(table) for table in RECORD}


def suite_mark(table: str) -> str:
    """What a suite asks, as a hash: rows that passed it once need not be asked the same again."""
    contract = TABLES[table]
    asked = (
        [(c.name, str(c.dtype), c.nullable, c.low, c.high, c.values) for c in contract.columns],
        contract.key,
        PAIRS.get(table, ()),
        table in MAY_BE_EMPTY,
        version("great-expectations"),
    )
    return hashlib.sha256(repr(asked).encode()).hexdigest()[:16]


def run_suite(table: str, candidate: pl.DataFrame) -> tuple[bool, dict[str, Any]]:
    """Run a table's suite on a candidate: whether all of it holds, and what didn't, in words."""
    with warnings.catch_warnings():
        # Its own dependencies' deprecations, at import, are nothing that a check of our rows could mend.
        warnings.simplefilter("ignore")
        import great_expectations as gx
        import great_expectations.expectations as gxe

        context = gx.get_context(mode="ephemeral")
        context.variables.progress_bars = {"globally": False}
        suite = gx.ExpectationSuite(name=table, expectations=SUITES[table](gxe))
        read = {name for e in suite.expectations for name in _columns_of(e)}
        frame = candidate.select(name for name in candidate.columns if name in read).to_pandas()
        batch = (
            context.data_sources.add_pandas(table)
            .add_dataframe_asset(table)
            .add_batch_definition_whole_dataframe(table)
            .get_batch({"dataframe": frame})
        )
        result = batch.validate(suite, result_format="BASIC")
    failed = [
        f"{outcome.expectation_config.type} {outcome.expectation_config.kwargs}"
        for outcome in result.results
        if not outcome.success
    ]
    return bool(result.success), {"expectations": len(result.results), "failed": failed}


def _columns_of(expectation: Any) -> list[str]:
    names = [getattr(expectation, name, None) for name in ("column", "column_A", "column_B")]
    return [name for name in names if name] + list(getattr(expectation, "column_list", None) or [])

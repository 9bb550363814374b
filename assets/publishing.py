"""From rows to a committed slice: check first, commit only what passes, tell Dagster what it is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import dagster as dg
import polars as pl

from apportion.corpus.records import Problem
from assets.checks import Finding, run_checks
from assets.expectations import SUITES, suite_mark
from assets.provenance import last_commit, provenance
from warehouse.contracts import TABLES
from warehouse.schema import sql_type
from warehouse.store import Slice, Store

PREVIEW_ROWS = 8
PREVIEW_WIDTH = 48

Published = Iterator[dg.AssetCheckResult | dg.MaterializeResult[Any]]


def column_schema(table: str) -> dg.TableSchema:
    """A contract as Dagster shows it."""
    return dg.TableSchema(
        columns=[
            dg.TableColumn(
                column.name,
                sql_type(column.dtype),
                description=f"{column.doc} ({column.rule})",
                constraints=dg.TableColumnConstraints(nullable=column.nullable),
            )
            for column in TABLES[table].columns
        ]
    )


def publish(
    context: dg.AssetExecutionContext,
    store: Store,
    table: str,
    rows: pl.DataFrame,
    where: Slice,
    *,
    inputs: Mapping[str, int | None],
    arguments: Mapping[str, Any] | None = None,
    problems: list[Problem] | None = None,
    metadata: Mapping[str, Any] | None = None,
) -> Published:
    """Check a candidate slice, commit it if every blocking check passes, and report both.

    Args:
        context: the asset's.
        store: where to commit.
        table: the table, which is the asset's name.
        rows: the slice's rows; the contract puts columns and order right.
        where: the slice.
        inputs: tables the rows were computed from, with fixed versions where a set keeps to one.
        arguments: settings that the rows depend on.
        problems: inputs that were refused, for whoever started the run.
        metadata: more to show in Dagster.

    Raises:
        dagster.Failure: a blocking check failed; nothing is committed.
    """
    candidate = TABLES[table].arrange(rows)
    # An asset without a partition key of its own (a multi-set model) has none to record.
    partition = context.partition_key if context.has_partition_key else None
    before = None if partition is None else last_commit(store, table, partition, where)
    suite = suite_mark(table) if table in SUITES else None
    known = before is not None and suite is not None and before.get("suite") == suite
    findings = run_checks(
        store,
        table,
        candidate,
        where=where,
        passed_suite=known and store.read(table, where).equals(candidate),
    )
    yield from report_checks(table, findings)
    made_by = provenance(store, context.run.run_id, partition, inputs, arguments or {}, where) | {
        "suite": suite
    }
    moved = before is not None and before.get("inputs") != made_by["inputs"]
    receipt = store.write_slice(table, candidate, where, made_by, force=moved)
    yield dg.MaterializeResult(
        asset_key=table,
        metadata={
            "dagster/row_count": candidate.height,
            "preview": dg.MetadataValue.md(preview(candidate)),
            "table_version": receipt.version,
            "committed": receipt.changed,
            "problems": [str(problem) for problem in problems or []],
            **(metadata or {}),
        },
    )


def report_checks(table: str, findings: Sequence[Finding]) -> Iterator[dg.AssetCheckResult]:
    """Report what was found of a candidate, and refuse it where a blocking check failed.

    Raises:
        dagster.Failure: a blocking check failed; every one of them is named.
    """
    for finding in findings:
        yield dg.AssetCheckResult(
            asset_key=table,
            check_name=finding.name,
            passed=finding.passed,
            severity=dg.AssetCheckSeverity.ERROR if finding.blocking else dg.AssetCheckSeverity.WARN,
            description=finding.description or None,
            metadata=dict(finding.metadata),
        )
    broken = [finding for finding in findings if finding.blocking and not finding.passed]
    if broken:
        raise dg.Failure(
            f"{table} was not committed: "
            + "; ".join(f"check {f.name} failed: {f.description}" for f in broken),
            allow_retries=False,
        )


def preview(rows: pl.DataFrame) -> str:
    """The first rows as a Markdown table. Cells are data: nothing in them is markup."""
    head = rows.head(PREVIEW_ROWS)
    lines = ["| " + " | ".join(head.columns) + " |", "|" + "---|" * head.width]
    lines += ["| " + " | ".join(_cell(value) for value in row) + " |" for row in head.iter_rows()]
    if rows.height > PREVIEW_ROWS:
        lines.append(f"\n{rows.height:,} rows in all")
    return "\n".join(lines)


def _cell(value: object) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else "" if value is None else str(value)
    text = " ".join(text.split())
    if len(text) > PREVIEW_WIDTH:
        text = text[: PREVIEW_WIDTH - 1] + "…"
    for character, escaped in (("&", "&amp;"), ("<", "&lt;"), (">", "&gt;"), ("|", "&#124;")):
        text = text.replace(character, escaped)
    return "".join("\\" + c if c in "\\`*_[]!#" else c for c in text)

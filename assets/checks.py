"""Checks on a candidate, before it is committed.

Every table of record passes its contract, a suite of expectations, and the queries of ``sql/checks`` that bear its
name; each query returns the offending rows. A blocking check that fails keeps the table as it was.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from assets.expectations import SUITES, run_suite
from warehouse import catalog
from warehouse.contracts import TABLES
from warehouse.paths import sql_folder
from warehouse.schema import ContractError
from warehouse.store import Slice, Store

SHOWN = 5


@dataclass(frozen=True)
class SqlCheck:
    """One file of ``sql/checks``: ``TABLE__NAME.sql``, its first comment the description."""

    table: str
    name: str
    description: str
    blocking: bool
    statement: str

    @classmethod
    def read(cls, path: Path) -> SqlCheck:
        """Read a file; a line ``-- warning`` makes it one that doesn't block."""
        table, _, name = path.stem.partition("__")
        lines = path.read_text(encoding="utf-8").splitlines()
        notes = [line.removeprefix("--").strip() for line in lines if line.startswith("--")]
        if table not in TABLES or not name or not notes:
            raise ValueError(
                f"{path.name}: a check is named TABLE__NAME.sql and begins with a comment that says what it checks"
            )
        description = " ".join(note for note in notes if note != "warning")
        return cls(table, name, description, "warning" not in notes, "\n".join(lines))


@dataclass(frozen=True)
class Finding:
    """What one check found."""

    name: str
    passed: bool
    blocking: bool
    description: str
    metadata: Mapping[str, Any] = field(default_factory=dict)


@lru_cache(maxsize=1)
def sql_checks() -> dict[str, list[SqlCheck]]:
    """The queries of ``sql/checks`` by table."""
    found: dict[str, list[SqlCheck]] = {}
    for path in sorted(sql_folder("checks").glob("*.sql")):
        check = SqlCheck.read(path)
        found.setdefault(check.table, []).append(check)
    return found


def specs(table: str) -> list[dg.AssetCheckSpec]:
    """The checks of a table's asset, as Dagster shows them."""
    listed = [
        dg.AssetCheckSpec(
            "contract",
            asset=table,
            blocking=True,
            description="types, ranges, keys and order of the contract",
        )
    ]
    if table in SUITES:
        listed.append(
            dg.AssetCheckSpec(
                "expectations", asset=table, blocking=True, description="suite of Great Expectations"
            )
        )
    listed += [
        dg.AssetCheckSpec(check.name, asset=table, blocking=check.blocking, description=check.description)
        for check in sql_checks().get(table, [])
    ]
    return listed


def run_checks(
    store: Store,
    table: str,
    candidate: pl.DataFrame,
    *,
    where: Slice | None = None,
    passed_suite: bool = False,
) -> list[Finding]:
    """Every check of a table on a candidate slice. Queries see the candidate in the table's place.

    Args:
        store: where the other tables are.
        table: the table.
        candidate: the slice's rows.
        where: the slice; without it, the slices that the rows stand in. Queries see it as `checked_slice`: an empty
            candidate says nothing of what it is empty of.
        passed_suite: these very rows passed this very suite before: loading Great Expectations takes seconds.
    """
    findings = [_contract(table, candidate)]
    if not findings[0].passed:
        # The other checks presume the contract's columns: without them they would fail for the wrong reason.
        return findings + [
            Finding(
                str(spec.name),
                passed=False,
                blocking=bool(spec.blocking),
                description="not run: the contract failed",
            )
            for spec in specs(table)[1:]
        ]
    if table in SUITES:
        passed, metadata = (
            (True, {"unchanged": True, "failed": []}) if passed_suite else run_suite(table, candidate)
        )
        findings.append(
            Finding(
                "expectations",
                passed,
                blocking=True,
                description="; ".join(metadata["failed"]),
                metadata=metadata,
            )
        )
    listed = sql_checks().get(table, [])
    if listed:
        connection = catalog.connect(store, extra=shown(table, candidate, where))
        try:
            findings += [_query(connection, check) for check in listed]
        finally:
            connection.close()
    return findings


def shown(table: str, candidate: pl.DataFrame, where: Slice | None = None) -> dict[str, pl.DataFrame]:
    """The frames that a table's queries see beside the tables."""
    named = candidate.select(TABLES[table].slices).unique() if where is None else pl.DataFrame([dict(where)])
    return {table: candidate, "checked_slice": named}


def _query(connection: Any, check: SqlCheck) -> Finding:
    rows = catalog.ask(connection, check.statement)
    what = (
        "" if rows.is_empty() else f"{check.description}: {rows.height} rows, first {rows.row(0, named=True)}"
    )
    return Finding(
        check.name,
        passed=rows.is_empty(),
        blocking=check.blocking,
        description=what,
        metadata={"offending_rows": rows.height, "first": str(rows.head(SHOWN).to_dicts())},
    )


def _contract(table: str, candidate: pl.DataFrame) -> Finding:
    try:
        TABLES[table].validate(candidate)
    except ContractError as error:
        return Finding("contract", passed=False, blocking=True, description=str(error))
    return Finding(
        "contract", passed=True, blocking=True, description="", metadata={"rows": candidate.height}
    )

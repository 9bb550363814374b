"""`apportion sql`, `status` and `vacuum`: looking at the warehouse and keeping it small."""

from __future__ import annotations

from typing import Any

import polars as pl

from assets.provenance import pinned_versions
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.output import Format, say, show
from warehouse import catalog
from warehouse.compaction import compact
from warehouse.contracts import TABLES
from warehouse.paths import local_root
from warehouse.store import Store


def sql(statement: str, layout: Format) -> None:
    """Print the rows of one statement.

    Raises:
        CallError: it isn't one query, or DuckDB refuses it.
    """
    store = Store()
    extra: dict[str, pl.DataFrame] = {}
    if "runs" in statement.lower():
        extra["runs"] = catalog.runs(store)
    if "call_uses" in statement.lower():
        extra["call_uses"] = call_uses()
    try:
        rows = catalog.query(store, statement, extra)
    except catalog.SqlError as error:
        raise CallError(str(error)) from error
    show(rows, layout)


def call_uses() -> pl.DataFrame:
    """Who used which call when, from the ledger."""
    from apportion.llm.ledger import Ledger
    from apportion.llm.ledger_reading import CALL_USES

    path = local_root() / "ledger.sqlite"
    if not path.exists():
        return pl.DataFrame(schema=dict.fromkeys(CALL_USES, pl.String))
    ledger = Ledger(path)
    try:
        return pl.DataFrame(ledger.call_uses_rows(), infer_schema_length=None)
    finally:
        ledger.close()


def status(layout: Format) -> None:
    """Print batches, sets and spending."""
    from assets.freshness import batch_rows, set_rows
    from orchestration.instance import open_instance, run_states

    store = Store()
    with open_instance() as instance:
        states = run_states(instance)
    batches, sets, spent = batch_rows(store), set_rows(store), spending()
    for rows in (batches, sets):
        for row in rows:
            row["last_run"] = states.get(row.get("filing_batch") or row["outcome_set"])
    if layout is Format.table:
        for title, listed in (("Filing batches", batches), ("Outcome sets", sets), ("Spending", spent)):
            if listed:
                show(pl.DataFrame(listed, infer_schema_length=None), layout, title=title)
            else:
                say(f"{title}: none yet")
        return
    everything: list[dict[str, Any]] = [
        {"kind": kind, **row}
        for kind, rows in (("batch", batches), ("set", sets), ("spending", spent))
        for row in rows
    ]
    show(pl.DataFrame(everything, infer_schema_length=None), layout)


def spending() -> list[dict[str, Any]]:
    """What the ledger says was spent, by set, model and purpose."""
    from dataclasses import asdict

    from apportion.llm.ledger import Ledger

    path = local_root() / "ledger.sqlite"
    if not path.exists():
        return []
    ledger = Ledger(path)
    try:
        return [asdict(row) for row in ledger.spend()]
    finally:
        ledger.close()


def vacuum(keep: float) -> None:
    """Join small files, drop old file versions of every table, and say how many."""
    store = Store()
    joined = [compact(store, name) for name in TABLES]
    # A set keeps to the snapshot of the corpus that it was answered over: that one stays, however old it is.
    pinned = {name: pinned_versions(store, name) for name in ("pages", "chunks")}
    dropped = sum(len(store.vacuum(name, keep, pinned.get(name, ()))) for name in TABLES)
    refresh_catalogue()
    before, after = (sum(counts) for counts in zip(*joined, strict=True))
    if before:
        say(f"{before} small files joined to {after}")
    say(f"{dropped} files dropped; {keep:g} days of history kept")

"""SQL over the tables: a DuckDB with one view a table, and the views of ``sql/views`` on top.

The product reads through an in-memory database made afresh for each question. People's own shells get
``catalog.duckdb`` and ``catalog.sql``, written beside the tables and never opened by the product again.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Mapping
from pathlib import Path

import duckdb
import polars as pl

from warehouse.contracts import TABLES
from warehouse.paths import local_root, sql_folder
from warehouse.schema import Table, sql_type
from warehouse.store import Store, literal

RUNS_COLUMNS: dict[str, type[pl.DataType] | pl.DataType] = {
    "table": pl.String,
    "version": pl.Int64,
    "committed_at": pl.Datetime("ms", "UTC"),
    "operation": pl.String,
    "asset_partition": pl.String,
    "run_id": pl.String,
    "commit": pl.String,
    "dirty": pl.Boolean,
    "versions": pl.String,
    "arguments": pl.String,
    "inputs": pl.String,
}


class SqlError(ValueError):
    """A statement that DuckDB refuses, in one line."""


def table_view(table: Table, files: Iterable[str]) -> str:
    """The statement that makes a table's view over its snapshot's files."""
    columns = [f'CAST("{c.name}" AS {sql_type(c.dtype)}) AS "{c.name}"' for c in table.columns]
    listed = ", ".join(literal(file) for file in files)
    nulls = ", ".join(f'CAST(NULL AS {sql_type(c.dtype)}) AS "{c.name}"' for c in table.columns)
    body = f"SELECT {nulls} WHERE false"
    if listed:
        # By name with the empty table: files from before a column was added have none of it, and it is null there.
        rows = f"SELECT * FROM read_parquet([{listed}], union_by_name = true) UNION ALL BY NAME {body}"
        body = f"SELECT {', '.join(columns)} FROM ({rows})"
    return f'CREATE OR REPLACE VIEW "{table.name}" AS {body}'


def comments(table: Table) -> list[str]:
    """Statements that put the contract's words on the view and its columns."""
    lines = [f'COMMENT ON VIEW "{table.name}" IS {literal(table.grain)}']
    lines += [f'COMMENT ON COLUMN "{table.name}"."{c.name}" IS {literal(c.doc)}' for c in table.columns]
    return lines


def user_views() -> dict[str, str]:
    """The views of ``sql/views``, by file name: one statement a file, without a trailing semicolon."""
    return {
        path.stem: path.read_text(encoding="utf-8").strip().rstrip(";")
        for path in sorted(sql_folder("views").glob("*.sql"))
    }


def statements(store: Store) -> list[str]:
    """Every statement that makes the catalogue over the current snapshots."""
    lines: list[str] = []
    for table in TABLES.values():
        lines.append(table_view(table, store.files(table.name)))
        lines += comments(table)
    lines += [f'CREATE OR REPLACE VIEW "{name}" AS {body}' for name, body in user_views().items()]
    return lines


def runs(store: Store) -> pl.DataFrame:
    """The tables' commits with their provenance, newest first."""
    rows = []
    for name in TABLES:
        for entry in store.history(name):
            row = {column: entry.get(column) for column in RUNS_COLUMNS}
            for column in ("versions", "arguments", "inputs"):
                row[column] = None if row[column] is None else _json(row[column])
            rows.append(row)
    frame = pl.DataFrame(rows, schema={**RUNS_COLUMNS, "committed_at": pl.Int64}, infer_schema_length=None)
    return frame.with_columns(pl.from_epoch("committed_at", time_unit="ms").dt.replace_time_zone("UTC")).sort(
        "committed_at", "table", "version", descending=True
    )


def connect(store: Store, extra: Mapping[str, pl.DataFrame] | None = None) -> duckdb.DuckDBPyConnection:
    """An in-memory database with every table and view, closed to everything else.

    Args:
        store: the tables.
        extra: further frames to show as tables, such as a candidate that is to be checked; one that bears a
            table's name stands in its place.
    """
    connection = duckdb.connect(":memory:", config={"autoinstall_known_extensions": "false"})
    connection.execute("SET TimeZone = 'UTC'")
    replaced = dict(extra or {})
    allowed: list[str] = []
    for table in TABLES.values():
        if table.name in replaced:
            continue
        files = store.files(table.name)
        allowed += files
        connection.execute(table_view(table, files))
        for line in comments(table):
            connection.execute(line)
    for name, frame in replaced.items():
        connection.register(f"_{name}", frame.to_arrow())
        connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS SELECT * FROM "_{name}"')
    for name, body in user_views().items():
        connection.execute(f'CREATE OR REPLACE VIEW "{name}" AS {body}')
    _close_off(connection, allowed)
    return connection


def _close_off(connection: duckdb.DuckDBPyConnection, files: list[str]) -> None:
    """Leave the snapshots' files readable and nothing else: text in a statement is data, never a way out."""
    if files:
        connection.execute(f"SET allowed_paths = [{', '.join(literal(file) for file in files)}]")
    connection.execute("SET enable_external_access = false")
    connection.execute("SET lock_configuration = true")


def query(store: Store, statement: str, extra: Mapping[str, pl.DataFrame] | None = None) -> pl.DataFrame:
    """The rows of one read-only statement.

    Raises:
        SqlError: the statement is not a single query, or DuckDB refuses it.
    """
    connection = connect(store, extra)
    try:
        return ask(connection, statement)
    finally:
        connection.close()


def ask(connection: duckdb.DuckDBPyConnection, statement: str) -> pl.DataFrame:
    """The rows of one read-only statement on an open connection; errors as in `query`."""
    try:
        parsed = connection.extract_statements(statement)
        if len(parsed) != 1:
            raise SqlError(f"one statement at a time, not {len(parsed)}")
        if parsed[0].type not in (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN):
            raise SqlError("the catalogue is read-only: use SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN")
        return _frame(connection.sql(statement))
    except duckdb.Error as error:
        raise SqlError(" ".join(str(error).split())) from error


def publish(store: Store) -> Path:
    """Write ``catalog.duckdb`` and ``catalog.sql`` anew and swap them in; open shells keep what they have."""
    folder = local_root()
    folder.mkdir(parents=True, exist_ok=True)
    lines = statements(store)
    target = folder / "catalog.duckdb"
    with tempfile.TemporaryDirectory(dir=folder, prefix=".catalog-") as scratch:
        fresh = Path(scratch) / "catalog.duckdb"
        connection = duckdb.connect(str(fresh))
        try:
            for line in lines:
                connection.execute(line)
            connection.register("_runs", runs(store).to_arrow())
            connection.execute("CREATE TABLE runs AS SELECT * FROM _runs")
            connection.unregister("_runs")
            connection.execute("CHECKPOINT")
        finally:
            connection.close()
        script = Path(scratch) / "catalog.sql"
        script.write_text(";\n".join(lines) + ";\n", encoding="utf-8")
        fresh.replace(target)
        # A log left behind by a shell that died belongs to the file just replaced.
        Path(str(target) + ".wal").unlink(missing_ok=True)
        script.replace(folder / "catalog.sql")
    return target


def _frame(result: duckdb.DuckDBPyRelation) -> pl.DataFrame:
    frame = pl.from_arrow(result.to_arrow_table())
    return frame if isinstance(frame, pl.DataFrame) else frame.to_frame()


def _json(value: object) -> str:
    import json

    return json.dumps(value, sort_keys=True)

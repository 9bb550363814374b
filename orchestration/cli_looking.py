"""Commands that look at the warehouse and keep it small. They import what they need when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from orchestration.app import CallError, Layout, app
from orchestration.output import Format


@app.command()
def sql(
    statement: Annotated[
        str | None, typer.Argument(help="One SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option(help="A file that holds the statement, such as sql/queries/hit_rates.sql.")
    ] = None,
    layout: Layout = Format.table,
) -> None:
    """Ask the tables and views, read-only."""
    from orchestration.commands import looking

    if (statement is None) == (file is None):
        raise CallError("sql: give a statement, or --file with one in it")
    if file is not None and not file.is_file():
        raise CallError(f"--file {file}: there is no such file")
    looking.sql(file.read_text(encoding="utf-8") if file is not None else str(statement), layout)


@app.command()
def status(layout: Layout = Format.table) -> None:
    """Sets and batches, what is stale, failed or running, and what was spent."""
    from orchestration.commands import looking

    looking.status(layout)


@app.command()
def report(
    open_it: Annotated[bool, typer.Option("--open", help="Open it in a browser.")] = False,
) -> None:
    """Write the HTML report of every evaluated set."""
    from orchestration.commands import work

    work.report(open_it=open_it)


@app.command()
def vacuum(
    keep: Annotated[float, typer.Option(min=0, help="Days of history to keep.")] = 7.0,
) -> None:
    """Join small files and drop file versions that no table needs any more."""
    from orchestration.commands import looking

    looking.vacuum(keep)


@app.command()
def ui(
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(help="Port to listen on.")] = 3000,
) -> None:
    """Show the asset graph, checks and runs in a browser (Dagster's UI on this project)."""
    from orchestration.commands import webserver

    webserver.serve(host, port)

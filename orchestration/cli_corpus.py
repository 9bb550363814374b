"""Commands that bring filings, questions and logs in, and rank pages. They import what they need when they run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from apportion.defaults import POOL, RETRIEVER
from orchestration.app import CallError, Layout, Pool, Refresh, Retrievers, SetName, app
from orchestration.output import Format


@app.command()
def demo(layout: Layout = Format.table) -> None:
    """Run the whole pipeline on the built-in sample, then print its tables and where the report is."""
    from orchestration.commands import work

    work.run_set("sample", {}, layout)
    work.report(open_it=False, aside=layout is not Format.table)


@app.command()
def sample(
    folder: Annotated[
        Path, typer.Argument(help="Where the files go: a new or empty folder.", show_default=False)
    ],
    pages: Annotated[
        int, typer.Option(min=1, help="Pages to write; the last filing is written whole.")
    ] = 20_000,
) -> None:
    """Write filings like the built-in sample's, of any number of pages, as files for trials of volume."""
    from apportion.corpus.sample_files import write_filings
    from orchestration.output import say

    try:
        filings, written = write_filings(folder, pages)
    except FileExistsError as error:
        raise CallError(f"sample: {error}") from None
    say(f"{written} pages of {filings} filings; take them in with `apportion ingest {folder}`")


@app.command()
def ingest(
    paths: Annotated[list[Path], typer.Argument(help="Files and folders, or `edgar`.", show_default=False)],
    kind: Annotated[
        str | None,
        typer.Option(
            "--as", help="What they are: filings, financebench, questions. Files of filings are known."
        ),
    ] = None,
    batch: Annotated[
        str | None,
        typer.Option(help="Name of the filing batch; by default the kind, for files one by their place."),
    ] = None,
    outcome_set: Annotated[
        str | None, typer.Option("--set", help="Name of the set of questions; the batch's.")
    ] = None,
    first: Annotated[str | None, typer.Option("--from", help="With `edgar`: the first day.")] = None,
    last: Annotated[str | None, typer.Option("--to", help="With `edgar`: the last day.")] = None,
    form: Annotated[str | None, typer.Option(help="With `edgar`: forms, joined by commas; 10-K.")] = None,
    ticker: Annotated[
        str | None, typer.Option(help="With `edgar`: tickers or CIKs, joined by commas; all filers.")
    ] = None,
) -> None:
    """Take in filings, and questions that come with them."""
    from orchestration.commands import ingest as ingesting

    named_edgar = [str(path) for path in paths] == ["edgar"]
    if named_edgar and first is None and not paths[0].exists():
        raise CallError("ingest edgar: name the days, such as --from 2026-11-27 --to 2026-11-28")
    if named_edgar and first is not None:
        from orchestration.commands import edgar

        edgar.ingest_days(first, last, form, ticker)
        return
    if any(option is not None for option in (first, last, form, ticker)):
        raise CallError("--from, --to, --form and --ticker go with `apportion ingest edgar --from DAY`")
    kind = kind or ingesting.kind_of(paths)
    if kind == "filings":
        if outcome_set is not None:
            raise CallError("--set goes with questions; filings have none")
        ingesting.ingest_files(paths, batch)
        return
    if len(paths) > 1:
        raise CallError(f"--as {kind} takes one path at a time: each brings a set of its own (--set NAME)")
    ingesting.ingest_source(paths[0], kind, batch=batch or kind, outcome_set=outcome_set or batch or kind)


@app.command(name="import")
def import_outcomes(
    path: Annotated[Path, typer.Argument(help="The log: a file or a folder.", show_default=False)],
    kind: Annotated[
        str, typer.Option("--as", help="What it is: financebench-results, routerarena, outcomes or litellm.")
    ] = "outcomes",
    outcome_set: Annotated[str | None, typer.Option("--set", help="Name of the outcome set.")] = None,
    pdfs: Annotated[
        Path | None, typer.Option(help="Folder of the filings' PDFs, to count their tokens.")
    ] = None,
    context_passages: Annotated[
        str, typer.Option(help="What a vector store is assumed to put into the context: passages x tokens.")
    ] = "4x256",
    maps: Annotated[
        list[str] | None, typer.Option("--map", help="FIELD=COLUMN, where the log names a column otherwise.")
    ] = None,
    scores: Annotated[Path | None, typer.Option(help="Scores of LiteLLM's calls, by their id.")] = None,
) -> None:
    """Take in logged outcomes from elsewhere as an outcome set; no model is called."""
    from orchestration.commands import importing

    importing.import_log(
        path,
        kind,
        outcome_set=outcome_set,
        pdfs=pdfs,
        context_passages=context_passages,
        maps=maps or [],
        scores=scores,
    )


@app.command()
def retrieve(
    outcome_set: SetName = "sample",
    retriever: Retrievers = RETRIEVER,
    pool: Pool = POOL,
    refresh: Refresh = False,
    layout: Layout = Format.table,
) -> None:
    """Rank pages and report how often the right one is found; no model is called."""
    from orchestration.commands import retrieve as command

    command.retrieve_set(outcome_set, retriever, pool, refresh=refresh, layout=layout)


@app.command()
def structure(
    key: Annotated[str, typer.Option(help="Columns of filings that should name one.")] = "ticker,fiscal_year",
    schema: Annotated[Path | None, typer.Option(help="TOML file of another corpus's template.")] = None,
    layout: Layout = Format.table,
) -> None:
    """Measure how regular the corpus's names are and how alike its documents."""
    from orchestration.commands import structure as command
    from orchestration.commands.checking import names

    command.report_structure(names(key), schema, layout)

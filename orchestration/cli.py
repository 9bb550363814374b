"""The command line. Commands import what they need when they run, so that help starts at once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from orchestration.output import Format, say

app = typer.Typer(
    name="apportion",
    help="Decides which questions over company filings deserve an expensive answer, under a token budget.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


class CallError(ValueError):
    """The command was called wrongly; exit status 2."""


SetName = Annotated[str, typer.Option("--set", help="Name of the outcome set.")]
Layout = Annotated[Format, typer.Option("--format", help="How tables are printed.")]
Cheap = Annotated[str, typer.Option(help="Route already paid for.")]
Deep = Annotated[str, typer.Option(help="Deeper call decided on.")]
SeveralDeep = Annotated[
    str,
    typer.Option(
        help="Deeper call decided on; several joined by commas, or `*` for all others: one is chosen a question."
    ),
]
Judge = Annotated[str, typer.Option(help="Model that grades, as LiteLLM names it.")]
Model = Annotated[str | None, typer.Option(help="Model that answers, as LiteLLM names it.")]
Retriever = Annotated[str, typer.Option(help="Ranking method.")]
Pool = Annotated[str, typer.Option(help="Pages searched: evidence, filing or corpus.")]
Refresh = Annotated[bool, typer.Option("--refresh", help="Move the set to the newest corpus.")]
MaxTokens = Annotated[int | None, typer.Option(min=0, help="Hard cap on this run's tokens.")]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Hard cap on this run's dollars.")]
Consent = Annotated[bool, typer.Option("--yes", help="Agree to spend without a cap.")]
ApiBase = Annotated[str | None, typer.Option(help="Address of the model server.")]
Prices = Annotated[
    Path | None, typer.Option(help="JSON file of your own prices, USD per million tokens, by model.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Calls at once.")]
PerMinute = Annotated[int | None, typer.Option("--rpm", min=1, help="Requests a minute, for each model.")]
TokensPerMinute = Annotated[int | None, typer.Option("--tpm", min=1, help="Tokens a minute, for each model.")]
GainModel = Annotated[
    str, typer.Option(help="Benefit model behind the policies; others than ridge_boosting take longer.")
]
SystemSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--system", help="KEY=VALUE of the document-routed systems: router, embedder, reranker, ..."
    ),
]
GradedBy = Annotated[str | None, typer.Option("--judge", help="Whose grades, where there are several.")]
Budgets = Annotated[str | None, typer.Option(help="Budget fractions, joined by commas.")]


def sending(
    api_base: str | None, prices: Path | None, concurrency: int, rpm: int | None, tpm: int | None
) -> dict[str, Any]:
    """How calls are sent, as settings."""
    if prices is not None and not prices.is_file():
        raise CallError(f"--prices {prices}: there is no such file")
    return {
        "api_base": api_base,
        "prices": str(prices.resolve()) if prices else None,
        "concurrency": concurrency,
        "requests_per_minute": rpm,
        "tokens_per_minute": tpm,
    }


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of every command."""
    Settings.debug = debug


class Settings:
    """What holds for the whole call."""

    debug = False


@app.command()
def demo(layout: Layout = Format.table) -> None:
    """Run the whole pipeline on the built-in sample, then print its tables and where the report is."""
    from orchestration.commands import work

    work.run_set("sample", {}, layout)
    work.report(open_it=False, aside=layout is not Format.table)


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
    retriever: Annotated[
        str,
        typer.Option(
            help="Ranking methods, joined by commas: tfidf, fulltext, fusion; by chunk cbr, hdrr and kin."
        ),
    ] = "tfidf",
    pool: Pool = "filing",
    refresh: Refresh = False,
    layout: Layout = Format.table,
) -> None:
    """Rank pages and report how often the right one is found; no model is called."""
    from orchestration.commands import retrieve as command

    command.retrieve_set(outcome_set, retriever, pool, refresh=refresh, layout=layout)


@app.command()
def run(
    outcome_set: SetName = "sample",
    routes: Annotated[str, typer.Option(help="Routes, joined by commas.")] = "direct,top1,top2,top5",
    model: Model = None,
    judge: Judge = "embedded/judge",
    retriever: Retriever = "tfidf",
    pool: Pool = "filing",
    refresh: Refresh = False,
    cheap: Cheap = "top1",
    deep: Deep = "top5",
    budgets: Budgets = None,
    gain_model: GainModel = "ridge_boosting",
    api_base: ApiBase = None,
    prices: Prices = None,
    concurrency: Concurrency = 16,
    rpm: PerMinute = None,
    tpm: TokensPerMinute = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    yes: Consent = False,
    system: SystemSettings = None,
    layout: Layout = Format.table,
) -> None:
    """Retrieve, answer, judge, predict, allocate and publish."""
    from orchestration.commands import systems, work

    settings: dict[str, dict[str, Any]] = {
        "answering": {
            "model": model,
            "judge": judge,
            "routes": work.names(routes),
            "retriever": retriever,
            "pool": pool,
            "refresh": refresh,
            **sending(api_base, prices, concurrency, rpm, tpm),
            "max_tokens": max_tokens,
            "max_usd": max_usd,
            "consent": yes,
            **systems.read_settings(system),
        },
        "comparison": work.comparison(cheap, deep, judge, budgets, gain_model),
    }
    work.run_set(outcome_set, settings, layout)


@app.command()
def structure(
    key: Annotated[str, typer.Option(help="Columns of filings that should name one.")] = "ticker,fiscal_year",
    schema: Annotated[Path | None, typer.Option(help="TOML file of another corpus's template.")] = None,
    layout: Layout = Format.table,
) -> None:
    """Measure how regular the corpus's names are and how alike its documents."""
    from orchestration.commands import structure as command
    from orchestration.commands.work import names

    command.report_structure(names(key), schema, layout)


@app.command(name="systems")
def compare_systems(
    outcome_set: SetName = "sample",
    judge: Judge = "embedded/judge",
    second_judge: Annotated[str | None, typer.Option(help="A judge of a sample of the answers.")] = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    yes: Consent = False,
    layout: Layout = Format.table,
) -> None:
    """Score a set's answers from 1 to 10 and compare its document-routed systems."""
    from orchestration.commands import systems

    given = {"judge": judge, "second_judge": second_judge}
    caps = {"max_tokens": max_tokens, "max_usd": max_usd, "consent": yes}
    systems.compare_systems(outcome_set, {"answering": {**given, **caps}}, layout)


@app.command()
def judge(
    outcome_set: SetName,
    model: Annotated[
        str, typer.Option("--judge", help="Model that grades, as LiteLLM names it.")
    ] = "embedded/judge",
    api_base: ApiBase = None,
    prices: Prices = None,
    concurrency: Concurrency = 16,
    rpm: PerMinute = None,
    tpm: TokensPerMinute = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    yes: Consent = False,
    layout: Layout = Format.table,
) -> None:
    """Grade a set's answers, imported ones too, and compare with its human labels."""
    from orchestration.commands import work

    answering = {
        "judge": model,
        **sending(api_base, prices, concurrency, rpm, tpm),
        "max_tokens": max_tokens,
        "max_usd": max_usd,
        "consent": yes,
    }
    work.judge_set(outcome_set, answering, layout)


@app.command()
def evaluate(
    outcome_set: SetName = "sample",
    cheap: Cheap = "top1",
    deep: SeveralDeep = "top5",
    judge: GradedBy = None,
    budgets: Budgets = None,
    gain_model: GainModel = "ridge_boosting",
    retriever: Retriever = "tfidf",
    pool: Pool = "filing",
    layout: Layout = Format.table,
) -> None:
    """Predict, allocate and publish from logged outcomes alone: no model is called."""
    from orchestration.commands import work

    settings = {
        "comparison": work.comparison(cheap, deep, judge, budgets, gain_model),
        "answering": {"retriever": retriever, "pool": pool},
    }
    work.evaluate_set(outcome_set, settings, layout)


@app.command()
def resources(
    outcome_set: SetName = "sample",
    resource: Annotated[
        str, typer.Option(help="What budgets count: tokens, usd, latency; several joined by commas.")
    ] = "usd",
    cheap: Cheap = "top1",
    deep: Deep = "top5",
    judge: GradedBy = None,
    budgets: Budgets = None,
    gain_model: GainModel = "ridge_boosting",
    layout: Layout = Format.table,
) -> None:
    """Allocate with budgets in money or latency, or under several caps at once. Nothing is written."""
    from orchestration.commands import resources as command
    from orchestration.commands import work

    command.resources(
        outcome_set,
        work.names(resource),
        work.comparison(cheap, deep, judge, budgets, gain_model),
        layout,
    )


Budget = Annotated[
    float | None, typer.Option(help="Share of what escalating everybody is predicted to cost.")
]
Tokens = Annotated[int | None, typer.Option(min=0, help="Tokens to spend.")]
Usd = Annotated[float | None, typer.Option(min=0, help="Dollars to spend.")]
Policy = Annotated[str, typer.Option(help="Rule that chooses.")]
LearnFrom = Annotated[str | None, typer.Option(help="Judged sets to learn from, joined by commas.")]


@app.command()
def plan(
    outcome_set: SetName,
    budget: Budget = None,
    tokens: Tokens = None,
    usd: Usd = None,
    policy: Policy = "gain_per_token",
    cheap: Cheap = "top1",
    deep: Deep = "top5",
    learn_from: LearnFrom = None,
    judge: GradedBy = None,
    gain_model: GainModel = "ridge_boosting",
    retriever: Retriever = "tfidf",
    pool: Pool = "filing",
    prices: Prices = None,
    layout: Layout = Format.table,
) -> None:
    """Show what would be escalated under a budget, and what it would cost. No model is called."""
    from orchestration.commands import live, work

    live.plan(
        outcome_set,
        work.comparison(cheap, deep, judge, None, gain_model),
        {"retriever": retriever, "pool": pool, **sending(None, prices, 16, None, None)},
        {
            "budget": budget,
            "tokens": tokens,
            "usd": usd,
            "policy": policy,
            "learn_from": work.names(learn_from or ""),
        },
        layout,
    )


@app.command()
def escalate(
    outcome_set: SetName,
    budget: Budget = None,
    tokens: Tokens = None,
    usd: Usd = None,
    policy: Policy = "gain_per_token",
    hard_cap: Annotated[
        bool, typer.Option("--hard-cap", help="Hold the cap whatever the answers' lengths.")
    ] = False,
    risk: Annotated[float, typer.Option(help="Chance of overspending without --hard-cap.")] = 0.05,
    cheap: Cheap = "top1",
    deep: Deep = "top5",
    learn_from: LearnFrom = None,
    judge: GradedBy = None,
    gain_model: GainModel = "ridge_boosting",
    retriever: Retriever = "tfidf",
    pool: Pool = "filing",
    api_base: ApiBase = None,
    prices: Prices = None,
    concurrency: Concurrency = 16,
    rpm: PerMinute = None,
    tpm: TokensPerMinute = None,
    layout: Layout = Format.table,
) -> None:
    """Make the deeper calls that a budget buys, and give every question its final answer."""
    from orchestration.commands import live, work

    live.escalate(
        outcome_set,
        work.comparison(cheap, deep, judge, None, gain_model),
        {"retriever": retriever, "pool": pool, **sending(api_base, prices, concurrency, rpm, tpm)},
        {
            "budget": budget,
            "tokens": tokens,
            "usd": usd,
            "policy": policy,
            "hard_cap": hard_cap,
            "risk": risk,
            "learn_from": work.names(learn_from or ""),
        },
        layout,
    )


@app.command()
def routing(
    outcome_set: SetName = "sample",
    routes: Annotated[
        str | None, typer.Option(help="Routes, the cheap one first, joined by commas; all by default.")
    ] = None,
    price: Annotated[
        str | None, typer.Option(help="Quality per 1,000 tokens; several joined by commas.")
    ] = None,
    judge: Annotated[str | None, typer.Option(help="Whose grades, where there are several.")] = None,
    risk: Annotated[float, typer.Option(help="Risk of certifying a router that gains nothing.")] = 0.05,
    plots: Annotated[Path | None, typer.Option(help="Folder to draw the frontiers and the gap into.")] = None,
    layout: Layout = Format.table,
) -> None:
    """Say whether routing among the routes pays: gap, frontiers, routers; no model is called."""
    from orchestration.commands import routing as command

    command.route_set(outcome_set, routes, price, judge, risk, plots, layout)


@app.command()
def sql(
    statement: Annotated[str, typer.Argument(help="One SELECT, DESCRIBE, SUMMARIZE, SHOW or EXPLAIN.")],
    layout: Layout = Format.table,
) -> None:
    """Ask the tables and views, read-only."""
    from orchestration.commands import looking

    looking.sql(statement, layout)


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
    """Drop file versions that no table needs any more."""
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


def main() -> None:
    """Run the command line; an error is one line, and its kind is the exit status."""
    try:
        app(standalone_mode=True)
    except KeyboardInterrupt:
        say("apportion: interrupted; what was committed stays, and the same command goes on from there")
        sys.exit(130)
    except Exception as error:
        if Settings.debug:
            raise
        trace = "" if Settings.debug else " (--debug shows the traceback)" if _unforeseen(error) else ""
        say(f"apportion: {_one_line(error)}{trace}")
        sys.exit(2 if isinstance(error, CallError) else 1)


def _unforeseen(error: Exception) -> bool:
    from orchestration.running import WorkFailedError

    return not isinstance(error, ValueError | OSError | WorkFailedError)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if not _unforeseen(error) else f"{type(error).__name__}: {text}"

"""The command line's application, its errors, and the options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from apportion.defaults import CHEAP, DEEP, POOL, RETRIEVER
from orchestration.output import Format

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
CheapOfSeveral = Annotated[
    str | None, typer.Option("--cheap", show_default=CHEAP, help="Route already paid for.")
]
SeveralDeep = Annotated[
    str | None,
    typer.Option(
        "--deep",
        show_default=DEEP,
        help="Deeper call decided on; several joined by commas, or `*` for all others: one is chosen a question.",
    ),
]
Judge = Annotated[str, typer.Option(help="Model that grades, as LiteLLM names it.")]
Model = Annotated[str | None, typer.Option(help="Model that answers, as LiteLLM names it.")]
PAGE_RANKINGS = "tfidf, fulltext, dense, fusion, accounting"
CHUNK_RANKINGS = "cbr, cbr_meta, cbr_context, hdrr, agentic"
"""Named here, since help imports no ranker."""
Retriever = Annotated[
    str | None,
    typer.Option(
        show_default=RETRIEVER, help=f"Ranking method: {PAGE_RANKINGS}. An answered set keeps its own."
    ),
]
Retrievers = Annotated[
    str,
    typer.Option(
        "--retriever",
        help=f"Ranking methods, joined by commas: {PAGE_RANKINGS}; by chunk {CHUNK_RANKINGS}.",
    ),
]
AnsweredRetriever = Annotated[
    str | None,
    typer.Option("--retriever", help="Ranking that the set was answered from; known from its answers."),
]
AnsweredPool = Annotated[
    str | None, typer.Option("--pool", help="Pool that the set was answered from; known from its answers.")
]
Pool = Annotated[str, typer.Option(help="Pages searched: evidence, filing or corpus.")]
KeptPool = Annotated[
    str | None,
    typer.Option(
        "--pool",
        show_default=POOL,
        help="Pages searched: evidence, filing or corpus. An answered set keeps its own.",
    ),
]
Refresh = Annotated[bool, typer.Option("--refresh", help="Move the set to the newest corpus.")]
MaxTokens = Annotated[int | None, typer.Option(min=0, help="Hard cap on this run's tokens.")]
MaxUsd = Annotated[float | None, typer.Option(min=0, help="Hard cap on this run's dollars.")]
Consent = Annotated[bool, typer.Option("--yes", help="Agree to spend without a cap.")]
ApiBase = Annotated[str | None, typer.Option(help="Address of the model server.")]
Structured = Annotated[
    bool | None,
    typer.Option(
        "--json-schema/--no-json-schema", help="The server keeps to JSON schemas, where LiteLLM doesn't know."
    ),
]
Prices = Annotated[
    Path | None, typer.Option(help="JSON file of your own prices, USD per million tokens, by model.")
]
Concurrency = Annotated[int, typer.Option(min=1, help="Calls at once.")]
PerMinute = Annotated[int | None, typer.Option("--rpm", min=1, help="Requests a minute, for each model.")]
TokensPerMinute = Annotated[int | None, typer.Option("--tpm", min=1, help="Tokens a minute, for each model.")]
GainModel = Annotated[
    str,
    typer.Option(help="Benefit model behind the policies: ridge_boosting (fastest), weighted, blend, ..."),
]
TextEncoder = Annotated[
    str | None,
    typer.Option(help="Encoder of texts for benefit models, instead of TF-IDF: local, or a model's folder."),
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
    api_base: str | None,
    prices: Path | None,
    concurrency: int,
    rpm: int | None,
    tpm: int | None,
    structured: bool | None,
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
        "structured": structured,
    }


Budget = Annotated[
    float | None, typer.Option(help="Share of what escalating everybody is predicted to cost.")
]
Tokens = Annotated[int | None, typer.Option(min=0, help="Tokens to spend.")]
Usd = Annotated[float | None, typer.Option(min=0, help="Dollars to spend.")]
Policy = Annotated[str, typer.Option(help="Rule that chooses.")]
LearnFrom = Annotated[str | None, typer.Option(help="Judged sets to learn from, joined by commas.")]


class Settings:
    """What holds for the whole call."""

    debug = False


@app.callback()
def options(
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Options of every command."""
    Settings.debug = debug

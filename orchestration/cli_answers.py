"""Commands that answer questions and compare routes and policies; each imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from orchestration.app import (
    AnsweredPool,
    AnsweredRetriever,
    ApiBase,
    Budgets,
    Cheap,
    Concurrency,
    Consent,
    Deep,
    GainModel,
    GradedBy,
    Judge,
    Layout,
    MaxTokens,
    MaxUsd,
    Model,
    PerMinute,
    Pool,
    Prices,
    Refresh,
    Retriever,
    SetName,
    SeveralDeep,
    Structured,
    SystemSettings,
    TextEncoder,
    TokensPerMinute,
    app,
    sending,
)
from orchestration.output import Format


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
    text_encoder: TextEncoder = None,
    api_base: ApiBase = None,
    structured: Structured = None,
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
            **sending(api_base, prices, concurrency, rpm, tpm, structured),
            "max_tokens": max_tokens,
            "max_usd": max_usd,
            "consent": yes,
            **systems.read_settings(system),
        },
        "comparison": work.comparison(cheap, deep, judge, budgets, gain_model, text_encoder),
    }
    work.run_set(outcome_set, settings, layout)


@app.command()
def evaluate(
    outcome_set: SetName = "sample",
    cheap: Cheap = "top1",
    deep: SeveralDeep = "top5",
    judge: GradedBy = None,
    budgets: Budgets = None,
    gain_model: GainModel = "ridge_boosting",
    text_encoder: TextEncoder = None,
    retriever: AnsweredRetriever = None,
    pool: AnsweredPool = None,
    layout: Layout = Format.table,
) -> None:
    """Predict, allocate and publish from logged outcomes alone: no model is called."""
    from orchestration.commands import work

    settings = {
        "comparison": work.comparison(cheap, deep, judge, budgets, gain_model, text_encoder),
        "answering": work.answered_from(outcome_set, retriever, pool),
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


@app.command(name="systems")
def compare_systems(
    outcome_set: SetName = "sample",
    judge: Judge = "embedded/judge",
    second_judge: Annotated[str | None, typer.Option(help="A judge of a sample of the answers.")] = None,
    api_base: ApiBase = None,
    structured: Structured = None,
    prices: Prices = None,
    concurrency: Concurrency = 16,
    rpm: PerMinute = None,
    tpm: TokensPerMinute = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    yes: Consent = False,
    layout: Layout = Format.table,
) -> None:
    """Score a set's answers from 1 to 10 and compare its document-routed systems."""
    from orchestration.commands import systems

    given = {"judge": judge, "second_judge": second_judge}
    sent = sending(api_base, prices, concurrency, rpm, tpm, structured)
    caps = {"max_tokens": max_tokens, "max_usd": max_usd, "consent": yes}
    systems.compare_systems(outcome_set, {"answering": {**given, **sent, **caps}}, layout)


@app.command()
def judge(
    outcome_set: SetName,
    model: Annotated[
        str, typer.Option("--judge", help="Model that grades, as LiteLLM names it.")
    ] = "embedded/judge",
    api_base: ApiBase = None,
    structured: Structured = None,
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
        **sending(api_base, prices, concurrency, rpm, tpm, structured),
        "max_tokens": max_tokens,
        "max_usd": max_usd,
        "consent": yes,
    }
    work.judge_set(outcome_set, answering, layout)

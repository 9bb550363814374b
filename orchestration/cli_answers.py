"""Commands that answer questions and compare routes and policies; each imports what it needs when it runs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from apportion.defaults import CHEAP, CONCURRENCY, DEEP, GAIN_MODEL, JUDGE, ROUTES
from orchestration.app import (
    AnsweredPool,
    AnsweredRetriever,
    ApiBase,
    Budgets,
    Cheap,
    CheapOfSeveral,
    Concurrency,
    Consent,
    Deep,
    GainModel,
    GradedBy,
    Judge,
    KeptPool,
    Layout,
    MaxTokens,
    MaxUsd,
    Model,
    PerMinute,
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
    routes: Annotated[str, typer.Option(help="Routes, joined by commas.")] = ",".join(ROUTES),
    model: Model = None,
    judge: Judge = JUDGE,
    retriever: Retriever = None,
    pool: KeptPool = None,
    refresh: Refresh = False,
    cheap: Cheap = CHEAP,
    deep: Deep = DEEP,
    budgets: Budgets = None,
    gain_model: GainModel = GAIN_MODEL,
    text_encoder: TextEncoder = None,
    api_base: ApiBase = None,
    structured: Structured = None,
    prices: Prices = None,
    concurrency: Concurrency = CONCURRENCY,
    rpm: PerMinute = None,
    tpm: TokensPerMinute = None,
    max_tokens: MaxTokens = None,
    max_usd: MaxUsd = None,
    yes: Consent = False,
    system: SystemSettings = None,
    layout: Layout = Format.table,
) -> None:
    """Retrieve, answer, judge, predict, allocate and publish."""
    from orchestration.commands import checking, systems, work

    settings: dict[str, dict[str, Any]] = {
        "answering": {
            "model": model,
            "judge": judge,
            "routes": checking.names(routes),
            "retriever": retriever,
            "pool": pool,
            "refresh": refresh,
            **sending(api_base, prices, concurrency, rpm, tpm, structured),
            "max_tokens": max_tokens,
            "max_usd": max_usd,
            "consent": yes,
            **systems.read_settings(system),
        },
        "comparison": checking.comparison(cheap, deep, judge, budgets, gain_model, text_encoder),
    }
    work.run_set(outcome_set, settings, layout)


@app.command()
def evaluate(
    outcome_set: SetName = "sample",
    cheap: CheapOfSeveral = None,
    deep: SeveralDeep = None,
    routes: Annotated[
        str | None,
        typer.Option(
            help="The cheap route, then the deep ones, joined by commas: instead of --cheap and --deep."
        ),
    ] = None,
    judge: GradedBy = None,
    budgets: Budgets = None,
    gain_model: GainModel = GAIN_MODEL,
    text_encoder: TextEncoder = None,
    retriever: AnsweredRetriever = None,
    pool: AnsweredPool = None,
    layout: Layout = Format.table,
) -> None:
    """Predict, allocate and publish from logged outcomes alone: no model is called."""
    from orchestration.commands import checking, work

    first, others = checking.pair_of(cheap, deep, routes)
    settings = {
        "comparison": checking.comparison(first, others, judge, budgets, gain_model, text_encoder),
        "answering": checking.set_ranking(outcome_set, retriever, pool),
    }
    work.evaluate_set(outcome_set, settings, layout)


@app.command()
def resources(
    outcome_set: SetName = "sample",
    resource: Annotated[
        str, typer.Option(help="What budgets count: tokens, usd, latency; several joined by commas.")
    ] = "usd",
    cheap: Cheap = CHEAP,
    deep: Deep = DEEP,
    judge: GradedBy = None,
    budgets: Budgets = None,
    gain_model: GainModel = GAIN_MODEL,
    layout: Layout = Format.table,
) -> None:
    """Allocate with budgets in money or latency, or under several caps at once. Nothing is written."""
    from orchestration.commands import checking
    from orchestration.commands import resources as command

    command.resources(
        outcome_set,
        checking.names(resource),
        checking.comparison(cheap, deep, judge, budgets, gain_model),
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
    judge: Judge = JUDGE,
    second_judge: Annotated[str | None, typer.Option(help="A judge of a sample of the answers.")] = None,
    api_base: ApiBase = None,
    structured: Structured = None,
    prices: Prices = None,
    concurrency: Concurrency = CONCURRENCY,
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
    model: Annotated[str, typer.Option("--judge", help="Model that grades, as LiteLLM names it.")] = JUDGE,
    api_base: ApiBase = None,
    structured: Structured = None,
    prices: Prices = None,
    concurrency: Concurrency = CONCURRENCY,
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

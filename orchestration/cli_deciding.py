"""Commands of the live decision: what a budget would buy, and buying it. They import what they need when they run."""

from __future__ import annotations

from typing import Annotated

import typer

from apportion.defaults import CHEAP, CONCURRENCY, DEEP, GAIN_MODEL, POLICY, RISK
from orchestration.app import (
    AnsweredPool,
    AnsweredRetriever,
    ApiBase,
    Budget,
    Cheap,
    Concurrency,
    Deep,
    GainModel,
    GradedBy,
    Layout,
    LearnFrom,
    PerMinute,
    Policy,
    Prices,
    SetName,
    Structured,
    TextEncoder,
    Tokens,
    TokensPerMinute,
    Usd,
    app,
    sending,
)
from orchestration.output import Format


@app.command()
def plan(
    outcome_set: SetName,
    budget: Budget = None,
    tokens: Tokens = None,
    usd: Usd = None,
    policy: Policy = POLICY,
    cheap: Cheap = CHEAP,
    deep: Deep = DEEP,
    learn_from: LearnFrom = None,
    judge: GradedBy = None,
    gain_model: GainModel = GAIN_MODEL,
    text_encoder: TextEncoder = None,
    retriever: AnsweredRetriever = None,
    pool: AnsweredPool = None,
    prices: Prices = None,
    layout: Layout = Format.table,
) -> None:
    """Show what would be escalated under a budget, and what it would cost. No model is called."""
    from orchestration.commands import checking, live

    live.plan(
        outcome_set,
        checking.comparison(cheap, deep, judge, None, gain_model, text_encoder),
        {
            **checking.set_ranking(outcome_set, retriever, pool),
            **sending(None, prices, CONCURRENCY, None, None, None),
        },
        {
            "budget": budget,
            "tokens": tokens,
            "usd": usd,
            "policy": policy,
            "learn_from": checking.names(learn_from or ""),
        },
        layout,
    )


@app.command()
def escalate(
    outcome_set: SetName,
    budget: Budget = None,
    tokens: Tokens = None,
    usd: Usd = None,
    policy: Policy = POLICY,
    hard_cap: Annotated[
        bool, typer.Option("--hard-cap", help="Hold the cap whatever the answers' lengths.")
    ] = False,
    risk: Annotated[float, typer.Option(help="Chance of overspending without --hard-cap.")] = RISK,
    cheap: Cheap = CHEAP,
    deep: Deep = DEEP,
    learn_from: LearnFrom = None,
    judge: GradedBy = None,
    gain_model: GainModel = GAIN_MODEL,
    text_encoder: TextEncoder = None,
    retriever: AnsweredRetriever = None,
    pool: AnsweredPool = None,
    api_base: ApiBase = None,
    structured: Structured = None,
    prices: Prices = None,
    concurrency: Concurrency = CONCURRENCY,
    rpm: PerMinute = None,
    tpm: TokensPerMinute = None,
    layout: Layout = Format.table,
) -> None:
    """Make the deeper calls that a budget buys, and give every question its final answer."""
    from orchestration.commands import checking, live

    live.escalate(
        outcome_set,
        checking.comparison(cheap, deep, judge, None, gain_model, text_encoder),
        {
            **checking.set_ranking(outcome_set, retriever, pool),
            **sending(api_base, prices, concurrency, rpm, tpm, structured),
        },
        {
            "budget": budget,
            "tokens": tokens,
            "usd": usd,
            "policy": policy,
            "hard_cap": hard_cap,
            "risk": risk,
            "learn_from": checking.names(learn_from or ""),
        },
        layout,
    )

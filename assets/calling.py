"""Calls to models from assets: through the gateway, with a run's cap or somebody's consent."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import dagster as dg

from apportion.defaults import READER
from apportion.llm.accounts import Budget
from apportion.llm.gateway import Expected, Gateway
from apportion.llm.requests import CallResult
from apportion.progress import track
from assets.resources import Answering, Warehouse
from warehouse.store import Store


def gateway(context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering) -> Gateway:
    """The gateway of one run; a cap is shared by all that the run calls."""
    capped = answering.max_tokens is not None or answering.max_usd is not None
    name = f"run:{context.run.run_id}"
    budget = Budget(name, tokens=answering.max_tokens, usd=answering.max_usd) if capped else None
    return answering.gateway(warehouse.ledger_path(), budget)


def call_models(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    answering: Answering,
    planned: Sequence[Any],
    label: str,
) -> list[CallResult]:
    """Send planned calls, if they may be sent: anything that could cost money needs a cap or consent.

    Raises:
        ValueError: calls could cost money and nobody agreed to it.
    """
    calls = [(plan.request, plan.purpose) for plan in planned]
    with_gateway = gateway(context, warehouse, answering)
    try:
        expected = with_gateway.expected(calls)
        capped = answering.max_tokens is not None or answering.max_usd is not None
        if expected.to_send and expected.needs_consent and not capped and not answering.consent:
            raise ValueError(
                f"{label}: {describe(expected)}; "
                "set a cap with --max-tokens or --max-usd, or agree with --yes"
            )
        with track(f"{label}: {describe(expected)}", len(calls)) as advance:
            return with_gateway.complete_many(calls, progress=_progress(advance))
    finally:
        with_gateway.close()


def _progress(advance: Callable[[int], None]) -> Callable[[int, int, CallResult], None]:
    return lambda done, total, result: advance(done)


def describe(expected: Expected) -> str:
    """An expectation in words."""
    money = "an unknown price" if expected.usd is None else f"about ${expected.usd:.4f}"
    return (
        f"{expected.to_send} calls to send ({expected.held} more are in the ledger), "
        f"about {expected.input_tokens + expected.output_tokens:,} tokens, {money}"
    )


def generator_model(store: Store, outcome_set: str, asked_for: str | None) -> str:
    """The one model that answers a set.

    Raises:
        ValueError: another model than the one that answered it before was asked for.
    """
    before = store.read("route_outcomes", {"outcome_set": outcome_set})["model"].unique().sort().to_list()
    if not before:
        return asked_for or READER
    if asked_for is not None and [asked_for] != before:
        raise ValueError(
            f"set {outcome_set!r} is answered by {', '.join(before)}; "
            f"answer with {asked_for} under another name (--set NAME)"
        )
    return str(before[0])

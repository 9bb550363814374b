"""The one-pass routes: no page, or the first k that retrieval ranked.

Same instruction, model and decoding for every route; only the context differs (token-budgeted escalation, section
III-A).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from apportion.llm.requests import CallPurpose, CallResult, ChatRequest, Message
from apportion.routes.prompts import ANSWER_SCHEMA, ContextPage, answer_messages, parse_answer
from apportion.routes.systems import SYSTEMS

DEPTHS: Mapping[str, int] = {"direct": 0, "top1": 1, "top2": 2, "top5": 5}
"""Pages that each one-pass route reads."""

MAX_OUTPUT_TOKENS = 384


@dataclass(frozen=True)
class PlannedAnswer:
    """One question on one route: the call to make and the pages it reads, in prompt order."""

    outcome_set: str
    question_id: str
    route: str
    request: ChatRequest
    context: tuple[ContextPage, ...]

    @property
    def purpose(self) -> CallPurpose:
        """What the ledger files the call under."""
        return CallPurpose(self.outcome_set, self.question_id, self.route, "answer")


def check_routes(routes: Sequence[str]) -> tuple[str, ...]:
    """The routes, each known and named once.

    Raises:
        ValueError: a route is unknown or stands twice.
    """
    known = (*DEPTHS, *SYSTEMS)
    for route in routes:
        if route not in known:
            import difflib

            near = difflib.get_close_matches(route, known, n=1)
            hint = f"did you mean {near[0]}?" if near else f"routes: {', '.join(known)}"
            raise ValueError(f"there is no route {route!r}; {hint}")
    if len(set(routes)) != len(routes):
        raise ValueError(f"a route stands twice in {', '.join(routes)}")
    return tuple(routes)


def plan_answers(
    questions: pl.DataFrame,
    retrievals: pl.DataFrame,
    pages: pl.DataFrame,
    routes: Sequence[str],
    model: str,
    *,
    provider_options: Mapping[str, Any] | None = None,
    system_contexts: Mapping[str, Mapping[str, tuple[ContextPage, ...]]] | None = None,
) -> list[PlannedAnswer]:
    """The calls that answer every question on every route, in the order of the questions, then the routes.

    Args:
        questions: rows of `questions` of one set.
        retrievals: its rows of `retrievals` of one retriever and pool.
        pages: rows of `pages` that hold at least the retrieved ones.
        routes: names in `DEPTHS` or of a document-routed system.
        model: LiteLLM model name.
        provider_options: passed to the provider with every call.
        system_contexts: what each document-routed system reads for each question.
    """
    paged = [DEPTHS[route] for route in check_routes(routes) if route in DEPTHS]
    contexts = ranked_contexts(retrievals, pages, max(paged, default=0))
    planned = []
    for row in questions.select("outcome_set", "question_id", "text").iter_rows(named=True):
        ranked = contexts.get(row["question_id"], ())
        for route in routes:
            context = (
                ranked[: DEPTHS[route]]
                if route in DEPTHS
                else (system_contexts or {}).get(route, {}).get(row["question_id"], ())
            )
            request = answer_request(row["text"], context, model, provider_options or {})
            planned.append(PlannedAnswer(row["outcome_set"], row["question_id"], route, request, context))
    return planned


def answer_request(
    question: str, context: Sequence[ContextPage], model: str, provider_options: Mapping[str, Any]
) -> ChatRequest:
    """The call that answers a question from the given pages."""
    messages = tuple(Message(**message) for message in answer_messages(question, context))  # type: ignore[arg-type]
    return ChatRequest(
        model=model,
        messages=messages,
        temperature=0.0,
        max_output_tokens=MAX_OUTPUT_TOKENS,
        response_schema=ANSWER_SCHEMA,
        provider_options=provider_options,
    )


def ranked_contexts(
    retrievals: pl.DataFrame, pages: pl.DataFrame, depth: int
) -> dict[str, tuple[ContextPage, ...]]:
    """The first pages ranked for each question, best first, with their text."""
    ranked = (
        retrievals.filter(pl.col("rank") <= depth)
        .join(pages.select("filing_id", "page_number", "text"), on=["filing_id", "page_number"], how="left")
        .sort("question_id", "rank")
    )
    contexts: dict[str, list[ContextPage]] = {}
    for question, filing, number, text in ranked.select(
        "question_id", "filing_id", "page_number", "text"
    ).iter_rows():
        if text is None:
            raise ValueError(
                f"question {question}: page {number} of {filing} was retrieved but is not in the corpus"
            )
        contexts.setdefault(question, []).append(ContextPage(filing, number, text))
    return {question: tuple(found) for question, found in contexts.items()}


def outcome_rows(
    planned: Iterable[PlannedAnswer],
    results: Iterable[CallResult],
    before: Mapping[tuple[str, str], Sequence[CallResult]] | None = None,
) -> list[dict[str, Any]]:
    """Rows of `route_outcomes`: what came of each call that was made.

    ``before`` holds, by question and route, the calls that found the context: they are part of the route's cost.

    A call left out for lack of budget has no row. A call that failed has one: no answer, its tokens counted.
    """
    return [
        outcome_row(plan, result, (before or {}).get((plan.question_id, plan.route), ()))
        for plan, result in zip(planned, results, strict=True)
        if result.status != "left_out"
    ]


def outcome_row(plan: PlannedAnswer, result: CallResult, before: Sequence[CallResult] = ()) -> dict[str, Any]:
    """One row of `route_outcomes`: an answer, and what it took with the calls before it."""
    usage, cost = result.usage, result.cost_usd
    for call in before:
        usage += call.usage
        cost = None if cost is None or call.cost_usd is None else cost + call.cost_usd
    answer = None
    confidence: float | None = None
    source: str | None = None
    quotes: tuple[str, ...] = ()
    if result.status == "ok":
        parsed = parse_answer(result.parsed if result.parsed is not None else result.text or "")
        answer, quotes = parsed.answer, parsed.quotes
        if result.mean_logprob is not None:
            confidence, source = math.exp(min(result.mean_logprob, 0.0)), "logprob"
        elif parsed.confidence is not None:
            confidence, source = parsed.confidence, "stated"
    return {
        "outcome_set": plan.outcome_set,
        "question_id": plan.question_id,
        "route": plan.route,
        "model": plan.request.model,
        "answer": answer,
        "confidence": confidence,
        "confidence_source": source,
        "input_tokens": usage.input_tokens,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "usage_source": usage.source,
        "latency_ms": result.latency_ms + sum(call.latency_ms for call in before),
        "cost_usd": cost,
        "calls_made": 1 + len(before),
        "status": result.status,
        "context": [{"filing_id": p.filing_id, "page_number": p.page_number} for p in plan.context],
        "quotes": list(quotes),
    }

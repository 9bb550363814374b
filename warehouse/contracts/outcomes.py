"""Calls, answers, grades and the quality they add up to."""

from __future__ import annotations

import polars as pl

from warehouse.contracts.shared import (
    CALL_STATUSES,
    JUDGE,
    JUDGED_BY,
    PURPOSES,
    QUESTION,
    ROUTE,
    SET,
    USAGE_SOURCES,
)
from warehouse.schema import Column, Table, flag, pages, real, share, text, whole

OUTCOMES = (
    Table(
        "calls",
        "one model call, as the ledger settled it",
        (
            text("call_id", "the ledger's id of the call"),
            SET,
            text("question_id", "the question it was first made for", nullable=True),
            text("route", "the route it was first made for", nullable=True),
            text("purpose", "what the call was for", values=PURPOSES),
            text("model", "LiteLLM model name"),
            text("request_hash", "hash of everything that identifies the call, with its algorithm"),
            text(
                "status", "how it ended, or why it has not", values=(*CALL_STATUSES, "pending", "abandoned")
            ),
            whole("attempts", "requests sent"),
            whole("input_tokens", "prompt tokens, cached ones included", nullable=True),
            whole("cached_input_tokens", "prompt tokens the provider served from its cache", nullable=True),
            whole("output_tokens", "completion tokens, reasoning included", nullable=True),
            whole("reasoning_tokens", "part of the output spent on reasoning", nullable=True),
            text("usage_source", "where the counts come from", nullable=True, values=USAGE_SOURCES),
            real("cost_usd", "money spent, USD; null where the price is unknown", nullable=True, low=0),
            real("latency_ms", "milliseconds from sending to settling", nullable=True, low=0),
            Column("created_at", pl.Datetime("us", "UTC"), "when it was first written to the ledger"),
        ),
        key=("call_id",),
        slices=("outcome_set",),
        notes="The ledger itself is append-only; this is its published copy.",
    ),
    Table(
        "route_outcomes",
        "one question answered by one route",
        (
            SET,
            QUESTION,
            ROUTE,
            text("model", "LiteLLM model name"),
            text("answer", "the answer; null where the route failed", nullable=True),
            share("confidence", "the model's confidence in its answer", nullable=True),
            text("confidence_source", "where it comes from", nullable=True, values=("logprob", "stated")),
            whole("input_tokens", "prompt tokens as if nothing had been cached", nullable=True),
            whole("output_tokens", "completion tokens", nullable=True),
            whole("total_tokens", "input and output, summed over the calls the route made", nullable=True),
            text("usage_source", "where the counts come from", nullable=True, values=USAGE_SOURCES),
            real("latency_ms", "milliseconds", nullable=True, low=0),
            real("cost_usd", "USD; null where the price is unknown", nullable=True, low=0),
            whole("calls_made", "model calls the route consists of"),
            text("status", "how the route ended", values=CALL_STATUSES),
            pages("context", "the pages it read, in prompt order"),
            Column("quotes", pl.List(pl.String), "rows the answer quotes from its pages"),
        ),
        key=("outcome_set", "question_id", "route"),
        slices=("outcome_set",),
    ),
    Table(
        "judgements",
        "one grade of one answer in one pass",
        (
            SET,
            QUESTION,
            ROUTE,
            JUDGE,
            text("session", "the routes graded jointly"),
            whole("pass_number", "zero-based"),
            text("candidate_label", "the label under which the judge saw the answer"),
            flag("correct", "the verdict", nullable=True),
            share("score", "the grade", nullable=True),
            text("status", "whether the judge gave a grade", values=("judged", "unjudged")),
        ),
        key=("outcome_set", "question_id", "route", "judge", "session", "pass_number"),
        slices=("outcome_set", "judge", "session"),
    ),
    Table(
        "rubric_scores",
        "one rubric score of one answer",
        (
            SET,
            QUESTION,
            ROUTE,
            JUDGE,
            whole("rubric_score", "1 to 10", nullable=True, low=1, high=10),
            text("reason", "the judge's reason", nullable=True),
            text("status", "whether the judge gave a score", values=("judged", "unjudged")),
        ),
        key=("outcome_set", "question_id", "route", "judge"),
        slices=("outcome_set", "judge"),
    ),
    Table(
        "route_quality",
        "how good one route's answer was",
        (
            SET,
            QUESTION,
            ROUTE,
            JUDGE,
            share("quality", "mean score over the graded passes; null without one", nullable=True),
            flag("correct", "majority of the graded passes", nullable=True),
            share("token_f1", "token overlap with the gold answer", nullable=True),
            flag(
                "numeric_agreement", "the numbers agree; null where ambiguous or not numeric", nullable=True
            ),
            real(
                "logged_score",
                "the score as an imported log gives it; quality is within 0 to 1",
                nullable=True,
            ),
            text(
                "judged_by",
                "kind of judge; `logged`: scores of an imported log; `rubric` not as yet, its scores stand in "
                "`rubric_scores`",
                values=JUDGED_BY,
            ),
        ),
        key=("outcome_set", "question_id", "route", "judge"),
        slices=("outcome_set", "judge"),
    ),
)

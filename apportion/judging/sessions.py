"""Who is graded with whom: sessions of joint adjudication, their calls and their rows.

The routes of one run are graded jointly. Routes added later are graded in a session of their own with the
reference route beside them, so that earlier grades stand.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from apportion.judging.blind import JUDGE_SCHEMA, PASSES, assign_labels, judge_messages, parse_verdict
from apportion.llm.requests import CallPurpose, CallResult, ChatRequest, Message

REFERENCE_ROUTE = "top1"
MAX_OUTPUT_TOKENS = 384


@dataclass(frozen=True)
class PlannedPass:
    """One pass over the answers to one question: the call, and which label hid which route."""

    outcome_set: str
    question_id: str
    session: str
    pass_number: int
    request: ChatRequest
    labels: Mapping[str, str]

    @property
    def purpose(self) -> CallPurpose:
        """What the ledger files the call under."""
        return CallPurpose(self.outcome_set, self.question_id, None, "judge")


def session_name(number: int, routes: Iterable[str]) -> str:
    """A session's name: its number, which orders sessions, and its routes."""
    return f"{number:03d}:" + ",".join(sorted(routes))


def session_routes(session: str) -> tuple[str, ...]:
    """The routes that a session's name names."""
    return tuple(session.partition(":")[2].split(","))


def plan_sessions(earlier: Sequence[str], routes: Sequence[str]) -> list[str]:
    """Every session that grades these routes: the earlier ones that touch them, and one for what is new.

    Args:
        earlier: names of the sessions there are.
        routes: the routes to grade.
    """
    graded = {route for session in earlier for route in session_routes(session)}
    kept = [session for session in sorted(earlier) if set(session_routes(session)) <= set(routes)]
    new = [route for route in routes if route not in graded]
    if not new:
        return kept
    number = 1 + max((int(session.partition(":")[0]) for session in earlier), default=0)
    beside = [REFERENCE_ROUTE] if earlier and REFERENCE_ROUTE in routes else []
    return [*kept, session_name(number, {*new, *beside})]


def plan_passes(
    questions: pl.DataFrame, outcomes: pl.DataFrame, session: str, judge: str
) -> list[PlannedPass]:
    """The calls of one session, three passes a question, labels permuted independently in each.

    Args:
        questions: rows of `questions` with a reference answer; those without are left out.
        outcomes: rows of `route_outcomes` of the set.
        session: its name.
        judge: LiteLLM model name.
    """
    routes = session_routes(session)
    answers: dict[str, dict[str, str]] = {}
    for question, route, answer in outcomes.select("question_id", "route", "answer").iter_rows():
        if route in routes:
            answers.setdefault(question, {})[route] = answer or ""
    planned = []
    columns = ("outcome_set", "question_id", "text", "reference_answer")
    for outcome_set, question_id, text, reference in questions.select(columns).iter_rows():
        given = answers.get(question_id)
        if not given or reference is None:
            continue
        for number in range(PASSES):
            labels = assign_labels(
                sorted(given),
                outcome_set=outcome_set,
                question_id=question_id,
                session=session,
                pass_number=number,
            )
            messages = judge_messages(
                text, reference, {label: given[route] for label, route in labels.items()}
            )
            request = ChatRequest(
                model=judge,
                messages=tuple(Message(**message) for message in messages),  # type: ignore[arg-type]
                temperature=0.0,
                max_output_tokens=MAX_OUTPUT_TOKENS,
                response_schema=JUDGE_SCHEMA,
            )
            planned.append(PlannedPass(outcome_set, question_id, session, number, request, labels))
    return planned


def judgement_rows(
    planned: Iterable[PlannedPass], results: Iterable[CallResult], judge: str
) -> list[dict[str, Any]]:
    """Rows of `judgements`: a pass without a readable verdict leaves its candidates unjudged."""
    rows = []
    for plan, result in zip(planned, results, strict=True):
        verdict = result.parsed if result.parsed is not None else result.text
        grades = parse_verdict(verdict if result.status == "ok" else None, list(plan.labels))
        for label, route in plan.labels.items():
            grade = grades[label]
            rows.append(
                {
                    "outcome_set": plan.outcome_set,
                    "question_id": plan.question_id,
                    "route": route,
                    "judge": judge,
                    "session": plan.session,
                    "pass_number": plan.pass_number,
                    "candidate_label": label,
                    "correct": grade.correct,
                    "score": grade.score,
                    "status": grade.status,
                }
            )
    return rows

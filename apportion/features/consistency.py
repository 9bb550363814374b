"""Self-consistency: how far several answers of the same route to the same question agree, without a judge.

Further samples of a route are logged as routes of their own, `ROUTE#2`, `ROUTE#3` and so on. They belong to the cheap
stage: whoever reads them pays for them (`apportion.evaluation.pairs` adds their tokens to the cheap call's).
"""

from __future__ import annotations

import polars as pl

from apportion.answers.overlap import token_f1

SAMPLE = "#"
"""What stands between a route's name and the number of a further sample."""


def sampled_route(route: str) -> str:
    """The route that a sample is of."""
    return route.partition(SAMPLE)[0]


def samples_of(route: str) -> pl.Expr:
    """Whether an outcome is a further sample of a route."""
    return pl.col("route").str.starts_with(f"{route}{SAMPLE}")


def sample_agreement(outcomes: pl.DataFrame) -> pl.DataFrame:
    """How far each answer agrees with the other samples of its route.

    Args:
        outcomes: question_id, route and answer, of any routes.

    Returns:
        question_id, route and sample_agreement: mean token F1 with the other samples, within [0, 1], two refusals or
        failures without a word agreeing wholly; null where there is no other sample.
    """
    answers: dict[tuple[str, str], list[tuple[str, str]]] = {}
    rows = outcomes.select("question_id", "route", pl.col("answer").fill_null("")).sort(
        "question_id", "route"
    )
    for question, route, answer in rows.iter_rows():
        answers.setdefault((question, sampled_route(route)), []).append((route, answer))
    found = [
        (question, route, _mean([token_f1(answer, other) for name, other in told if name != route]))
        for (question, _), told in answers.items()
        for route, answer in told
    ]
    return pl.DataFrame(
        found,
        schema={"question_id": pl.String, "route": pl.String, "sample_agreement": pl.Float64},
        orient="row",
    )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None

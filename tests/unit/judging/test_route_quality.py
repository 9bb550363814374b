from __future__ import annotations

import polars as pl
import pytest

from apportion.judging.quality import QUALITY_SCHEMA, route_quality

SET = "s"


def judgement(question, route, number, correct, score, session="001:a", judge="j"):
    status = "unjudged" if score is None else "judged"
    return (SET, question, route, judge, session, number, correct, score, status)


def judgements(*rows):
    names = (
        "outcome_set", "question_id", "route", "judge", "session", "pass_number", "correct", "score", "status",
    )  # fmt: skip
    types = [pl.String] * 5 + [pl.Int64, pl.Boolean, pl.Float64, pl.String]
    return pl.DataFrame(list(rows), schema=dict(zip(names, types, strict=True)), orient="row")


def outcomes(*rows):
    return pl.DataFrame(
        [(SET, *row) for row in rows],
        schema=dict.fromkeys(("outcome_set", "question_id", "route", "answer", "status"), pl.String),
        orient="row",
    )


QUESTIONS = pl.DataFrame(
    {
        "outcome_set": [SET, SET],
        "question_id": ["q1", "q2"],
        "text": ["What is capex (in USD millions)?", "Why did sales fall?"],
        "reference_answer": ["$1577.00", "Lower volumes in Europe"],
    }
)


def one(frame, question, route):
    return frame.row(
        by_predicate=(pl.col("question_id") == question) & (pl.col("route") == route), named=True
    )


def test_mean_and_majority_over_the_graded_passes_with_the_diagnostics():
    frame = route_quality(
        judgements(
            judgement("q1", "top1", 0, True, 1.0),
            judgement("q1", "top1", 1, True, 0.8),
            judgement("q1", "top1", 2, None, None),
            judgement("q2", "top1", 0, False, 0.2),
        ),
        outcomes(("q1", "top1", "$1,577 million", "ok"), ("q2", "top1", "Volumes fell in Europe", "ok")),
        QUESTIONS,
    )
    assert frame.schema == QUALITY_SCHEMA
    first, second = one(frame, "q1", "top1"), one(frame, "q2", "top1")
    assert (first["quality"], first["correct"], first["numeric_agreement"]) == (
        pytest.approx(0.9),
        True,
        True,
    )
    assert (second["quality"], second["correct"], second["numeric_agreement"]) == (0.2, False, None)
    assert second["token_f1"] == pytest.approx(2 * 3 / 8)
    assert first["judged_by"] == "llm"


def test_a_failed_route_is_an_outcome_and_an_ungraded_one_is_unknown():
    frame = route_quality(
        judgements(
            judgement("q1", "top1", 0, None, None),
            judgement("q1", "top5", 0, True, 1.0),
            judgement("q2", "top5", 0, None, None),
        ),
        outcomes(
            ("q1", "top1", "x", "ok"), ("q1", "top5", None, "truncated"), ("q2", "top5", None, "failed")
        ),
        QUESTIONS,
    )
    assert frame.height == 3
    unknown = one(frame, "q1", "top1")
    assert (unknown["quality"], unknown["correct"]) == (None, None)
    for question in ("q1", "q2"):
        failed = one(frame, question, "top5")
        assert (failed["quality"], failed["correct"], failed["token_f1"]) == (0.0, False, 0.0)
    assert one(frame, "q1", "top5")["numeric_agreement"] is False


def test_the_first_session_stands_when_a_route_is_graded_again():
    rows = [judgement("q1", "top1", n, True, 1.0, "001:top1,top5") for n in range(3)]
    rows += [judgement("q1", "top1", n, False, 0.0, "002:cbr,top1") for n in range(3)]
    frame = route_quality(judgements(*rows), outcomes(("q1", "top1", "1577", "ok")), QUESTIONS)
    assert one(frame, "q1", "top1")["quality"] == 1.0


def test_rows_do_not_hang_on_the_order_of_the_input():
    rows = [judgement(q, r, n, n > 0, n / 2) for q in ("q1", "q2") for r in ("a", "b") for n in range(3)]
    given = outcomes(*((q, r, "1577", "ok") for q in ("q1", "q2") for r in ("a", "b")))
    frame = route_quality(judgements(*rows), given, QUESTIONS)
    again = route_quality(judgements(*rows[::-1]), given.reverse(), QUESTIONS.reverse())
    assert frame.equals(again)
    assert frame.select("question_id", "route").rows() == [("q1", "a"), ("q1", "b"), ("q2", "a"), ("q2", "b")]


def test_an_abstention_overlaps_with_nothing():
    frame = route_quality(
        judgements(judgement("q1", "a", 0, False, 0.0), judgement("q2", "a", 0, False, 0.0)),
        outcomes(
            ("q1", "a", "not in the pages provided", "ok"), ("q2", "a", "Not in the pages provided.", "ok")
        ),
        QUESTIONS,
    )
    assert frame["token_f1"].to_list() == [0.0, 0.0]
    assert frame["numeric_agreement"].to_list() == [False, None]


@pytest.mark.parametrize(
    ("grades", "quality", "correct"),
    [
        ([(True, 1.0), (True, 0.8), (False, 0.3)], 0.7, True),
        ([(True, 1.0), (False, 0.0)], 0.5, False),
        ([(True, 1.0), (False, 0.0), (None, None)], 0.5, False),
        ([(True, 0.6), (None, None), (None, None)], 0.6, True),
    ],
)
def test_a_majority_needs_more_than_half_of_the_graded_passes(grades, quality, correct):
    rows = [judgement("q1", "top1", number, *grade) for number, grade in enumerate(grades)]
    found = one(
        route_quality(judgements(*rows), outcomes(("q1", "top1", "x", "ok")), QUESTIONS), "q1", "top1"
    )
    assert (found["quality"], found["correct"]) == (pytest.approx(quality), correct)

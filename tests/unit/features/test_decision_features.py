"""Features hold what is known at the decision and nothing that is learnt after it."""

from __future__ import annotations

import inspect

import polars as pl
import pytest

from apportion.answers.abstention import ABSTENTION
from apportion.features.decision import decision_features, numbers, terms
from apportion.features.signals import SIGNAL_GROUPS
from apportion.routes.prompts import ContextPage, answer_messages
from apportion.tokens import count_tokens
from warehouse.contracts import FEATURES, TABLES

PAGES = pl.DataFrame(
    {
        "filing_id": ["f"] * 3,
        "page_number": [4, 7, 9],
        "text": ["net revenue 1,577 in 2018", "capital expenditure 99", "risk factors and nothing else"],
    }
)
QUESTIONS = pl.DataFrame(
    {
        "outcome_set": ["s"] * 2,
        "question_id": ["a", "b"],
        "text": ["What is the FY2018 net revenue?", "Is margin defined as profit / revenue healthy?"],
        "family": ["metrics", None],
        "reference_answer": ["$1577.00", "yes"],
    }
)
RETRIEVALS = pl.DataFrame(
    {
        "question_id": ["a", "a", "a", "b"],
        "rank": [1, 2, 3, 1],
        "filing_id": ["f"] * 4,
        "page_number": [4, 7, 9, 7],
        "score": [0.5, 0.2, 0.0, 0.4],
    }
)


def outcomes(answers: list[str | None]) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "question_id": ["a", "b"],
            "route": ["top1"] * 2,
            "answer": answers,
            "confidence": [0.8, None],
            "input_tokens": [100, 90],
            "output_tokens": [12, 7],
        },
        schema_overrides={"confidence": pl.Float64, "answer": pl.String},
    )


def made(answers: list[str | None] | None = None) -> pl.DataFrame:
    given = ["about 1,577 and 12", ABSTENTION] if answers is None else answers
    return decision_features(QUESTIONS, RETRIEVALS, PAGES, outcomes(given), "top1", "top5")


def test_columns_are_the_contract_s() -> None:
    rows = made().with_columns(outcome_set=pl.lit("s"), cheap_route=pl.lit("top1"), deep_route=pl.lit("top5"))
    arranged = TABLES["features"].arrange(rows)
    TABLES["features"].validate(arranged)
    # The contract's other features are signals of the answer's own text, made beside these.
    signals = {name for group in SIGNAL_GROUPS.values() for name in group}
    assert set(made().columns) - {"question_id"} >= {column.name for column in FEATURES} - signals


def test_values_by_hand() -> None:
    first, second = made().to_dicts()
    assert (first["margin"], first["score_first"]) == pytest.approx((0.3, 0.5))
    assert second["margin"] == pytest.approx(0.4)  # a lone page's margin is its score
    assert (first["deep_pages"], first["deep_new_pages"]) == (3, 2)
    assert (second["deep_pages"], second["deep_new_pages"]) == (1, 0)
    assert (first["cheap_numbers"], first["cheap_numbers_found"]) == (2, 0.5)
    assert first["cheap_hedged"]
    assert second["cheap_refused"]
    assert second["cheap_confidence"] is None
    assert second["question_is_yes_no"]
    assert second["question_has_formula"]
    assert second["redundancy"] is None
    wanted = terms("What is the FY2018 net revenue?")
    assert first["coverage_cheap"] == pytest.approx(
        len(wanted & terms("net revenue 1,577 in 2018")) / len(wanted)
    )


def test_the_deep_prompt_is_counted_exactly() -> None:
    context = [ContextPage("f", number, text) for _, number, text in PAGES.iter_rows()]
    messages = answer_messages("What is the FY2018 net revenue?", context)
    # Joined by a newline: a count of the parts would miss what stands between them.
    assert made()["deep_prompt_tokens"][0] == count_tokens("\n".join(m["content"] for m in messages))


def test_gold_answers_and_evidence_change_nothing() -> None:
    spoiled = QUESTIONS.with_columns(reference_answer=pl.lit("something else"), evidence=pl.lit("elsewhere"))
    again = decision_features(
        spoiled, RETRIEVALS, PAGES, outcomes(["about 1,577 and 12", ABSTENTION]), "top1", "top5"
    )
    assert again.equals(made())


def test_the_deep_outcome_is_never_handed_in() -> None:
    assert list(inspect.signature(decision_features).parameters) == [
        "questions", "retrievals", "pages", "cheap_outcomes", "cheap_route", "deep_route",
    ]  # fmt: skip


def test_a_failed_cheap_answer_is_a_refusal() -> None:
    first, second = made([None, "5"]).to_dicts()
    assert first["cheap_refused"]
    assert first["cheap_numbers_found"] is None
    assert not second["cheap_refused"]


def test_numbers_are_compared_by_value() -> None:
    assert numbers("$1,577.00 or 1577 and 0.60") == ["1577", "1577", "0.6"]

"""Signals of an answer: what each says of plain examples, and that absent inputs are unknown, not zero."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.features.signals import SIGNAL_GROUPS, SIGNALS, answer_signals, retrieval_signals
from warehouse.contracts import TABLES

UNKNOWN_WITHOUT = {
    "figures_derived": "three figures",
    "figures_supported": "a context, or a figure",
    "asked_years_missing": "a year in the question",
    "type_mismatch": "a kind of answer that the question asks for",
    "items_echoed": "a line item in the question",
}
"""Signals that say nothing where something is lacking, though other companies are known; the others always speak."""

QUESTION = "What is the FY2022 gross margin (in percent) for Alder?"


@pytest.mark.parametrize(
    "answer",
    [
        "I'm sorry, but the context does not include the figure.",
        "The gross margin cannot be determined from the excerpt.",
        "There is no information about this in the filing.",
        "I am unable to provide it.",
        "Revenue isn't stated.",
        "",
    ],
)
def test_refusals_are_told_by_their_wording(answer: str) -> None:
    assert answer_signals(QUESTION, answer)["refuses"]


@pytest.mark.parametrize("answer", ["The gross margin was 41.2%.", "Yes, it was able to pay its debts."])
def test_answers_do_not_refuse(answer: str) -> None:
    assert not answer_signals(QUESTION, answer)["refuses"]


def test_figures_that_follow_or_stand_in_the_context_are_told() -> None:
    answer = "Gross profit was $40 million on revenue of $100 million, so the margin is 40.0%."
    found = answer_signals(QUESTION, answer, context="Revenue 100 80 Gross profit 40 30")
    assert found["figures_supported"] == 1
    assert found["figures_derived"] == 0
    assert answer_signals(QUESTION, answer)["figures_supported"] is None
    assert answer_signals(QUESTION, "It was 5.", context="Revenue 100")["figures_supported"] == 0
    assert answer_signals(QUESTION, "It was 30 + 12 = 42.")["equations_wrong"] == 0
    assert answer_signals(QUESTION, "It was 30 + 12 = 43.")["equations_wrong"] == 1


def test_another_company_year_or_kind_is_told() -> None:
    found = answer_signals(
        QUESTION, "Birch had $5 million in 2019.", company="Alder", other_companies=["Alder", "Birch"]
    )
    assert found["other_company"]
    assert found["other_years"] == 1
    assert found["asked_years_missing"] == 1
    assert found["type_mismatch"]
    assert not answer_signals(QUESTION, "It was 41.2% in FY22.")["type_mismatch"]
    assert answer_signals(QUESTION, "It was 41.2%.")["other_company"] is None


def test_operands_that_a_metric_needs_are_counted() -> None:
    found = answer_signals("What is the FY2022 net profit margin for Alder?", "Revenue was $100 million.")
    assert found["operands_needed"] == 2
    assert found["operands_missing"] == 1


def test_retrieval_without_scores_or_rivals_is_unknown() -> None:
    assert retrieval_signals([], 1, None, None) == dict.fromkeys(SIGNAL_GROUPS["retrieval"])
    found = retrieval_signals([0.8, 0.4], 1, 0.5, 0.75)
    assert found == {
        "unread_score": 0.5,
        "unread_coverage": 0.25,
    }


@given(st.text(max_size=200), st.one_of(st.none(), st.text(max_size=400)))
def test_any_text_has_signals_within_the_contract(question: str, answer: str | None) -> None:
    found = answer_signals(question, answer, company="Alder", other_companies=["Birch"], context=answer)
    columns = TABLES["features"].by_name
    elsewhere = {
        name for group in ("retrieval", "accounting", "consistency") for name in SIGNAL_GROUPS[group]
    }
    assert set(found) == set(SIGNALS) - elsewhere
    for name, value in found.items():
        column = columns[name]
        assert value is not None or name in UNKNOWN_WITHOUT
        if value is not None and column.low is not None:
            assert value >= column.low
        if value is not None and column.high is not None:
            assert value <= column.high


def test_each_that_may_be_unknown_is_where_what_it_needs_lacks() -> None:
    bare = answer_signals("Discuss the outlook.", "It is good.", other_companies=["Birch"], context="")
    assert {name for name, value in bare.items() if value is None} == set(UNKNOWN_WITHOUT)
    told = answer_signals(
        QUESTION,
        "In FY2022: 40 / 100 = 0.4, a gross margin of 40%.",
        other_companies=["Birch"],
        context="40 100",
    )
    assert None not in told.values()

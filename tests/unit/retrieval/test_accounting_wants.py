"""What questions want."""

from __future__ import annotations

import pytest

from apportion.retrieval.accounting.wants import asked_years, wants_of


def test_a_metric_wants_its_line_items_and_their_statements() -> None:
    wants = wants_of("What is Rim Works' FY2022 fixed asset turnover ratio?")
    assert wants.items == {"revenue", "ppe"}
    assert wants.needed_statements == {"income", "balance"}
    assert wants.metric
    assert wants.years == (2022,)
    assert wants.pages["income"] > wants.pages["discussion"]


@pytest.mark.parametrize(
    ("question", "family"),
    [
        ("What is Rim Works' FY2022 quick ratio?", "metric"),
        ("What drove the fall in sales of Rim Works in 2022?", "cause"),
        ("Does Rim Works pay a dividend to its holders?", "yes_no"),
        ("Which segment of Rim Works had the largest sales in 2022?", "figure"),
        ("Who audits Rim Works?", "text"),
    ],
)
def test_the_kind_of_answer_is_told(question: str, family: str) -> None:
    assert wants_of(question).family == family


def test_what_is_said_of_form_is_not_searched() -> None:
    question = (
        "What is the FY2019 capex of Rim Works? Answer in USD millions. Round your answer to two decimal places. "
        "If capex is not a useful metric for a company like this, then please state that and explain why."
    )
    wants = wants_of(question)
    assert wants.core == "What is the FY2019 capex of Rim Works?"
    assert not wants.cause
    assert "purchases of property plant and equipment" in wants.terms or "capital expenditures" in wants.terms


def test_a_named_statement_outweighs_every_other_kind() -> None:
    wants = wants_of("Using the statement of cash flows, how much did Rim Works pay in dividends in 2020?")
    assert wants.statements == ("cash_flow",)
    assert max(wants.pages, key=lambda kind: wants.pages[kind]) == "cash_flow"


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("What drove the change in gross margin in 2022?", "discussion"),
        ("Which lawsuits is Rim Works defending?", "legal"),
        ("Which segment had the highest net income in 2021?", "segments"),
        ("Which debt securities are registered on a national securities exchange?", "cover"),
        ("What benefits will be paid to retirees in 2026?", "notes"),
        ("What adjusted, non-GAAP EBITDA did Rim Works report?", "non_gaap"),
    ],
)
def test_topics_say_where_to_look(question: str, kind: str) -> None:
    pages = wants_of(question).pages
    assert pages[kind] == max(pages.values())


def test_years_and_spans() -> None:
    assert asked_years("FY2018 - FY2020 average") == (2020, 2019, 2018)
    assert asked_years("from 2019 to 2021") == (2021, 2020, 2019)
    assert asked_years("Q2 FY22 against FY21") == (2022, 2021)
    assert asked_years("a loan of 2,018 dollars") == ()


@pytest.mark.parametrize(
    "question", ["", " ", "???", "quick ratio " * 400, '"; DROP TABLE pages; --', "NEAR(a b)"]
)
def test_any_text_is_a_question(question: str) -> None:
    wants = wants_of(question)
    assert all(weight >= 0 for weight in wants.pages.values())

"""Items of a 10-K by their headings, and what a document says of its year."""

from __future__ import annotations

import json
from datetime import date
from pathlib import Path

import pytest

from apportion.corpus.items import ItemFinder
from apportion.corpus.metadata import facts_of_cover, fiscal_year_of
from apportion.corpus.readers import read_document
from apportion.corpus.submission import header_facts, main_document

CONTENTS = "\n".join(
    f"Item {name}. {title} {page}"
    for name, title, page in [
        ("1", "Business", 3),
        ("1A", "Risk Factors", 9),
        ("2", "Properties", 20),
        ("3", "Legal Proceedings", 20),
        ("7", "Discussion", 25),
        ("8", "Statements", 40),
    ]
)


def finder(*pages: str) -> ItemFinder:
    found = ItemFinder()
    for page in pages:
        found.add(page)
    return found


def test_contents_and_references_are_not_items() -> None:
    found = finder(
        "cover",
        CONTENTS,
        "Item 1. Business\nWe make things. See\nItem 8 of this report." + " x" * 300,
        "ITEM 1A — RISK FACTORS\n"
        + "risk " * 200
        + "\nItem 2. Properties\nnone\nItem 3. Legal Proceedings\nnone",
        "Item 7. Discussion\nas stated in\nItem 1A. Risk Factors\nabove" + " y" * 300,
        "more of it",
        "Item 8.\nFinancial Statements\n" + "z " * 300,
    )
    assert [(item.identifier, item.page_number) for item in found.items()] == [
        ("1", 2),
        ("1A", 3),
        ("2", 3),
        ("3", 3),
        ("7", 4),
        ("8", 6),
    ]
    assert found.items()[-1].title == "Financial Statements"
    columns = found.columns()
    assert columns["item"] == [None, None, "1", "1A, 2, 3", "7", "7", "8"]
    assert [titles and len(titles) for titles in columns["item_titles"]] == [None, None, 1, 3, 1, 1, 1]
    assert columns["item_titles"][-1] == ["Financial Statements"]


@pytest.mark.parametrize(
    ("heading", "identifier"),
    [
        ("Items 1 and 2. Business and Properties", "1, 2"),
        ("ITEMS 1, 1A AND 2. BUSINESS", "1, 1A, 2"),
        ("Items 10 through 13", "10, 11, 12, 13"),
        ("PART I, Item 1. Business", "1"),
        ("item 9A(T) Controls", None),
        ("Item 601 of Regulation S-K", None),
    ],
)
def test_combined_headings_stand_once(heading: str, identifier: str | None) -> None:
    items = finder(heading + "\ntext").items()
    assert [item.identifier for item in items] == ([] if identifier is None else [identifier])


def test_thousands_of_headings_take_no_time_to_speak_of() -> None:
    # The longest chain is found in one pass: fifty thousand candidates would take hours pairwise.
    found = finder(*("Item 7. Discussion " + "x " * 200 + "\nItem 8. Statements",) * 25_000)
    assert [item.identifier for item in found.items()] == ["7", "8"]


def test_items_agree_with_another_parser(test_data: Path) -> None:
    expected, there = 0, 0
    for guide in sorted((test_data / "edgar_html" / "10-K").glob("*/*/expected-top-level-sections.json")):
        found = finder(*read_document(guide.with_name("primary-document.html")).pages)
        identifiers = {name for item in found.items() for name in item.identifier.split(", ")}
        names = {row["identifier"] for row in json.loads(guide.read_text())}
        expected += len(names)
        there += len(names & identifiers)
    assert expected > 100
    assert there >= 0.98 * expected


@pytest.mark.parametrize(
    ("end", "form", "year_end", "expected"),
    [
        (date(2024, 1, 28), "10-K", None, 2023),
        (date(2023, 12, 31), "10-K/A", None, 2023),
        (date(2024, 1, 2), "10-K", None, 2023),
        (date(2024, 2, 3), "10-K", None, 2024),
        (date(2024, 9, 28), "10-K", None, 2024),
        (date(2023, 10, 31), "10-Q", "0131", 2023),
        (date(2023, 12, 31), "10-Q", "0930", 2024),
        (date(2023, 3, 31), "10-Q", "1231", 2023),
        (date(2023, 3, 31), "10-Q", None, None),
        (date(2023, 3, 31), "8-K", "1231", None),
    ],
)
def test_fiscal_years_are_never_off_by_one(
    end: date, form: str, year_end: str | None, expected: int | None
) -> None:
    assert fiscal_year_of(end, form, year_end) == expected


def test_a_cover_page_tells_filer_form_and_period() -> None:
    facts = facts_of_cover(
        "UNITED STATES\nFORM 10-K/A\nAmendment No. 1\nFor the fiscal year ended February 3, 2024\n"
        "ALDER & BIRCH, INC.\n(Exact name of registrant as specified in its charter)\n"
    )
    assert (facts.form, facts.period_end, facts.company) == (
        "10-K/A",
        date(2024, 2, 3),
        "ALDER & BIRCH, INC.",
    )
    assert facts_of_cover("a page of nothing in particular").form is None


def test_the_main_document_of_a_submission_is_that_of_its_form() -> None:
    text = (
        "<SEC-DOCUMENT>\nACCESSION NUMBER:\t\t0000000001-24-000001\nCONFORMED SUBMISSION TYPE:\t10-K\n"
        "CONFORMED PERIOD OF REPORT:\t20231231\n\t\tCENTRAL INDEX KEY:\t\t\t1\n"
        "<DOCUMENT>\n<TYPE>EX-13\n<TEXT>\nexhibit\n</TEXT>\n</DOCUMENT>\n"
        "<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n<XBRL>\nthe report\n</XBRL>\n</TEXT>\n</DOCUMENT>\n"
    )
    facts = header_facts(text)
    assert (facts.accession, facts.cik, facts.period_end) == (
        "0000000001-24-000001",
        "0000000001",
        date(2023, 12, 31),
    )
    assert main_document(text, facts.form).strip() == "the report"
    assert main_document(text, "8-K").strip() == "exhibit"

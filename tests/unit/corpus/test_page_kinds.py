"""What the pages of a filing are, told from their text."""

from __future__ import annotations

import pytest

from apportion.corpus.page_kinds import PAGE_KINDS, page_profiles
from apportion.corpus.sample import page_frame
from apportion.corpus.statement_rows import page_lines, rows_of
from apportion.corpus.synthetic.filing import all_filings

BALANCE = """Rim Works and Subsidiaries
Consolidated Balance Sheets
At December 31,
In millions 2023 2022
Cash and cash equivalents $ 40 $ 30
Accounts receivable, net 176 131
Inventories 164 152
Total current assets 452 312
Property and equipment, net 113 102
Goodwill 78 38
Total assets $ 1,964 $ 951
Accounts payable $ 89 $ 88
Total current liabilities 440 306
Long-term debt 714 221
Retained earnings 202 119
Total shareholders’ equity 583 377
"""
INCOME = """Rim Works and Subsidiaries
Consolidated Statements of Income
For the years ended December 31, 2023 2022 2021
Net sales $ 14,694 $ 14,544 $ 12,861
Cost of sales (11,969) (11,724) (10,129)
Gross profit 2,725 2,820 2,732
Operating income 1,508 1,239 1,321
Interest expense (290) (159) (153)
Income before income taxes 1,251 1,115 1,193
Income tax expense (193) (300) (261)
Net income $ 1,058 $ 815 $ 951
Diluted earnings per share $ 0.705 $ 0.529 $ 0.602
"""
CASH_FLOW = """Consolidated Statements of Cash Flows
Years ended December 31, 2023 2022 2021
Net income 1,058 815 951
Depreciation and amortization 569 579 572
Net cash provided by operating activities 1,261 1,526 1,461
Capital expenditures (526) (527) (468)
Net cash used in investing activities (309) (527) (233)
Dividends paid (723) (732) (742)
Net cash used in financing activities (1,000) (1,094) (1,230)
"""
PROSE = "The business went on as before, and nothing of note happened in the year to any of its parts.\n" * 12


def _filing() -> list[str]:
    return [
        "Washington, D.C. 20549\nFORM 10-K\n" + PROSE,
        "Item 1. Business\n" + PROSE,
        "Item 1A. Risk Factors\n" + PROSE,
        PROSE,
        "Item 3. Legal Proceedings\n" + PROSE,
        "Item 7. Management’s Discussion and Analysis of Financial Condition\n" + PROSE,
        "Report of Independent Registered Public Accounting Firm\n" + PROSE,
        INCOME,
        BALANCE,
        CASH_FLOW,
        "Notes to Consolidated Financial Statements\n" + PROSE,
        "Legal proceedings\n" + PROSE,
        "Item 15. Exhibits\n" + PROSE,
    ]


def test_sections_and_statements_follow_one_another() -> None:
    profiles = page_profiles(_filing())
    assert [profile.kind for profile in profiles] == [
        "cover",
        "business",
        "risk_factors",
        "risk_factors",
        "legal",
        "discussion",
        "auditor",
        "income",
        "balance",
        "cash_flow",
        "notes",
        "notes",
        "exhibits",
    ]
    assert profiles[7].fiscal_years == (2023, 2022, 2021)
    assert profiles[8].units == "millions"
    assert [profile.strength > 0.5 for profile in profiles] == [7 <= place <= 9 for place in range(13)]


def test_a_statement_that_runs_over_its_page_takes_the_next_one_with_it() -> None:
    lines = BALANCE.splitlines(keepends=True)
    first, second = "".join(lines[:11]), "".join(lines[11:]) + "Total liabilities 1,381 574\nGoodwill 78 38\n"
    pages = _filing()
    pages[8:9] = [first, second]
    assert [profile.kind for profile in page_profiles(pages)][7:11] == [
        "income",
        "balance",
        "balance",
        "cash_flow",
    ]


def test_the_parents_own_statements_in_an_exhibit_are_not_the_primary_ones() -> None:
    pages = [*_filing(), "Condensed financial information of the registrant (parent company)\n" + BALANCE]
    profiles = page_profiles(pages)
    assert profiles[8].strength > profiles[-1].strength


@pytest.mark.parametrize(
    "shown", ["CONSOLIDATED\nBALANCE\nSHEETS", "Consolidated Balance Shee t", "BALANCESHEETS"]
)
def test_titles_are_read_however_a_pdf_breaks_them(shown: str) -> None:
    pages = _filing()
    pages[8] = pages[8].replace("Consolidated Balance Sheets", shown)
    assert page_profiles(pages)[8].kind == "balance"


def test_contents_are_told_from_what_they_list() -> None:
    parts = (
        "Item 1. Business",
        "Item 1A. Risk Factors",
        "Item 3. Legal Proceedings",
        "Item 7. MD&A",
        "Item 8. Statements",
    )
    listed = "\n".join(f"{part} {number}" for number, part in enumerate([*parts, *parts], start=3))
    pages = _filing()
    pages.insert(1, "Table of Contents\n" + listed)
    assert [profile.kind for profile in page_profiles(pages)][:3] == ["cover", "contents", "business"]


def test_the_samples_statements_are_found_in_every_filing() -> None:
    filings = list(all_filings(11, 8, 2))
    for filing in filings:
        found = page_frame(filing)["page_kind"].to_list()
        printed = [page.kind for page in filing.pages]
        for place, kind in enumerate(printed):
            if kind in ("income", "balance", "cash_flow", "equity", "contents", "cover", "exhibits"):
                assert found[place] == kind
            elif kind == "notes":
                assert found[place] in ("notes", "segments")
    assert len(filings) == 16


def test_every_kind_is_a_known_one_on_hostile_text() -> None:
    for texts in (
        [],
        [""],
        ["\x00\x01"],
        ["Item 1." * 5_000],
        ['=HYPERLINK("x")\n' * 400, "1 2 3 4\n" * 900],
    ):
        profiles = page_profiles(texts)
        assert len(profiles) == len(texts)
        assert all(profile.kind in PAGE_KINDS and 0 <= profile.figures <= 1 for profile in profiles)


def test_rows_are_found_by_their_labels_and_bars_hold() -> None:
    found = rows_of(page_lines(CASH_FLOW + "Proceeds from sale of property, plant and equipment 4 5 6\n"))
    assert found["capital_expenditure"] == 1.0
    assert found["operating_cash_flow"] == 1.0
    assert "ppe" not in found
    # A label without figures behind it prints nothing.
    assert rows_of(["Inventories", "were counted in December"]) == {}
    assert rows_of(["Inventories", "$ 164 152"]) == {"inventory": 1.0}

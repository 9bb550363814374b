from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.llm.embedded.layout import parse_page, squash

# One cell to a line, with spacers, as PDF text gives a statement.
TALL = """Quillmoor Corp.
Consolidated Balance Sheets
(In thousands)
December 31,

2021

2020
Current assets:
Cash and cash equivalents

$
1,250

$
980
Accounts receivable, net of allowance of $12 and $9

410

395
Assets held for sale

35
Total current assets
1,695
1,375
Total assets
$
4,000 $
3,600
Less: accumulated amortization
(1,100)
(900)
Deferred charges
—
(5)
See accompanying notes.
12
"""

WIDE = """Harrowgate plc
Consolidated Statements of Income
Fiscal years ended May 31, (dollars in millions, except per share amounts)
2022 2021 2020
Net sales $ 18,992.8 $ 18,127.0 $ 17,626.6
Cost of sales 12,590.6 11,678.7 11,496.7
Restructuring, impairment, and other exit
costs (26.5) 170.4 24.4
Net earnings $ 2,707.3 $ 2,339.8 $ 2,181.2
Diluted earnings per share (Note 4) $ 4.42 $ 3.78 $ 3.56
"""


def rows(page):
    return {row.label: row.values for row in page.rows}


def test_a_statement_one_cell_to_a_line():
    page = parse_page(TALL)
    assert (page.statement, page.scale) == ("balance", 1e3)
    assert [header.years for header in page.headers] == [(2021, 2020)]
    found = rows(page)
    assert found["Cash and cash equivalents"] == (1250, 980)
    assert found["Accounts receivable, net of allowance of $12 and $9"] == (410, 395)
    assert found["Total assets"] == (4000, 3600)
    assert found["Less: accumulated amortization"] == (-1100, -900)
    assert found["Deferred charges"] == (None, -5)


def test_a_lone_value_is_not_given_to_a_column_by_guess():
    (held,) = [row for row in parse_page(TALL).rows if row.label == "Assets held for sale"]
    assert held.values in ((None, 35), (35,))
    assert held.aligned == (len(held.values) == 2)


def test_a_statement_one_row_to_a_line():
    page = parse_page(WIDE)
    assert (page.statement, page.scale) == ("income", 1e6)
    found = rows(page)
    assert found["Net sales"] == (18992.8, 18127.0, 17626.6)
    assert found["Restructuring, impairment, and other exit costs"] == (-26.5, 170.4, 24.4)
    assert found["Diluted earnings per share (Note 4)"] == (4.42, 3.78, 3.56)


def test_quotes_are_as_printed():
    quotes = [row.text() for row in parse_page(WIDE).rows]
    assert "Net sales $ 18,992.8 $ 18,127.0 $ 17,626.6" in quotes
    assert "Restructuring, impairment, and other exit costs (26.5) 170.4 24.4" in quotes


def test_prose_is_not_a_table():
    page = parse_page("In 2021 we opened 14 stores.\nRevenue grew because of them, by 12 percent.\n7\n")
    assert page.rows == ()


@pytest.mark.parametrize(
    ("label", "letters"),
    [
        ("Net income (loss)", "netincome"),
        ("Accounts receivable, less allowance for doubtful accounts of $5", "accountsreceivable"),
        ("Totalcurrentassets", "totalcurrentassets"),
        ("Goodwill (Note 7)", "goodwill"),
        ("Long-term debt, note 9", "longtermdebt"),
    ],
)
def test_labels_are_compared_by_their_letters(label, letters):
    assert squash(label) == letters


@pytest.mark.parametrize(
    "line",
    [
        "may " * 28 + "x",
        "1234567890" * 3000 + "x",
        "$ " * 2000 + "x",
        "(" * 3000,
        "Sales " + "1,000 " * 2000 + "x",
    ],
)
def test_no_line_takes_for_ever(line):
    # With a pattern that backtracks, each of these would outlast the machine.
    assert parse_page(f"In millions\n2021 2020\n{line}\n").scale == 1e6


LABELS = ("Net sales", "Cost of sales", "Gross profit", "Interest expense, net", "Provision for income taxes")
CELL = st.one_of(
    st.none(), st.integers(min_value=-9_999_999, max_value=9_999_999).filter(lambda n: abs(n) > 40)
)


def shown(value):
    return "—" if value is None else f"({-value:,})" if value < 0 else f"{value:,}"


@given(
    st.lists(st.lists(CELL, min_size=3, max_size=3), min_size=5, max_size=5),
    st.sampled_from([(2021, 2020, 2019), (2017, 2018, 2019)]),
    st.sampled_from(["wide", "tall", "spaced", "dollar", "squeezed"]),
)
def test_every_layout_gives_the_same_rows(table, years, layout):
    lines = ["Consolidated Statements of Operations", "(in thousands)", "Year ended December 31,"]
    if layout == "wide":
        lines.append(" ".join(map(str, years)))
        lines += [" ".join([label, *map(shown, row)]) for label, row in zip(LABELS, table, strict=True)]
    else:
        blank = [""] if layout == "spaced" else []
        for year in years:
            lines += [*blank, str(year)]
        for label, row in zip(LABELS, table, strict=True):
            lines.append(label.replace(" ", "") if layout == "squeezed" else label)
            for value in row:
                lines += [*blank, *(["$"] if layout == "dollar" else []), shown(value)]
    page = parse_page("\n".join(lines))
    assert [header.years for header in page.headers] == [years]
    found = {squash(row.label): row.values for row in page.rows}
    expected = {
        squash(label): tuple(row)
        for label, row in zip(LABELS, table, strict=True)
        if any(value is not None for value in row)
    }
    assert found == expected

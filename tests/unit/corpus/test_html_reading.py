"""EDGAR's HTML as pages: rows that read, page breaks, facts of the filer, and tags nested absurdly."""

from __future__ import annotations

import html as entities
import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.corpus.html import join_cells, read_html
from apportion.corpus.readers import kind_of, read_document
from apportion.corpus.records import UnreadableError
from apportion.corpus.text import LONGEST_PAGE, PAGE_CHARACTERS, decode, split_pages


def lines(html: str) -> list[str]:
    pages, _ = read_html(html)
    return "\n".join(pages).split("\n")


@pytest.mark.parametrize(
    ("cells", "line"),
    [
        (["Net loss", "", "$", "(1,234", ")"], "Net loss $(1,234)"),
        (["Net loss", "$", "(1,234)", "", "$", "567"], "Net loss $(1,234) $567"),
        (["Margin", "12.5", "%", "(3.1", ")%"], "Margin 12.5% (3.1)%"),
        (["Assets", "", ""], "Assets"),
        (["Sales", "€", "1.234"], "Sales €1.234"),
        (["Total", "(", "99", ")"], "Total (99)"),
        (["(a)", "Notes", "—", "%"], "(a) Notes —%"),
        (["Shares (in thousands)", ")"], "Shares (in thousands) )"),
        (["", "2024", "2023"], "2024 2023"),
    ],
)
def test_split_cells_are_joined(cells: list[str], line: str) -> None:
    assert join_cells(cells) == line


def test_rows_keep_their_labels_and_order() -> None:
    html = (
        "<table><tr><td colspan=3>Current assets:</td></tr>"
        "<tr><td>Cash</td><td>$</td><td>1,234</td></tr>"
        "<tr><td></td><td></td><td></td></tr>"
        "<tr><td>Loss</td><td><p>$</p></td><td><span>(5</span><span>67</span></td><td>)</td></tr></table>after"
    )
    assert lines(html) == ["Current assets:", "Cash $1,234", "Loss $(567)", "after"]


def test_a_table_within_a_table_loses_nothing() -> None:
    html = (
        "<table><tr><td>before<table><tr><td>a</td><td>1</td></tr><tr><td>b</td><td>2</td></tr></table>behind</td>"
        "<td>beside</td></tr></table>"
    )
    assert lines(html) == ["before", "a 1", "b 2", "behind", "beside"]


def test_inline_tags_do_not_cut_words_and_blocks_do() -> None:
    assert lines("<p>Con<b>solid</b>ated &amp; <i>more</i></p><div>next&nbsp;&#8203;line</div>x<br>y") == [
        "Consolidated & more",
        "next line",
        "x",
        "y",
    ]


@pytest.mark.parametrize(
    "mark",
    [
        '<hr style="page-break-after:always"/>',
        '<hr style="break-after: page">',
        '<div style="page-break-before: always"></div>',
        '<p style="page-break-after:always">&nbsp;</p>',
        '<div style="page-break-after:always"><div>&nbsp;</div></div>',
    ],
)
def test_pages_end_where_styles_break_them(mark: str) -> None:
    pages, _ = read_html(f"<div><p>first</p>{mark}<p>second</p>{mark}<p>third</p></div>")
    assert pages == ["first", "second", "third"]


def test_without_marks_pages_are_bounded_and_cut_between_blocks() -> None:
    html = "".join(f"<p>paragraph {i} {'word ' * 60}</p>" for i in range(60))
    pages, _ = read_html(html)
    assert max(map(len, pages)) <= PAGE_CHARACTERS
    assert len(pages) > 4
    assert "\n".join(pages).split("\n") == [f"paragraph {i} {'word ' * 60}".strip() for i in range(60)]
    assert read_html(html)[0] == pages


def test_facts_come_from_the_hidden_header_and_it_is_not_text() -> None:
    html = (
        '<html><head><title>x</title></head><body><div style="display:none"><ix:header><ix:hidden>'
        '<ix:nonNumeric contextRef="c" name="dei:AmendmentFlag">true</ix:nonNumeric>'
        '<ix:nonNumeric contextRef="c" name="dei:DocumentFiscalYearFocus">2023</ix:nonNumeric>'
        '<ix:nonNumeric contextRef="c" name="dei:EntityCentralIndexKey">320193</ix:nonNumeric>'
        "</ix:hidden></ix:header></div><p>for the year ended "
        '<ix:nonNumeric name="dei:DocumentPeriodEndDate">January <span>28</span>, 2024</ix:nonNumeric></p>'
        '<p><ix:nonNumeric name="dei:DocumentType">10-K</ix:nonNumeric> of '
        '<ix:nonNumeric name="dei:EntityRegistrantName">Alder &amp; Co</ix:nonNumeric></p></body></html>'
    )
    pages, facts = read_html(html)
    assert pages == ["for the year ended January 28, 2024\n10-K of Alder & Co"]
    assert (facts.company, facts.cik, facts.form) == ("Alder & Co", "0000320193", "10-K/A")
    assert facts.fiscal_year == 2023
    assert str(facts.period_end) == "2024-01-28"


def test_absurd_nesting_is_refused_and_unclosed_tags_are_not() -> None:
    with pytest.raises(UnreadableError, match="nested"):
        read_html("<div>" * 5_000 + "deep")
    assert lines("<p>one" * 5_000)[:1] == ["one"]
    assert lines("<font><b>" * 5_000 + "old filings never close them") == ["old filings never close them"]


TAGS = ["<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", "<div>", "</div>"]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(
        st.sampled_from(["<table>", "</table>", "<tr>", "</tr>", "<td>", "</td>", "<div>", "</div>"]),
        max_size=30,
    )
)
def test_no_word_is_lost_however_tags_are_strewn(tags: list[str]) -> None:
    html = "".join(f"{tag}w{i}" for i, tag in enumerate(tags))
    pages, _ = read_html(html)
    found = " ".join(pages).split()
    assert sorted(found) == sorted(f"w{i}" for i in range(len(tags)))


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("é".encode(), "é"),
        ("é".encode("cp1252"), "é"),
        (b"\xef\xbb\xbfx", "x"),
        ("é".encode("utf-16"), "é"),
        (
            '<?xml version="1.0" encoding="shift_jis"?>年'.encode("shift_jis"),
            '<?xml version="1.0" encoding="shift_jis"?>年',
        ),
        (b'<meta charset="no-such-thing">\xe9', '<meta charset="no-such-thing">é'),
        (b'<meta charset="base64">plain', '<meta charset="base64">plain'),
    ],
)
def test_encodings_are_declared_or_sniffed(content: bytes, text: str) -> None:
    assert decode(content) == text


def test_bytes_that_are_no_text_are_reported(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    path.write_bytes(bytes(range(256)) * 100)
    with pytest.raises(UnreadableError, match="neither"):
        kind_of(path)


def test_plain_text_is_cut_at_its_page_marks() -> None:
    assert split_pages("one\n<PAGE>\ntwo\n<PAGE>  3\nthree\fin the end") == [
        "one",
        "two",
        "three",
        "in the end",
    ]
    unmarked = split_pages("\n".join(f"line {i}" for i in range(3_000)))
    assert max(map(len, unmarked)) <= PAGE_CHARACTERS
    assert "\n".join(unmarked).split("\n") == [f"line {i}" for i in range(3_000)]
    assert max(map(len, split_pages("\f" + "x" * 50_000))) <= LONGEST_PAGE


def test_the_rows_of_real_filings_are_all_there(test_data: Path) -> None:
    """Every number that a table cell shows stands on some page, as often as it is shown."""
    for document in sorted((test_data / "edgar_html" / "10-K").glob("*/*/primary-document.html")):
        source = document.read_text(encoding="utf-8")
        cells = re.findall(r"<td[^>]*>((?:(?!<td|</td).)*)</td>", source, re.DOTALL)
        spaced = [re.sub(r"<(?:br|/?div|/?p)\b[^>]*>", " ", cell) for cell in cells]
        shown = [entities.unescape(re.sub(r"<[^>]+>", "", cell)) for cell in spaced]
        wanted = [number for cell in shown for number in re.findall(r"\d[\d,]*\d", cell)]
        text = "\n".join(read_document(document).pages)
        found = re.findall(r"\d[\d,]*\d", text)
        missing = Counter(wanted) - Counter(found)
        assert len(wanted) > 500
        assert missing.total() == 0, missing.most_common(5)

"""A ticker has one spelling wherever it is written: at EDGAR, in filings, in questions."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.corpus.edgar import ciks_of, parse_tickers
from apportion.retrieval.resolver.tables import known_companies
from apportion.tickers import ticker_key

WRITTEN = ("BRK.B", "BRK/B", "brk b", " Brk-B ")


@pytest.mark.parametrize("written", WRITTEN)
def test_a_share_class_stands_behind_a_hyphen(written: str) -> None:
    assert ticker_key(written) == "BRK-B"
    listed = parse_tickers(f'{{"0": {{"ticker": "{written}", "cik_str": 1067983}}}}')
    assert ciks_of(["BRK.B"], listed) == ["0001067983"]


@given(st.text("aB./ -9", max_size=8))
def test_a_spelling_is_its_own(written: str) -> None:
    assert ticker_key(ticker_key(written)) == ticker_key(written)


def test_the_shipped_tables_hold_that_spelling() -> None:
    listed = [ticker for company in known_companies().companies for ticker in company.tickers]
    assert listed
    assert listed == [ticker_key(ticker) for ticker in listed]

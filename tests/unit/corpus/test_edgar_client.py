"""The client against a server that behaves as EDGAR does on bad days."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from datetime import date
from itertools import pairwise
from pathlib import Path

import pytest
from edgar_server import EdgarServer, Filing, report, serve

from apportion.corpus.edgar import EdgarError, ciks_of, select
from apportion.corpus.edgar_client import (
    EdgarClient,
    EdgarThrottledError,
    Pacer,
    Politeness,
    check_user_agent,
)
from apportion.corpus.filers import parse_filer
from apportion.corpus.metadata import Facts

AGENT = "Example Research research@example.com"
FAST = Politeness(first_wait_s=0.01)
DAY = date(2024, 3, 1)


@pytest.fixture
def edgar() -> Iterator[EdgarServer]:
    filings = [
        Filing(
            f"000000{i:04d}",
            f"Company {i}",
            "10-K",
            "20240301",
            f"0000000{i:03d}-24-000001",
            report("C", 2023, i),
        )
        for i in range(1, 4)
    ]
    with serve(EdgarServer(filings=filings)) as server:
        yield server


def client(edgar: EdgarServer, folder: Path, politeness: Politeness = FAST) -> EdgarClient:
    return EdgarClient(folder, AGENT, edgar.url, politeness)


@pytest.mark.parametrize("agent", [None, "", "python-httpx/0.28", "me@example.com", "no address here"])
def test_nobody_is_refused(tmp_path: Path, agent: str | None) -> None:
    with pytest.raises(EdgarError, match="APPORTION_EDGAR_USER_AGENT"):
        EdgarClient(tmp_path, agent)
    assert check_user_agent(AGENT) == AGENT


def test_documents_are_fetched_once_and_the_agent_is_named(edgar: EdgarServer, tmp_path: Path) -> None:
    entries = client(edgar, tmp_path).daily_index(DAY)
    assert [entry.company for entry in entries] == ["Company 1", "Company 2", "Company 3"]
    first = list(client(edgar, tmp_path).documents(entries))
    asked = len(edgar.asked)
    again = list(client(edgar, tmp_path).documents(entries))
    assert len(edgar.asked) == asked
    assert again == first
    assert {agent for _, _, agent in edgar.asked} == {AGENT}
    for (entry, kept), filing in zip(first, edgar.filings, strict=True):
        assert entry.accession == filing.accession
        assert kept is not None
        assert kept.path.read_bytes() == filing.submission


def test_an_unchanged_list_is_not_sent_again(edgar: EdgarServer, tmp_path: Path) -> None:
    before = client(edgar, tmp_path).daily_index(DAY)
    assert client(edgar, tmp_path).daily_index(DAY) == before
    assert edgar.statuses == {200: 2, 304: 2}


def test_bytes_that_changed_on_disk_are_fetched_again(edgar: EdgarServer, tmp_path: Path) -> None:
    entries = client(edgar, tmp_path).daily_index(DAY)
    ((_, kept),) = list(client(edgar, tmp_path).documents(entries[:1]))
    assert kept is not None
    kept.path.write_bytes(b"half a docu")
    ((_, mended),) = list(client(edgar, tmp_path).documents(entries[:1]))
    assert mended is not None
    assert mended.path.read_bytes() == edgar.filings[0].submission


@pytest.mark.parametrize("status", [403, 429, 200, 503])
def test_a_throttle_page_is_waited_out(edgar: EdgarServer, tmp_path: Path, status: int) -> None:
    edgar.throttled, edgar.throttle_status = 2, status
    assert len(client(edgar, tmp_path).daily_index(DAY)) == 3
    assert len(edgar.asked) == 4


@pytest.mark.parametrize("status", [403, 200])
def test_a_throttle_that_stays_is_a_failure_never_an_empty_day(
    edgar: EdgarServer, tmp_path: Path, status: int
) -> None:
    edgar.throttled, edgar.throttle_status = -1, status
    with pytest.raises(EdgarThrottledError, match="throttle page"):
        client(edgar, tmp_path).daily_index(DAY)
    assert len(edgar.asked) == FAST.attempts


def test_an_answer_that_breaks_off_is_asked_for_again(edgar: EdgarServer, tmp_path: Path) -> None:
    entries = client(edgar, tmp_path).daily_index(DAY)
    edgar.cut_off = 1
    ((_, kept),) = list(client(edgar, tmp_path).documents(entries[:1]))
    assert kept is not None
    assert kept.path.read_bytes() == edgar.filings[0].submission


@pytest.mark.parametrize("zipped", [False, True])
def test_fetching_goes_on_where_an_answer_broke_off(
    edgar: EdgarServer, tmp_path: Path, *, zipped: bool
) -> None:
    entries = client(edgar, tmp_path).daily_index(DAY)[:1]
    edgar.cut_off, edgar.zipped = 1, zipped
    with pytest.raises(EdgarThrottledError):
        list(client(edgar, tmp_path, Politeness(attempts=1)).documents(entries))
    ((_, kept),) = list(client(edgar, tmp_path).documents(entries))
    assert kept is not None
    assert kept.path.read_bytes() == edgar.filings[0].submission
    sent = gzip.compress(edgar.filings[0].submission, mtime=0) if zipped else edgar.filings[0].submission
    assert edgar.ranges == [f"bytes={len(sent) // 2}-"]
    assert edgar.statuses[206] == 1
    assert not list(tmp_path.rglob("*.part*"))


@pytest.mark.parametrize("how", ["changed there", "damaged here", "another rest"])
def test_a_beginning_of_other_bytes_is_dropped(edgar: EdgarServer, tmp_path: Path, how: str) -> None:
    entries = client(edgar, tmp_path).daily_index(DAY)[:1]
    edgar.cut_off = 1
    with pytest.raises(EdgarThrottledError):
        list(client(edgar, tmp_path, Politeness(attempts=1)).documents(entries))
    (part,) = tmp_path.rglob("*.part")
    if how == "changed there":
        edgar.filings[0].body += "<p>more</p>"
    elif how == "damaged here":
        part.write_bytes(b"x" * part.stat().st_size)
    else:
        edgar.shifted = True
    ((_, kept),) = list(client(edgar, tmp_path).documents(entries))
    assert kept is not None
    assert kept.path.read_bytes() == edgar.filings[0].submission
    assert len(edgar.ranges) == (how != "damaged here")


def test_a_throttle_page_amid_a_document_costs_nothing_of_it(edgar: EdgarServer, tmp_path: Path) -> None:
    entries = client(edgar, tmp_path).daily_index(DAY)[:1]
    edgar.cut_off = 1
    with pytest.raises(EdgarThrottledError):
        list(client(edgar, tmp_path, Politeness(attempts=1)).documents(entries))
    edgar.throttled = 1
    ((_, kept),) = list(client(edgar, tmp_path).documents(entries))
    assert kept is not None
    assert kept.path.read_bytes() == edgar.filings[0].submission
    assert edgar.statuses[206] == 1


TOLD: dict[str, object] = {
    "cik": "1652044",
    "name": "Alder Holdings",
    "tickers": ["AL.B", "AL-B", "ALA"],
    "fiscalYearEnd": "0930",
    "formerNames": [
        {"name": "Birch Inc", "from": "2010-01-04T05:00:00.000Z", "to": "2015-10-01T04:00:00.000Z"},
        {"name": "no days"},
    ],
}


def test_submissions_tell_who_a_filer_is(edgar: EdgarServer, tmp_path: Path) -> None:
    cik = "0001652044"
    edgar.submissions = {cik: TOLD, "0000000002": {"cik": 3}}
    reader = client(edgar, tmp_path)
    filer = reader.filers([cik, cik, "0000000001", "0000000002"])[cik]
    assert reader.filers(["0000000001", "0000000002"]) == {}
    assert filer.facts.ticker == "AL-B"
    assert filer.tickers == ("AL-B", "ALA")
    assert filer.facts.fiscal_year_end == "0930"
    assert filer.name_on(date(2012, 1, 1)) == "Birch Inc"
    assert filer.name_on(date(2020, 1, 1)) == filer.name_on(None) == "Alder Holdings"
    assert filer.name_on(date(2009, 1, 1)) is None
    # What is kept will do, unless it is asked for as of now; then it is sent only if it changed.
    before = len(edgar.asked)
    assert reader.filers([cik])[cik] == filer
    assert len(edgar.asked) == before
    edgar.submissions[cik] = {**TOLD, "tickers": ["NEW"]}
    assert reader.filers([cik], fresh=[cik])[cik].tickers == ("NEW",)
    assert reader.filers([cik], fresh=[cik])[cik].tickers == ("NEW",)
    assert edgar.statuses[304] == 1


@pytest.mark.parametrize(
    "content", [b"", b"[]", b"{", b'{"cik": "x"}', b'{"cik": 1, "tickers": 7, "formerNames": "?", "name": 3}']
)
def test_submissions_that_are_none_say_nothing(content: bytes) -> None:
    found = parse_filer(content, "0000000001")
    assert found is None or found.facts == Facts()


def test_a_document_that_is_gone_is_told_and_the_others_come(edgar: EdgarServer, tmp_path: Path) -> None:
    entries = client(edgar, tmp_path).daily_index(DAY)
    del edgar.filings[1]
    found = [kept is not None for _, kept in client(edgar, tmp_path).documents(entries)]
    assert found == [True, False, True]


def test_a_day_without_an_index(edgar: EdgarServer, tmp_path: Path) -> None:
    reader = client(edgar, tmp_path)
    assert reader.daily_index(date(2024, 3, 2)) == []
    # A weekday before one that has an index was a holiday; one behind may still be published.
    assert reader.daily_index(date(2024, 2, 19), today=date(2024, 3, 1)) == []
    with pytest.raises(EdgarError, match="published no index"):
        reader.daily_index(date(2024, 3, 4), today=date(2024, 3, 4))
    with pytest.raises(EdgarError, match="published no index"):
        reader.daily_index(date(2024, 4, 1), today=date(2024, 4, 1))


def test_one_filing_stands_once_whatever_filers_it_is_listed_under(
    edgar: EdgarServer, tmp_path: Path
) -> None:
    edgar.listed_under[edgar.filings[0].accession] = ["0000009999"]
    assert len(client(edgar, tmp_path).daily_index(DAY)) == 3


def test_the_pace_holds_over_clients(tmp_path: Path) -> None:
    moments: list[float] = []
    pacers = [Pacer(tmp_path / "pace", 10.0) for _ in range(2)]
    for i in range(6):
        pacers[i % 2].wait()
        moments.append(float((tmp_path / "pace").read_text()))
    # The turns that were given out, not when this process woke up, are what the pace is.
    assert all(later - earlier >= 0.1 - 1e-6 for earlier, later in pairwise(moments))
    with pytest.raises(ValueError, match="at most 10"):
        Pacer(tmp_path / "pace", 11)


def test_tickers_name_filers(edgar: EdgarServer, tmp_path: Path) -> None:
    edgar.tickers = [("BRK-B", "1067983"), ("BRK-A", "1067983"), ("GOOGL", "1652044"), ("GOOG", "1652044")]
    tickers = client(edgar, tmp_path).tickers()
    assert ciks_of(["BRK.B", "brk-b"], tickers) == ["0001067983"]
    assert ciks_of(["GOOG", "GOOGL"], tickers) == ["0001652044"]
    assert ciks_of(["320193"], tickers) == ["0000320193"]
    with pytest.raises(EdgarError, match="CIK"):
        ciks_of(["TWTR"], tickers)


def test_forms_bring_their_amendments(edgar: EdgarServer, tmp_path: Path) -> None:
    edgar.filings[1].form = "10-K/A"
    edgar.filings[2].form = "8-K"
    entries = client(edgar, tmp_path).daily_index(DAY)
    assert [entry.form for entry in select(entries, ["10-K"], [])] == ["10-K", "10-K/A"]
    assert select(entries, ["10-K"], ["0000000003"]) == []

"""Days of EDGAR through the command line, against a server that behaves as EDGAR does."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from commandline import CommandLine, Shown
from edgar_server import EdgarServer, Filing, report, serve

AGENT = "Example Research research@example.com"


@pytest.fixture
def edgar() -> Iterator[EdgarServer]:
    original = Filing(
        "0000000001", "ALDER CORP", "10-K", "20240301", "0000000001-24-000001", report("Alder", 2023, 1_234)
    )
    amended = Filing(
        "0000000001", "ALDER CORP", "10-K/A", "20240401", "0000000001-24-000009", report("Alder", 2023, 1_235)
    )
    retailer = Filing(
        "0001067983",
        "BIRCH STORES",
        "10-K",
        "20240301",
        "0001067983-24-000002",
        report("Birch", 2023, 99).replace("December 31, 2023", "January 28, 2024"),
        period="20240128",
        fiscal_year_end="0131",
    )
    other = Filing("0000000003", "CEDAR CO", "8-K", "20240301", "0000000003-24-000003", "<p>news</p>")
    with serve(EdgarServer(filings=[original, amended, retailer, other])) as server:
        server.tickers = [("BRK-B", "1067983"), ("BRK-A", "1067983")]
        server.submissions["0001067983"] = {
            "cik": 1067983,
            "name": "Birch Group",
            "tickers": ["BRK-B", "BRK-A"],
            "formerNames": [{"name": "Birch Stores Inc", "from": "2001-01-01", "to": "2024-06-30"}],
        }
        yield server


def ingest(apportion: CommandLine, edgar: EdgarServer, *arguments: str) -> Shown:
    environment = {"APPORTION_EDGAR_USER_AGENT": AGENT, "APPORTION_EDGAR_SITE": edgar.url}
    return apportion("ingest", "edgar", *arguments, env=environment)


def test_days_become_batches_and_amendments_name_what_they_amend(
    apportion: CommandLine, edgar: EdgarServer
) -> None:
    shown = ingest(apportion, edgar, "--from", "2024-03-01", "--to", "2024-03-02")
    assert shown.status == 0, shown.err
    assert ingest(apportion, edgar, "--from", "2024-04-01").status == 0
    found = apportion.rows(
        "SELECT filing_id, filing_batch, form, fiscal_year, period_end, filed_at, amends, cik"
        " FROM filings ORDER BY ALL",
    )
    assert found == [
        {
            "filing_id": "0000000001-24-000001",
            "filing_batch": "edgar:2024-03-01",
            "form": "10-K",
            "fiscal_year": "2023",
            "period_end": "2023-12-31",
            "filed_at": "2024-03-01",
            "amends": "",
            "cik": "0000000001",
        },
        {
            "filing_id": "0000000001-24-000009",
            "filing_batch": "edgar:2024-04-01",
            "form": "10-K/A",
            "fiscal_year": "2023",
            "period_end": "2023-12-31",
            "filed_at": "2024-04-01",
            "amends": "0000000001-24-000001",
            "cik": "0000000001",
        },
        {
            "filing_id": "0001067983-24-000002",
            "filing_batch": "edgar:2024-03-01",
            "form": "10-K",
            "fiscal_year": "2023",
            "period_end": "2024-01-28",
            "filed_at": "2024-03-01",
            "amends": "",
            "cik": "0001067983",
        },
    ]
    pages = apportion.rows(
        "SELECT item, text FROM pages WHERE filing_id = '0000000001-24-000001' ORDER BY page_number",
    )
    assert [page["item"] for page in pages] == ["", "1", "8"]
    assert "Net revenue $1,234\nNet loss $(1,234)" in pages[2]["text"]
    documents = [path for _, path, _ in edgar.asked if path.endswith(".txt")]
    again = ingest(apportion, edgar, "--from", "2024-03-01")
    assert "nothing was new" in again.err
    assert [path for _, path, _ in edgar.asked if path.endswith(".txt")] == documents


def test_a_throttled_day_fails_and_resumes(apportion: CommandLine, edgar: EdgarServer) -> None:
    edgar.throttled, edgar.retry_after = -1, "0"
    # Five refusals, two seconds and more apart, as a person would meet them.
    shown = ingest(apportion, edgar, "--from", "2024-03-01")
    assert shown.status == 1
    assert "throttle page" in shown.err
    assert apportion.rows("SELECT * FROM filings") == []
    edgar.throttled = 0
    assert ingest(apportion, edgar, "--from", "2024-03-01").status == 0
    assert len(apportion.rows("SELECT * FROM filings")) == 2


def test_filers_are_named_by_ticker_or_cik_and_a_batch_only_grows(
    apportion: CommandLine, edgar: EdgarServer
) -> None:
    assert ingest(apportion, edgar, "--from", "2024-03-01", "--ticker", "BRK.B").status == 0
    assert [row["cik"] for row in apportion.rows("SELECT cik FROM filings")] == ["0001067983"]
    assert ingest(apportion, edgar, "--from", "2024-03-01", "--ticker", "1").status == 0
    assert len(apportion.rows("SELECT cik FROM filings")) == 2
    # One filing whatever its tickers; the name is the one that the filer bore on the day of filing.
    told = "SELECT ticker, company, count(*) AS n FROM filings WHERE cik = '0001067983' GROUP BY ALL"
    assert ingest(apportion, edgar, "--from", "2024-03-01", "--ticker", "BRK-A,BRK.B").status == 0
    assert apportion.rows(told) == [{"ticker": "BRK-B", "company": "Birch Stores Inc", "n": "1"}]
    shown = ingest(apportion, edgar, "--from", "2024-03-01", "--ticker", "TWTR")
    assert shown.status == 1
    assert "CIK" in shown.err


def test_calls_that_are_wrong(apportion: CommandLine, edgar: EdgarServer) -> None:
    unnamed = apportion("ingest", "edgar", "--from", "2024-03-01", env={"APPORTION_EDGAR_SITE": edgar.url})
    assert unnamed.status == 2
    assert "APPORTION_EDGAR_USER_AGENT" in unnamed.err
    assert edgar.asked == []
    assert ingest(apportion, edgar, "--from", "yesterday").status == 2
    assert ingest(apportion, edgar, "--from", "2024-03-02", "--to", "2024-03-01").status == 2
    assert ingest(apportion, edgar).status == 2

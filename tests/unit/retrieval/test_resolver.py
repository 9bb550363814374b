"""Naming the filing: companies by every kind of name, periods in every spelling, and what must not be guessed."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from apportion.retrieval.resolver.periods import Period, timing_of
from apportion.retrieval.resolver.resolver import RESOLVED, Resolver
from apportion.retrieval.resolver.tables import known_companies


def filing(
    filing_id: str,
    company: str | None = None,
    ticker: str | None = None,
    year: int | None = 2023,
    form: str | None = "10-K",
    **more: Any,
) -> dict[str, Any]:
    return {
        "filing_id": filing_id,
        "company": company,
        "ticker": ticker,
        "fiscal_year": year,
        "form": form,
        "status": "ok",
        **more,
    }


CORPUS = [
    filing("doc-23", "Healthpeak Properties, Inc.", "DOC"),
    filing("brk-23", "Berkshire Hathaway Inc", "BRK-B"),
    filing("amzn-23", "AMAZON.COM, INC.", "AMZN"),
    filing("amzn-22", "AMAZON.COM, INC.", "AMZN", 2022),
    filing("tgt-23", "TARGET CORP", "TGT"),
    filing("goog-23", "Alphabet Inc.", "GOOGL"),
    filing("meta-22", "Meta Platforms, Inc.", "META", 2022),
    filing("ZENTRA_2023_10K", None, None, None, None),
]


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(CORPUS)


@pytest.mark.parametrize(
    ("question", "status", "filings"),
    [
        ("How did PEAK's occupancy develop in FY2023?", "alias", {"doc-23"}),
        ("Healthpeak Properties, Inc. (PEAK) debt maturities in 2023", "name", {"doc-23"}),
        ("the YoY change in Berkshire Hathaway's workforce", "name", {"brk-23"}),
        ("What is FMI's revenue mix in 2023?", "fallback_ambiguous", set()),
        ("SHOP 2023 capex breakdown", "fallback_no_filing", set()),
        ("What was Shopify's capex in 2023?", "fallback_no_filing", set()),
        ("What does BRK.B report as float for 2023?", "exact", {"brk-23"}),
        ("What does BRK-B report as float for 2023?", "exact", {"brk-23"}),
        ("GOOG headcount 2023", "exact", {"goog-23"}),
        ("How did AWS margins change in FY2023?", "alias", {"amzn-23"}),
        ("Instagram monetisation in 2022", "alias", {"meta-22"}),
        ("What did FB spend on capex in fiscal 2022?", "alias", {"meta-22"}),
        ("Zentra operating income in 2023", "filename", {"ZENTRA_2023_10K"}),
        ("What is the target capital ratio for 2023?", "fallback_no_ticker", set()),
        ("What were Target's comparable sales in 2023?", "name", {"tgt-23"}),
        ("what was amazon's net income in 2022", "name", {"amzn-22"}),
        ("What was Amazon's net income in 2022 compared with 2021?", "name", {"amzn-22"}),
        ("What industry is Amazon in?", "fallback_ambiguous", set()),
        ("What was Amazon's revenue in 2013?", "fallback_no_filing", set()),
        ("Compare AMZN and TGT on 2023 inventories", "exact", {"amzn-23", "tgt-23"}),
        ("How does the outlook of Amazon for 2024 look, what is expected?", "name", {"amzn-23"}),
        ("Is R&D up?", "fallback_no_ticker", set()),
    ],
)
def test_questions_resolve(resolver: Resolver, question: str, status: str, filings: set[str]) -> None:
    resolution = resolver.resolve(question)
    assert (resolution.status, set(resolution.filing_ids)) == (status, filings)
    assert (resolution.status in RESOLVED) == (resolution.confidence >= 0.5)


def test_candidates_widen_the_scope(resolver: Resolver) -> None:
    unclear = resolver.resolve("What industry is Amazon in?")
    assert unclear.scope() == ("amzn-22", "amzn-23")
    assert resolver.resolve("Is R&D up?").scope() is None


def test_a_mapped_ticker_is_not_its_namesakes() -> None:
    """A current ticker stands before a former one of the same letters."""
    corpus = [
        filing("trane", "Trane Technologies plc", "TT"),
        filing("ingersoll", "Ingersoll Rand Inc.", "IR"),
    ]
    assert Resolver(corpus).resolve("IR revenue 2023").filing_ids == ("ingersoll",)
    alone = Resolver(corpus[:1]).resolve("IR revenue 2023")
    assert (alone.status, alone.filing_ids) == ("alias", ("trane",))


def test_out_of_corpus_beside_in_corpus(resolver: Resolver) -> None:
    both = resolver.resolve("Did AMZN or SHOP grow faster in 2023?")
    assert both.filing_ids == ("amzn-23",)
    assert both.missing == ("SHOP",)
    assert both.tickers == ("AMZN", "SHOP")


def test_ambiguous_tokens_resolve_where_they_are_tickers() -> None:
    corpus = [filing("tap", "Molson Coors Beverage Co", "TAP"), filing("dva", "DaVita Inc.", "DVA")]
    resolver = Resolver(corpus)
    assert resolver.resolve("TAP volumes 2023").status == "exact"
    assert resolver.resolve("DVA treatments 2023").filing_ids == ("dva",)


def test_common_abbreviations_are_tickers_where_they_own_something() -> None:
    resolver = Resolver([filing("gm", "General Motors Company", "GM"), filing("x", "Acme Corp", "ACMX")])
    assert resolver.resolve("What were GM's deliveries in 2023?").filing_ids == ("gm",)
    assert resolver.resolve("What was Acme's GM % in 2023?").filing_ids == ("x",)
    assert resolver.resolve("What were deliveries of General Motors (GM) in 2023?").filing_ids == ("gm",)


def test_a_name_of_two_filers_is_not_guessed() -> None:
    corpus = [filing("a", "Acme Corp", "ACMA"), filing("b", "Acme Inc", "ACMB")]
    resolution = Resolver(corpus).resolve("What was Acme's revenue in 2023?")
    assert resolution.status == "fallback_ambiguous"
    assert set(resolution.candidates) == {"a", "b"}


def test_amendments_only_when_asked_for() -> None:
    corpus = [
        filing("first", "Acme Corp", "ACMX", filed_at=date(2024, 2, 1)),
        filing("second", "Acme Corp", "ACMX", form="10-K/A", filed_at=date(2024, 4, 1), amends="first"),
    ]
    resolver = Resolver(corpus)
    assert resolver.resolve("Acme revenue FY2023").filing_ids == ("first",)
    assert resolver.resolve("What did Acme's 10-K/A for FY2023 add?").filing_ids == ("second",)


def test_events_by_day_and_quarters_by_fiscal_year() -> None:
    corpus = [
        filing("event", "Acme Corp", form="8-K", filed_at=date(2023, 5, 5)),
        filing("later", "Acme Corp", form="8-K", filed_at=date(2023, 5, 30)),
        filing("annual", "Acme Corp", period_end=date(2023, 6, 30)),
        filing("interim", "Acme Corp", form="10-Q", period_end=date(2022, 12, 31)),
    ]
    resolver = Resolver(corpus)
    assert resolver.resolve("What was voted at Acme's meeting of May 3, 2023?").filing_ids == ("event",)
    assert resolver.resolve("Acme's new facility of 26 May 2023").filing_ids == ("later",)
    assert resolver.resolve("Acme's cash in Q2 of FY2023").filing_ids == ("interim",)
    assert resolver.resolve("Acme's total assets as of June 30, 2023").filing_ids == ("annual",)
    assert resolver.resolve("Acme's cash in Q3 FY2023").filing_ids == ("annual",)


def test_the_default_year_is_the_last_resort() -> None:
    resolver = Resolver(CORPUS, default_year=2023)
    assert resolver.resolve("What industry is Amazon in?").filing_ids == ("amzn-23",)
    assert resolver.resolve("Amazon net income 2022").filing_ids == ("amzn-22",)


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("FY2022", Period(2022, None, True)),
        ("FY22", Period(2022, None, True)),
        ("fiscal year 2022", Period(2022, None, True)),
        ("Q2 2023", Period(2023, 2, True)),
        ("Q2'2023", Period(2023, 2, True)),
        ("Q22023", Period(2023, 2, True)),
        ("FY2023Q1", Period(2023, 1, True)),
        ("2021 Q1", Period(2021, 1, True)),
        ("2Q23", Period(2023, 2, True)),
        ("the second fiscal quarter of 2023", Period(2023, 2, True)),
        ("H1 FY2023", Period(2023, 2, True)),
        ("in 2019", Period(2019)),
    ],
)
def test_periods(text: str, period: Period) -> None:
    assert timing_of(f"What of {text}?").periods == (period,)


def test_days_and_numbers_are_no_years() -> None:
    timing = timing_of("As of June 30, 2023 it paid $2,019 million, 2019.5 a share, 2000%")
    assert timing.days == (date(2023, 6, 30),)
    assert timing.periods == ()


def test_every_renaming_has_a_day_and_a_source() -> None:
    known = known_companies()
    assert {"FB", "PEAK", "BLL", "ANTM", "ABC"} <= {one.former for one in known.history}
    assert all(one.source and one.day.year > 2000 for one in known.history)


def test_users_tables_stand_before_ours(tmp_path: Any) -> None:
    (tmp_path / "ticker_history.csv").write_text(
        "former,current,date,company,source\nZNTR,ZNT,2025-01-02,Zentra,its Form 8-K\n"
    )
    (tmp_path / "company_tickers.json").write_text(
        '{"0": {"cik_str": 1, "ticker": "QQZ", "title": "Quizzical Corp"}}'
    )
    resolver = Resolver([filing("z", "Zentra Inc", "ZNT")], known_companies(tmp_path))
    assert resolver.resolve("ZNTR sales 2023").status == "alias"
    assert resolver.resolve("QQZ sales 2023").status == "fallback_no_filing"
    (tmp_path / "brands.csv").write_text("brand,ticker\nx,y\n")
    known_companies.cache_clear()
    with pytest.raises(ValueError, match="no column 'name'"):
        known_companies(tmp_path)
    known_companies.cache_clear()

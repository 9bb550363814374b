"""The filings of a corpus as the resolver sees them: who filed, for which period, in which form. Never their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from typing import Any

from apportion.retrieval.resolver.naming import first_word, name_keys
from apportion.retrieval.resolver.tables import KnownCompanies
from apportion.tickers import ticker_key

NAME_YEAR = re.compile(r"(?<![0-9])((?:19|20)\d\d)(?:[_-]?Q([1-4]))?(?![0-9])", re.IGNORECASE)
NAME_DAY = re.compile(r"(?<![0-9])((?:19|20)\d\d)-(\d\d)-(\d\d)(?![0-9])")
NAME_FORMS = (
    (re.compile(r"(?<![a-z0-9])10-?k(?:-?a)?(?![a-z0-9])", re.IGNORECASE), "10-K"),
    (re.compile(r"(?<![a-z0-9])10-?q(?![a-z0-9])", re.IGNORECASE), "10-Q"),
    (re.compile(r"(?<![a-z0-9])8-?k(?![a-z0-9])", re.IGNORECASE), "8-K"),
    (re.compile(r"(?<![a-z0-9])earnings(?![a-z0-9])", re.IGNORECASE), "earnings release"),
)
ANNUAL = ("10-K", "20-F", "40-F", "annual report")
INTERIM = ("10-Q", "6-K")
RELEASE = "earnings release"
EVENT = "8-K"


@dataclass(frozen=True)
class Document:
    """One filing. ``quarter`` is that of its fiscal year, None for a whole year or an event."""

    filing_id: str
    form: str | None
    fiscal_year: int | None
    quarter: int | None
    period_end: date | None
    filed_at: date | None
    amends: str | None = None

    @property
    def annual(self) -> bool:
        """Whether it reports on a whole year; a filing that names no form is taken to."""
        form = self.form or ""
        return form.startswith(ANNUAL) or (not form and self.quarter is None)


@dataclass
class Filer:
    """One company with filings: the tickers and names that it is known by, each with where the knowledge is from."""

    number: int
    company: str | None = None
    tickers: dict[str, None] = field(default_factory=dict)
    known_tickers: dict[str, None] = field(default_factory=dict)
    keys: dict[str, str] = field(default_factory=dict)
    documents: list[Document] = field(default_factory=list)

    @property
    def ticker(self) -> str | None:
        """Its ticker as its filings give it, else as the tables do."""
        return next(iter([*self.tickers, *self.known_tickers]), None)


class Catalogue:
    """The filers of some filings, joined with what is known of companies.

    Args:
        filings: rows of `filings`.
        known: the tables.
    """

    def __init__(self, filings: Iterable[Mapping[str, Any]], known: KnownCompanies) -> None:
        self.known = known
        self.filers: list[Filer] = []
        by_mark: dict[str, Filer] = {}
        for row in sorted(filings, key=lambda row: str(row["filing_id"])):
            if row.get("status") == "failed":
                continue
            marks = _marks(row)
            filer = next((by_mark[mark] for mark in marks if mark in by_mark), None)
            if filer is None:
                filer = Filer(len(self.filers))
                self.filers.append(filer)
            for mark in marks:
                by_mark.setdefault(mark, filer)
            _add(filer, row)
        for filer in self.filers:
            filer.documents = _with_quarters(filer.documents)
        self._join_known()
        self._add_first_words()
        self.by_ticker: dict[str, list[Filer]] = {}
        self.by_known_ticker: dict[str, list[Filer]] = {}
        self.by_key: dict[str, list[tuple[Filer, str]]] = {}
        for filer in self.filers:
            for ticker in filer.tickers:
                self.by_ticker.setdefault(ticker, []).append(filer)
            for ticker in filer.known_tickers:
                self.by_known_ticker.setdefault(ticker, []).append(filer)
            for key, kind in filer.keys.items():
                self.by_key.setdefault(key, []).append((filer, kind))
        self._add_former()

    def _add_first_words(self) -> None:
        """First words that only one filer's name begins with, and nobody's whole name is."""
        taken = {key for filer in self.filers for key in filer.keys} | self.unlisted_names.keys()
        begun: dict[str, list[Filer]] = {}
        for filer in self.filers:
            word = first_word(filer.company) if filer.company else None
            if word is not None and word not in taken:
                begun.setdefault(word, []).append(filer)
        for word, filers in begun.items():
            if len(filers) == 1:
                filers[0].keys[word] = "name"

    def _join_known(self) -> None:
        by_ticker: dict[str, int] = {}
        by_key: dict[str, int] = {}
        for number, company in enumerate(self.known.companies):
            for ticker in company.tickers:
                by_ticker.setdefault(ticker, number)
            for name in (company.name, *company.informal):
                for key in name_keys(name):
                    by_key.setdefault(key, number)
        self.unlisted_names = dict(by_key)
        self.unlisted_tickers = dict(by_ticker)
        latest = {renaming.former: renaming.current for renaming in self.known.history}
        for filer in self.filers:
            place = next((by_ticker[ticker] for ticker in filer.tickers if ticker in by_ticker), None)
            if place is None:
                place = next(
                    (
                        by_ticker[now]
                        for ticker in filer.tickers
                        if (now := _follow(ticker, latest)) in by_ticker
                    ),
                    None,
                )
            if place is None and not filer.tickers:
                place = next((by_key[key] for key in filer.keys if key in by_key), None)
            if place is None:
                continue
            company = self.known.companies[place]
            for ticker in company.tickers:
                if ticker not in filer.tickers:
                    filer.known_tickers[ticker] = None
            for key in name_keys(company.name):
                filer.keys.setdefault(key, "name")
            for name in company.informal:
                for key in name_keys(name):
                    filer.keys.setdefault(key, "alias")
        owners = {ticker: filer for filer in self.filers for ticker in (*filer.known_tickers, *filer.tickers)}
        for name, ticker in self.known.brands.items():
            owner = owners.get(ticker)
            for key in name_keys(name):
                if owner is not None:
                    owner.keys.setdefault(key, "alias")
                elif ticker in by_ticker:
                    self.unlisted_names.setdefault(key, by_ticker[ticker])

    def _add_former(self) -> None:
        """Tickers that a filer had before, or has come to have since its filings."""
        self.by_former: dict[str, list[Filer]] = {}
        for renaming in self.known.history:
            for old, new in ((renaming.former, renaming.current), (renaming.current, renaming.former)):
                for filer in [*self.by_ticker.get(new, []), *self.by_known_ticker.get(new, [])]:
                    # A ticker that was another company's before the day is none of that company's names.
                    if new == renaming.current and _all_before(filer.documents, renaming.day):
                        continue
                    self.by_former.setdefault(old, []).append(filer)


def _with_quarters(documents: Sequence[Document]) -> list[Document]:
    """The filings, an interim report's quarter counted from the month in which the filer's years end."""
    ends = [one.period_end.month for one in documents if one.period_end is not None and one.annual]
    last = max(ends, key=ends.count) if ends else 12
    return [
        replace(one, quarter=((one.period_end.month - last - 1) % 12) // 3 + 1)
        if one.quarter is None
        and one.period_end is not None
        and one.form is not None
        and one.form.startswith(INTERIM)
        else one
        for one in documents
    ]


def _follow(ticker: str, latest: Mapping[str, str]) -> str:
    seen = {ticker}
    while ticker in latest and latest[ticker] not in seen:
        ticker = latest[ticker]
        seen.add(ticker)
    return ticker


def _all_before(documents: Sequence[Document], day: date) -> bool:
    """Whether every dated filing was filed well before a day: those in the year before it name the same company."""
    filed = [document.filed_at for document in documents if document.filed_at is not None]
    return bool(filed) and len(filed) == len(documents) and max(filed).year < day.year - 1


def _marks(row: Mapping[str, Any]) -> list[str]:
    """What tells filers apart, the surest first: SEC's number, the ticker, the name."""
    marks = []
    if row.get("cik"):
        marks.append(f"cik {row['cik']}")
    if row.get("ticker"):
        marks.append(f"ticker {ticker_key(row['ticker'])}")
    if row.get("company"):
        keys = name_keys(row["company"])
        marks += [f"name {keys[0]}"] if keys else []
    return marks or [f"document {_leading_words(str(row['filing_id']))}"]


def _leading_words(document: str) -> str:
    """What stands before the year and form of a document's name: usually its filer."""
    cut = len(document)
    year = NAME_YEAR.search(document)
    for found in [year, *(pattern.search(document) for pattern, _ in NAME_FORMS)]:
        if found is not None and found.start() > 0:
            cut = min(cut, found.start())
    return document[:cut].replace("_", " ").replace("-", " ").strip(" .")


def _add(filer: Filer, row: Mapping[str, Any]) -> None:
    document = str(row["filing_id"])
    if row.get("company"):
        filer.company = filer.company or row["company"]
        for key in name_keys(row["company"]):
            filer.keys.setdefault(key, "name")
    if row.get("ticker"):
        filer.tickers[ticker_key(row["ticker"])] = None
    if not row.get("company") and not row.get("ticker"):
        for key in name_keys(_leading_words(document)):
            filer.keys.setdefault(key, "filename")
    form = row.get("form") or next((form for pattern, form in NAME_FORMS if pattern.search(document)), None)
    year, quarter, day = row.get("fiscal_year"), None, row.get("filed_at")
    dated = NAME_DAY.search(document)
    named = NAME_YEAR.search(document)
    if named is not None and (dated is None or named.start() < dated.start()):
        year = year if year is not None else int(named[1])
        quarter = int(named[2]) if named[2] else None
    if dated is not None and day is None:
        try:
            day = date(int(dated[1]), int(dated[2]), int(dated[3]))
        except ValueError:
            day = None
    end = row.get("period_end")
    if year is None and end is not None:
        year = end.year
    filer.documents.append(Document(document, form, year, quarter, end, day, row.get("amends")))

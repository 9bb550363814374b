"""What is commonly known of companies: names, tickers and their history, brands, abbreviations that mean several.

The tables are CSV files in this package's ``data`` folder. A folder of the user's may hold files of the same names and
columns, whose rows are added and stand before ours, and SEC's own ``company_tickers.json``.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import lru_cache
from importlib.resources import files
from pathlib import Path

from apportion.tickers import ticker_key

COMPANIES, HISTORY, BRANDS, AMBIGUOUS = (
    "companies.csv",
    "ticker_history.csv",
    "brands.csv",
    "ambiguous.csv",
)
COLUMNS: Mapping[str, tuple[str, ...]] = {
    COMPANIES: ("tickers", "name", "informal_names"),
    HISTORY: ("former", "current", "date", "company", "source"),
    BRANDS: ("name", "ticker", "kind"),
    AMBIGUOUS: ("token", "meanings"),
}
SEC_LIST = "company_tickers.json"


@dataclass(frozen=True)
class Company:
    """A company: its share classes' tickers, its name, and other names it goes or went by."""

    tickers: tuple[str, ...]
    name: str
    informal: tuple[str, ...] = ()


@dataclass(frozen=True)
class Renaming:
    """A ticker that was replaced by another on a day, and the public source that says so."""

    former: str
    current: str
    day: date
    company: str
    source: str


@dataclass(frozen=True)
class KnownCompanies:
    """The tables together. ``brands`` maps a name to its owner's ticker; ``ambiguous`` a token to its meanings."""

    companies: tuple[Company, ...] = ()
    history: tuple[Renaming, ...] = ()
    brands: Mapping[str, str] = field(default_factory=dict)
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@lru_cache(maxsize=4)
def known_companies(folder: Path | None = None) -> KnownCompanies:
    """The shipped tables, with those of a folder before them.

    Raises:
        FileNotFoundError: the folder isn't there.
        ValueError: a file of it has other columns, or a date that is none.
    """
    if folder is not None and not folder.is_dir():
        raise FileNotFoundError(f"{folder}: no such folder; it should hold {', '.join(COLUMNS)}")
    companies = [
        Company(
            tuple(ticker_key(part) for part in row["tickers"].split("/") if part.strip()),
            row["name"].strip(),
            _several(row["informal_names"]),
        )
        for _, row in _rows(COMPANIES, folder)
        if row["name"].strip()
    ]
    companies += _sec_list(folder)
    history = [
        Renaming(
            ticker_key(row["former"]),
            ticker_key(row["current"]),
            _day(place, row["date"]),
            row["company"].strip(),
            row["source"].strip(),
        )
        for place, row in _rows(HISTORY, folder)
    ]
    brands: dict[str, str] = {}
    for _, row in _rows(BRANDS, folder):
        brands.setdefault(row["name"].strip(), ticker_key(row["ticker"]))
    ambiguous: dict[str, tuple[str, ...]] = {}
    for _, row in _rows(AMBIGUOUS, folder):
        ambiguous.setdefault(ticker_key(row["token"]), _several(row["meanings"]))
    return KnownCompanies(tuple(companies), tuple(history), brands, ambiguous)


def _rows(name: str, folder: Path | None) -> Iterator[tuple[str, dict[str, str]]]:
    """The rows of the user's file, then those of ours, each with its place."""
    texts = []
    if folder is not None and (folder / name).is_file():
        texts.append((str(folder / name), (folder / name).read_text(encoding="utf-8-sig")))
    shipped = files("apportion.retrieval.resolver").joinpath("data", name)
    texts.append((name, shipped.read_text(encoding="utf-8")))
    for source, text in texts:
        reader = csv.DictReader(text.splitlines())
        missing = [column for column in COLUMNS[name] if column not in (reader.fieldnames or ())]
        if missing:
            raise ValueError(f"{source}: no column {missing[0]!r}; columns: {', '.join(COLUMNS[name])}")
        for row in reader:
            yield (
                f"{source}, line {reader.line_num}",
                {column: row[column] or "" for column in COLUMNS[name]},
            )


def _sec_list(folder: Path | None) -> list[Company]:
    """SEC's list of tickers and titles, where the user has put it into the folder."""
    if folder is None or not (folder / SEC_LIST).is_file():
        return []
    try:
        listed = json.loads((folder / SEC_LIST).read_bytes())
        tickers: dict[tuple[int, str], list[str]] = {}
        for row in listed.values() if isinstance(listed, dict) else listed:
            tickers.setdefault((int(row["cik_str"]), str(row["title"])), []).append(
                ticker_key(str(row["ticker"]))
            )
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"{folder / SEC_LIST}: not SEC's list (cik_str, ticker, title): {error}; download it again"
        ) from error
    return [Company(tuple(dict.fromkeys(found)), title) for (_, title), found in tickers.items()]


def _several(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(";") if part.strip())


def _day(place: str, text: str) -> date:
    try:
        return date.fromisoformat(text.strip())
    except ValueError:
        raise ValueError(f"{place}: date {text!r} is no day; write it as 2022-06-09") from None

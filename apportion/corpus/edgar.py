"""EDGAR's lists: which filings a day brought, which filer a ticker is."""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date

from apportion.corpus.metadata import ACCESSION, Facts, any_date
from apportion.tickers import ticker_key

BATCH = re.compile(r"edgar:(\d{4}-\d{2}-\d{2})")
MASTER_LINE = re.compile(r"^(\d{1,10})\|([^|]*)\|([^|]*)\|(\d{4}-?\d{2}-?\d{2})\|(\S+)\s*$", re.MULTILINE)
FORMS = ("10-K",)


class EdgarError(ValueError):
    """EDGAR's answer can't be used; the message says what came and what to do."""


@dataclass(frozen=True)
class IndexEntry:
    """A filing of a daily index. ``path`` is relative to ``Archives/``."""

    cik: str
    company: str
    form: str
    filed_at: date
    path: str

    @property
    def accession(self) -> str:
        """The accession number."""
        found = ACCESSION.search(self.path)
        if found is None:
            raise EdgarError(f"no accession number in {self.path!r} of the daily index")
        return found[1]

    @property
    def facts(self) -> Facts:
        """What the index says of the filing."""
        return Facts(
            company=self.company or None,
            cik=self.cik,
            form=self.form,
            filed_at=self.filed_at,
            accession=self.accession,
        )


def batch_of(day: date) -> str:
    """The filing batch of a day."""
    return f"edgar:{day.isoformat()}"


def day_of(batch: str) -> date | None:
    """The day that a filing batch is, or None where it isn't one."""
    found = BATCH.fullmatch(batch)
    return None if found is None else date.fromisoformat(found[1])


def index_folder(day: date) -> str:
    """Where a day's index lies, relative to ``Archives/``."""
    return f"edgar/daily-index/{day.year}/QTR{(day.month - 1) // 3 + 1}"


def parse_index(text: str) -> list[IndexEntry]:
    """The filings of a ``master.idx``, each once, whatever number of filers it is listed under.

    Raises:
        EdgarError: it is no index.
    """
    if "CIK|" not in text:
        raise EdgarError(f"the daily index is none: it begins {' '.join(text.split())[:80]!r}")
    found: dict[str, IndexEntry] = {}
    for cik, company, form, filed, path in MASTER_LINE.findall(text):
        day = any_date(filed)
        if day is None or ACCESSION.search(path) is None or ".." in path:
            continue
        entry = IndexEntry(cik.zfill(10), company.strip(), form.strip(), day, path)
        found.setdefault(entry.accession, entry)
    return sorted(found.values(), key=lambda entry: entry.accession)


def select(entries: Iterable[IndexEntry], forms: Sequence[str], ciks: Sequence[str]) -> list[IndexEntry]:
    """The filings of some forms, amendments included, and filers; no filers stand for all."""
    wanted = {form.upper() for form in forms}
    return [
        entry
        for entry in entries
        if entry.form.upper().removesuffix("/A") in wanted | {form.removesuffix("/A") for form in wanted}
        and (not ciks or entry.cik in ciks)
    ]


def parse_tickers(text: str) -> dict[str, str]:
    """CIK by ticker, from ``company_tickers.json``; several tickers may be one filer.

    Raises:
        EdgarError: it isn't that file.
    """
    try:
        rows = json.loads(text)
        return {ticker_key(row["ticker"]): str(row["cik_str"]).zfill(10) for row in rows.values()}
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise EdgarError(
            "the list of tickers can't be read; try again later or name filers by CIK"
        ) from error


def ciks_of(names: Iterable[str], tickers: Mapping[str, str]) -> list[str]:
    """The filers that tickers or CIKs name, each once.

    Raises:
        EdgarError: a ticker is unknown; the filer may still be named by its CIK.
    """
    found: list[str] = []
    for name in names:
        if name.strip().isdigit() and len(name.strip()) <= 10:
            found.append(name.strip().zfill(10))
            continue
        key = ticker_key(name)
        if key not in tickers:
            near = difflib.get_close_matches(key, tickers, n=1)
            hint = f"did you mean {near[0]}? " if near else ""
            raise EdgarError(
                f"no filer has the ticker {name!r} now; {hint}A filer whose ticker is gone has its CIK"
            )
        found.append(tickers[key])
    return list(dict.fromkeys(found))

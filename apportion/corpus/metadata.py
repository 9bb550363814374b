"""What a document says of itself: filer, form, period; from inline-XBRL facts, an EDGAR header, or its cover page."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import date, datetime
from pathlib import Path
from typing import Any

from apportion.corpus.financebench import DOCUMENTS_FILE, FORMS, find_file
from apportion.corpus.records import safe_name

ACCESSION = re.compile(r"(?<!\d)(\d{10}-\d{2}-\d{6})(?!\d)")
MONTHS = ("january|february|march|april|may|june|july|august|september|october|november|december").split("|")
DAY = rf"({'|'.join(MONTHS)})\s+(\d{{1,2}})\s*,?\s+(\d{{4}})"
COVER_FORM = re.compile(r"\bform\s+(10-?K|10-?Q|8-?K|20-?F|40-?F|6-?K)(?:\s*(/\s*A)\b)?", re.IGNORECASE)
COVER_PERIOD = re.compile(
    rf"(?:fiscal\s+year|quarterly\s+period|transition\s+period|year|quarter|date\s+of\s+report)[^\n]{{0,60}}?\s*"
    rf"(?:ended|ending|\))?\s*:?\s*{DAY}",
    re.IGNORECASE,
)
COVER_NAME = re.compile(r"\n([^\n]+)\n[\s_–—-]*\(?\s*exact\s+name\s+of", re.IGNORECASE)
AMENDMENT = re.compile(r"\bamendment\s+no\.?\s*\d", re.IGNORECASE)


@dataclass
class Facts:
    """Facts of a document; None where nothing says. ``fiscal_year_end`` is month and day as ``MMDD``."""

    company: str | None = None
    ticker: str | None = None
    cik: str | None = None
    form: str | None = None
    fiscal_year: int | None = None
    period_end: date | None = None
    filed_at: date | None = None
    accession: str | None = None
    fiscal_year_end: str | None = None

    def fill(self, other: Facts) -> None:
        """Take from another what this one lacks."""
        for each in fields(self):
            if getattr(self, each.name) is None:
                setattr(self, each.name, getattr(other, each.name))

    def settle(self) -> None:
        """Derive the fiscal year where nothing states it."""
        if self.fiscal_year is None and self.period_end is not None:
            self.fiscal_year = fiscal_year_of(self.period_end, self.form, self.fiscal_year_end)

    def as_json(self) -> dict[str, Any]:
        """The facts as JSON values, dates in ISO form."""
        return {
            each.name: value.isoformat() if isinstance(value, date) else value
            for each in fields(self)
            for value in (getattr(self, each.name),)
        }

    @classmethod
    def from_json(cls, values: Mapping[str, Any]) -> Facts:
        """The facts from what `as_json` gave."""
        facts = cls(**{each.name: values.get(each.name) for each in fields(cls)})
        for name in ("period_end", "filed_at"):
            value = getattr(facts, name)
            if isinstance(value, str):
                setattr(facts, name, date.fromisoformat(value))
        return facts


def fiscal_year_of(period_end: date, form: str | None, fiscal_year_end: str | None = None) -> int | None:
    """The fiscal year of a period: that in which it ends, or the year before where that year ends in January.

    Years of 52 or 53 weeks may end in the first days of a month they don't belong to; an end up to the 7th of January
    is December's. An interim period's year is known only where the end of the fiscal year is.
    """
    if form is not None and not form.upper().startswith(("10-K", "20-F", "40-F")):
        if not form.upper().startswith("10-Q") or fiscal_year_end is None:
            return None
        year_end = (int(fiscal_year_end[:2]), int(fiscal_year_end[2:]))
        ahead = (period_end.month, period_end.day) > year_end
        ends_in = period_end.year + int(ahead)
        return ends_in - int(year_end[0] == 1)
    return period_end.year - int(period_end.month == 1)


def facts_of_cover(text: str) -> Facts:
    """Facts from the text of a cover page."""
    facts = Facts()
    form = COVER_FORM.search(text)
    if form is not None:
        name = form[1].upper()
        facts.form = name if "-" in name else f"{name[:-1]}-{name[-1]}"
        if form[2] or AMENDMENT.search(text[:4000]):
            facts.form += "/A"
    period = COVER_PERIOD.search(text)
    if period is not None:
        facts.period_end = _day(period[1], period[2], period[3])
    company = COVER_NAME.search(text)
    if company is not None and re.search(r"[A-Za-z]{2}", company[1]) and len(company[1]) <= 120:
        facts.company = " ".join(company[1].split())
    return facts


def facts_of_dei(values: Mapping[str, str]) -> Facts:
    """Facts from inline-XBRL's ``dei`` elements, by their local names."""
    given = {name: " ".join(value.split()) for name, value in values.items() if value.strip()}
    facts = Facts(company=given.get("EntityRegistrantName"))
    ticker = given.get("TradingSymbol", "").upper().replace(".", "-")
    facts.ticker = ticker if re.fullmatch(r"[A-Z0-9-]{1,10}", ticker) else None
    cik = given.get("EntityCentralIndexKey", "")
    facts.cik = cik.zfill(10) if cik.isdigit() and len(cik) <= 10 else None
    form = given.get("DocumentType")
    if form is not None:
        amended = given.get("AmendmentFlag", "").lower() == "true"
        facts.form = form if not amended or form.endswith("/A") else f"{form}/A"
    year = given.get("DocumentFiscalYearFocus", "")
    facts.fiscal_year = int(year) if re.fullmatch(r"(?:19|20|21)\d\d", year) else None
    facts.period_end = any_date(given.get("DocumentPeriodEndDate", ""))
    end = re.fullmatch(r"--(\d\d)-?(\d\d)", given.get("CurrentFiscalYearEndDate", ""))
    facts.fiscal_year_end = end[1] + end[2] if end else None
    return facts


def any_date(text: str) -> date | None:
    """A date written ``2024-09-28``, ``20240928``, ``09/28/2024`` or in English words; None for anything else."""
    flat = " ".join(text.split())
    words = re.search(DAY, flat, re.IGNORECASE)
    if words is not None:
        return _day(words[1], words[2], words[3])
    for layout in ("%Y-%m-%d", "%Y%m%d", "%m/%d/%Y"):
        try:
            return datetime.strptime(flat, layout).date()  # noqa: DTZ007 - a calendar day has no zone
        except ValueError:
            continue
    return None


def _day(month: str, day: str, year: str) -> date | None:
    try:
        return date(int(year), MONTHS.index(month.lower()) + 1, int(day))
    except ValueError:
        return None


def document_list(path: Path) -> dict[str, Facts]:
    """Facts by ``safe_name`` of the document from FinanceBench's document list beside a file or a level above it."""
    folder = path if path.is_dir() else path.parent
    listed = next(
        (
            found
            for place in (folder, folder.parent)
            if (found := find_file(place, DOCUMENTS_FILE)) is not None
        ),
        None,
    )
    if listed is None:
        return {}
    known: dict[str, Facts] = {}
    for line in listed.read_bytes().splitlines():
        try:
            row = json.loads(line)
        except ValueError:
            continue
        name = row.get("doc_name") if isinstance(row, dict) else None
        if not isinstance(name, str) or not name.strip():
            continue
        form, period = row.get("doc_type"), row.get("doc_period")
        company = row.get("company")
        known.setdefault(
            safe_name(name),
            Facts(
                company=company if isinstance(company, str) else None,
                form=FORMS.get(form.lower(), form) if isinstance(form, str) else None,
                fiscal_year=period if isinstance(period, int) and 1900 <= period <= 2200 else None,
            ),
        )
    return known

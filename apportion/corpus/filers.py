"""Who a filer is: its names over time, tickers and fiscal year end, as EDGAR's submissions tell them."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import date
from typing import Any

from apportion.corpus.metadata import Facts, any_date
from apportion.tickers import ticker_key

YEAR_END = re.compile(r"(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])")


@dataclass(frozen=True)
class FormerName:
    """A name and the days on which the filer bore it."""

    name: str
    since: date
    until: date


@dataclass(frozen=True)
class Filer:
    """A filer as of now. ``tickers`` may be several, the main one first; ``fiscal_year_end`` is ``MMDD``."""

    cik: str
    name: str | None
    tickers: tuple[str, ...]
    former_names: tuple[FormerName, ...]
    fiscal_year_end: str | None

    def name_on(self, day: date | None) -> str | None:
        """The name that the filer bore on a day; None where that isn't known."""
        if day is None or all(former.until < day for former in self.former_names):
            return self.name
        for former in self.former_names:
            if former.since <= day <= former.until:
                return former.name
        return None

    @property
    def facts(self) -> Facts:
        """What stands for a filing that doesn't say it itself."""
        return Facts(
            company=self.name,
            ticker=self.tickers[0] if self.tickers else None,
            fiscal_year_end=self.fiscal_year_end,
        )


def submissions_path(cik: str) -> str:
    """Where a filer's submissions lie, relative to the site."""
    return f"submissions/CIK{cik.zfill(10)}.json"


def parse_filer(content: bytes, cik: str) -> Filer | None:
    """A filer from its submissions; None where they aren't that filer's, or aren't readable. A field that is no such
    thing counts as absent."""
    try:
        told = json.loads(content)
    except ValueError:
        return None
    if not isinstance(told, dict) or _cik(told.get("cik")) != cik.zfill(10):
        return None
    listed = told.get("tickers")
    tickers = (
        [ticker_key(each) for each in listed if isinstance(each, str)] if isinstance(listed, list) else []
    )
    former = told.get("formerNames")
    end = told.get("fiscalYearEnd")
    return Filer(
        cik.zfill(10),
        _text(told.get("name")),
        tuple(dict.fromkeys(each for each in tickers if re.fullmatch(r"[A-Z0-9-]{1,10}", each))),
        tuple(name for each in former if (name := _former(each)) is not None)
        if isinstance(former, list)
        else (),
        end if isinstance(end, str) and YEAR_END.fullmatch(end) else None,
    )


def _former(told: Any) -> FormerName | None:
    if not isinstance(told, dict):
        return None
    name, since, until = _text(told.get("name")), _day(told.get("from")), _day(told.get("to"))
    return None if name is None or since is None or until is None else FormerName(name, since, until)


def _text(value: Any) -> str | None:
    flat = " ".join(value.split()) if isinstance(value, str) else ""
    return flat[:200] or None


def _day(value: Any) -> date | None:
    return any_date(value[:10]) if isinstance(value, str) else None


def _cik(value: Any) -> str | None:
    text = str(value)
    return text.zfill(10) if text.isascii() and text.isdigit() and len(text) <= 10 else None

"""The periods, days and forms that a question names."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

MONTHS = "january february march april may june july august september october november december".split()
_MONTH = "|".join(
    f"{name}|{name[:3]}\\.?|sept\\.?" if name == "september" else f"{name}|{name[:3]}\\.?" for name in MONTHS
)
_YEAR = r"(?:19|20)\d\d"
_SHORT = r"['’]?\d\d(?!\d)"
_ORDINALS = {"first": 1, "second": 2, "third": 3, "fourth": 4, "1st": 1, "2nd": 2, "3rd": 3, "4th": 4}
_FISCAL = r"(?:fy|fiscal\s+years?|fiscal|calendar\s+year|year)"

_DAYS = (
    re.compile(
        rf"\b(?P<month>{_MONTH})\s+(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s*,?\s+(?P<year>{_YEAR})\b", re.I
    ),
    re.compile(
        rf"\b(?P<day>\d{{1,2}})(?:st|nd|rd|th)?\s+(?:of\s+)?(?P<month>{_MONTH})\s*,?\s+(?P<year>{_YEAR})\b",
        re.I,
    ),
    re.compile(rf"\b(?P<year>{_YEAR})-(?P<number>\d\d)-(?P<day>\d\d)\b"),
    re.compile(rf"\b(?P<number>\d{{1,2}})/(?P<day>\d{{1,2}})/(?P<year>{_YEAR})\b"),
)
_QUARTERS = (
    # FY2023Q1, 2021 Q1, FY22 Q3
    re.compile(rf"\b(?:fy\s*)?(?P<year>{_YEAR})\s*-?,?\s*(?P<part>q[1-4]|h[12])\b", re.I),
    re.compile(rf"\bfy\s*(?P<year>{_SHORT})\s*-?\s*(?P<part>q[1-4]|h[12])\b", re.I),
    # Q2 of FY2023, Q2'2023, Q22023, H1 FY2023, Q3 FY22
    re.compile(
        rf"\b(?P<part>q[1-4]|h[12])\s*(?:of|in|for|,|-|/)?\s*(?:the\s+)?(?:{_FISCAL}\s*)?['’]?\s*(?P<year>{_YEAR})\b",
        re.I,
    ),
    re.compile(rf"\b(?P<part>q[1-4]|h[12])\s*(?:of\s+)?(?:fy\s*)?(?P<year>{_SHORT})\b", re.I),
    # 2Q23, 1H2022
    re.compile(rf"\b(?P<part>[1-4]q|[12]h)\s*(?:fy\s*)?(?P<year>{_YEAR}|{_SHORT})\b", re.I),
    # second fiscal quarter of 2023, third quarter FY2022
    re.compile(
        rf"\b(?P<part>{'|'.join(_ORDINALS)})\s+(?:fiscal\s+)?quarter\s*(?:of|in|for|,)?\s*(?:the\s+)?(?:{_FISCAL}\s*)?"
        rf"(?P<year>{_YEAR})\b",
        re.I,
    ),
    re.compile(
        rf"\b(?:{_FISCAL}\s*)?(?P<year>{_YEAR})(?:'s|’s)?\s+(?P<part>{'|'.join(_ORDINALS)})\s+(?:fiscal\s+)?quarter\b",
        re.I,
    ),
    # nine months of 2023, first half of fiscal 2022
    re.compile(
        rf"\b(?P<part>nine\s+months|first\s+half|six\s+months)\s+(?:of\s+|in\s+|ended\s+)?(?:{_FISCAL}\s*)?(?P<year>{_YEAR})\b",
        re.I,
    ),
)
_MARKED_YEARS = (
    re.compile(rf"\bfy\s*-?\s*(?P<year>{_YEAR}|{_SHORT})(?!\d)", re.I),
    re.compile(rf"\b(?:fiscal\s+years?|fiscal|year\s+end(?:ed|ing)?)\s+(?P<year>{_YEAR})\b", re.I),
    re.compile(rf"\b(?P<year>{_YEAR})\s+(?:fiscal|10-?k|annual\s+report)\b", re.I),
)
_PLAIN_YEAR = re.compile(rf"(?<![\d.,$/-])(?P<year>{_YEAR})(?![\d%]|[.,]\d)")
_ANCHOR = re.compile(r"\bas\s+(?:of|at)(?:\s+the)?(?:\s+end\s+of)?\s*$", re.I)
_FORWARD = re.compile(
    r"\b(?:forecast\w*|expect\w*|guid(?:ance|ed|ing)|outlook|project(?:s|ed|ing|ions?)|anticipat\w*|plan(?:s|ned)?\s+(?:to|for))\b",
    re.I,
)
_FORMS = (
    ("10-K/A", re.compile(r"\b10-?k\s*/\s*a\b|\bamend(?:ed|ment)\b[^.?]*\b10-?k\b", re.I)),
    ("10-K", re.compile(r"\b10-?ks?\b|\bannual\s+report\b", re.I)),
    ("10-Q", re.compile(r"\b10-?qs?\b|\bquarterly\s+report\b", re.I)),
    ("8-K", re.compile(r"\b8-?ks?\b|\bcurrent\s+report\b", re.I)),
    ("earnings release", re.compile(r"\bearnings\s+(?:press\s+)?release\b", re.I)),
    ("20-F", re.compile(r"\b20-?f\b", re.I)),
)


@dataclass(frozen=True, order=True)
class Period:
    """A fiscal year, or a quarter of it. ``marked``: written as a fiscal year, not as a bare number."""

    year: int
    quarter: int | None = None
    marked: bool = False
    anchored: bool = False


@dataclass(frozen=True)
class Timing:
    """What a question says of time and form. ``forward``: it asks what was expected."""

    periods: tuple[Period, ...] = ()
    days: tuple[date, ...] = ()
    forms: tuple[str, ...] = ()
    forward: bool = False

    @property
    def years(self) -> list[int]:
        """The fiscal years named, ascending."""
        return sorted({period.year for period in self.periods} | {day.year for day in self.days})


def timing_of(question: str) -> Timing:
    """Read a question's periods, days and forms."""
    text = question
    forms = []
    for form, pattern in _FORMS:
        if pattern.search(text):
            forms.append(form)
    if "10-K/A" in forms:
        forms = [form for form in forms if form != "10-K"]
    days: list[date] = []
    for pattern in _DAYS:
        for match in pattern.finditer(text):
            found = _day(match)
            if found is not None and found not in days:
                days.append(found)
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    periods: list[Period] = []
    for pattern in _QUARTERS:
        periods += [
            Period(_full(match["year"]), _part(match["part"]), True, _anchored(text, match.start()))
            for match in pattern.finditer(text)
        ]
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    for pattern in _MARKED_YEARS:
        periods += [
            Period(_full(match["year"]), None, True, _anchored(text, match.start()))
            for match in pattern.finditer(text)
        ]
        text = pattern.sub(lambda match: " " * len(match[0]), text)
    periods += [
        Period(int(match["year"]), None, False, _anchored(text, match.start()))
        for match in _PLAIN_YEAR.finditer(text)
    ]
    forward = _FORWARD.search(question) is not None
    return Timing(tuple(dict.fromkeys(periods)), tuple(days), tuple(forms), forward)


def _anchored(text: str, start: int) -> bool:
    return _ANCHOR.search(text[:start].rstrip() + " ") is not None


def _full(year: str) -> int:
    digits = year.strip("'’")
    return int(digits) if len(digits) == 4 else 2000 + int(digits)


def _part(part: str) -> int | None:
    """The last quarter of a part of a year, whose report covers it; a second half is in the year's."""
    flat = " ".join(part.lower().split())
    if flat in _ORDINALS:
        return _ORDINALS[flat]
    if flat in ("nine months",):
        return 3
    if flat in ("first half", "six months", "h1", "1h"):
        return 2
    if flat in ("h2", "2h"):
        return 4
    return int(flat.strip("qQ"))


def _day(match: re.Match[str]) -> date | None:
    groups = match.groupdict()
    month = (
        int(groups["number"])
        if groups.get("number")
        else next(i for i, name in enumerate(MONTHS, 1) if name.startswith(groups["month"].lower()[:3]))
    )
    try:
        return date(int(groups["year"]), month, int(groups["day"]))
    except ValueError:
        return None

"""A page of a filing by itself: its titles and headings, the lines that statements print, its years, units and figures.

:mod:`apportion.corpus.page_kinds` puts the pages of a filing together.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from apportion.corpus.statement_rows import page_lines, rows_of, squash

INCOME, BALANCE, CASH_FLOW = "income", "balance", "cash_flow"
EQUITY, COMPREHENSIVE = "equity", "comprehensive_income"
STATEMENTS = (INCOME, BALANCE, CASH_FLOW, EQUITY, COMPREHENSIVE)
"""Kinds of primary statements; the first three are named as in :class:`apportion.line_items.LineItem`."""

TOP = 14
"""Lines at the head of a page among which its titles stand."""

HEAD = 40
"""Lines at the head of a page that may hold the heads of its columns and its units."""

LONGEST_TITLE = 130
LISTED = 12
"""Lines that end in a page number, from which a page is a list of contents or an index."""

MENTIONS_SEGMENTS = 4

# Titles are matched without their spaces, which PDFs lose or put within words.
_OF = r"statements?of(?:the|consolidated|condensed|interim|net)*"
_TITLES: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        (CASH_FLOW, rf"{_OF}cashflow|cashflows?statements?"),
        (BALANCE, rf"balancesheet|{_OF}financial(?:position|condition)|{_OF}assetsandliabilities"),
        (INCOME, rf"{_OF}(?:income|operations|earnings|profit|loss)|(?:^|consolidated)(?:income|p&l)statements?"),
        (COMPREHENSIVE, rf"{_OF}(?:other)?comprehensive|comprehensiveincomestatements?"),
        (EQUITY, rf"{_OF}(?:changesin)?(?:total)?(?:share(?:holders|owners)|stockholders|owners|common)?"
                 r"(?:equity|investment|deficit|capital)|(?:share|stock)holdersequitystatements?"),
    )
)  # fmt: skip
_ELSEWHERE = "notesto"
# Statements that are not the company's own, whole ones.
_PARTIAL = re.compile(
    r"parent\s*company|registrant|guarantor|pro\s*forma|supplemental|schedule\s+[iv]+\b|consolidating|unconsolidated"
    r"|non-?gaap|reconciliation|selected|five[\s-]year|segment|subsidiary\s+issuer|common[\s-]size"
)
_SECTIONS: tuple[tuple[str, re.Pattern[str]], ...] = tuple(
    (kind, re.compile(pattern))
    for kind, pattern in (
        ("discussion", r"management\s*[’'´`]?\s*s\s*(?:financial\s*)?discussion|results\s*of\s*operations$"
                       r"|liquidity\s*and\s*capital\s*resources$|financial\s*review$|operating\s*and\s*financial\s*review"),
        ("risk_factors", r"risk\s*factors"),
        ("notes", r"notes?\s*to\s*(?:the\s*)?(?:\w+\s*){0,3}financial\s*statements"
                  r"|notes\s*to\s*(?:\w+\s*)?consolidated"),
        ("legal", r"legal\s*proceedings"),
        ("properties", r"(?:description\s*of\s*)?propert(?:y|ies)$"),
        ("market", r"market\s*for\s*(?:the\s*)?(?:\w+[’'´`.,]*\s*){0,4}common|unregistered\s*sales"),
        ("business", r"(?:description\s*of\s*)?(?:the\s*)?business(?:\s*overview)?$"),
        ("controls", r"(?:disclosure\s*)?controls\s*and\s*procedures"),
        ("governance", r"directors,?\s*executive\s*officers|executive\s*compensation$"),
        ("auditor", r"reports?\s*of\s*independent\s*(?:registered|auditor)"),
        ("exhibits", r"exhibits?(?:\s*and|\s*,|\s*index|\s*financial|$)|signatures?$"),
    )
)  # fmt: skip
SECTIONS = tuple(kind for kind, _ in _SECTIONS)
"""Kinds of sections that a heading begins."""

_ITEM = re.compile(r"^(?:part\s*[iv]+\s*[.,—–-]*\s*)?(?:item\s*\d{1,2}\s*[abc]?\s*[.:—–-]*\s*|\(continued\))")
_ORNAMENT = " .:—–-|"
_SEGMENT = re.compile(r"\b(?:segments?|geographic(?:al)?)\b")
_NON_GAAP = re.compile(
    r"non-?\s?gaap|^adjusted|reconciliations?\s+of\s+(?:\w+\s+){0,6}(?:adjusted|measure|ebitda|free\s+cash)"
    r"|constant\s+currency|organic|components\s+of\s+.*growth"
)
_COVER = re.compile(r"commission\s*file\s*n|exact\s*name\s*of\s*registrant|washington,?\s*d\.?c\.?\s*20549")
_LEADER = re.compile(r"(?:\.{4,}|\s)\s*(?:F-)?\d{1,3}$")
_UNITS = re.compile(r"\b(thousands|millions|billions)\b", re.IGNORECASE)
_YEAR = re.compile(r"(?<![\d,.$-])(?:19[89]\d|20[0-4]\d)(?![\d%]|,\d|\.\d)")
_NUMBER = re.compile(r"(?<![A-Za-z])[$(€£-]*\d[\d,.]*[)%]*(?![A-Za-z])")
_WORD = re.compile(r"[A-Za-z]{2,}")


@dataclass(frozen=True, slots=True)
class PageReading:
    """What a page says of itself.

    ``titles`` of statements among its opening lines, each with how surely, in [0, 1]. ``sections`` are headings: how
    far down the page as a share, the kind, and whether an item's number stands before it. ``rows`` are the line items
    its tables print (:func:`apportion.corpus.statement_rows.rows_of`). ``years`` may head its columns, latest first.
    ``figures`` is the share of its words that are numbers. ``partial`` is a statement of a parent, a segment or the
    like; ``listing`` a list with page numbers, ``contents`` one that names the parts of a report.
    """

    titles: Mapping[str, float]
    sections: tuple[tuple[float, str, bool], ...]
    rows: Mapping[str, float]
    years: tuple[int, ...]
    units: str | None
    figures: float
    cover: bool
    contents: bool
    segment: bool
    non_gaap: bool
    partial: bool


def read_page(text: str) -> PageReading:
    """Read one page's text."""
    lines = page_lines(text)
    top = [line for line in lines[:TOP] if len(line) <= LONGEST_TITLE]
    titles = _titles(lines)
    sections = tuple(_sections(lines))
    words, numbers = len(_WORD.findall(text)), len(_NUMBER.findall(text))
    head = [line for line in lines[:HEAD] if len(line) < LONGEST_TITLE] if numbers > 8 else []
    years = {int(year) for line in head for year in _YEAR.findall(line)}
    units = _UNITS.search("\n".join(lines[:HEAD]))
    lowered = [line.lower() for line in top]
    return PageReading(
        titles,
        sections,
        rows_of(lines),
        tuple(sorted(years, reverse=True)[:6]),
        units[1].lower() if units else None,
        numbers / max(words + numbers, 1),
        bool(_COVER.search("\n".join(lines[:HEAD]).lower())),
        _is_contents(lines, {kind for _, kind, _ in sections} | set(titles)),
        any(_SEGMENT.search(line) for line in lowered)
        or len(_SEGMENT.findall(text.lower())) >= MENTIONS_SEGMENTS,
        any(_NON_GAAP.search(line) for line in lowered),
        any(_PARTIAL.search(line) for line in lowered),
    )


def _titles(lines: list[str]) -> dict[str, float]:
    """Titles of statements among the opening lines: sure where a title is all that its line says."""
    found: dict[str, float] = {}
    for place, line in enumerate(lines[:TOP]):
        if len(line) > LONGEST_TITLE:
            continue
        plain = squash(line)
        if _ELSEWHERE in plain:
            continue
        for kind, pattern in _TITLES:
            match = None if kind in found else pattern.search(plain)
            if match is not None:
                alone = match.start() < 70 and len(plain) - match.end() < 50 and not line.endswith(".")
                found[kind] = (1.0 if alone else 0.3) * (1.0 if place < 8 else 0.7)
    return found


def _sections(lines: list[str]) -> list[tuple[float, str, bool]]:
    found: list[tuple[float, str, bool]] = []
    for place, line in enumerate(lines):
        if len(line) > LONGEST_TITLE:
            continue
        lowered = line.lower()
        if place >= TOP and not lowered.startswith("item"):
            continue
        plain = _ITEM.sub("", lowered).strip(_ORNAMENT)
        numbered = lowered.startswith(("item", "part")) and plain != lowered.strip(_ORNAMENT)
        for kind, pattern in _SECTIONS:
            if len(plain) < 110 and pattern.match(plain):
                found.append((place / len(lines), kind, numbered))
                break
    return found


def _is_contents(lines: list[str], named: set[str]) -> bool:
    leaders = sum(
        1 for line in lines if len(line) <= LONGEST_TITLE and not line[0].isdigit() and _LEADER.search(line)
    )
    items = sum(1 for line in lines if line.lower().startswith("item"))
    return (leaders >= LISTED and len(named) >= 3) or items >= 8

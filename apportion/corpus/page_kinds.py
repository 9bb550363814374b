"""What each page of a filing is, told from headings, layout, numeric density and position.

Pages are read one by one (:mod:`apportion.corpus.page_reading`), then the filing in its order: a section goes on until
another begins, the company's own primary statements are the run of pages that stand together, and a statement or a
table that runs over its page takes the next one with it. A wrong kind does little harm: it only moves a page in a
ranking.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from apportion.corpus.page_reading import (
    BALANCE,
    CASH_FLOW,
    COMPREHENSIVE,
    EQUITY,
    INCOME,
    SECTIONS,
    STATEMENTS,
    PageReading,
    read_page,
)

SEGMENTS, NON_GAAP, OTHER = "segments", "non_gaap", "other"
PAGE_KINDS = ("cover", "contents", "index", *STATEMENTS, *SECTIONS, SEGMENTS, NON_GAAP, OTHER)
"""Every kind; ``segments`` are tables by segment or region, ``non_gaap`` reconciliations to adjusted figures."""

RUN = 9
"""Pages over which the primary statements of a filing stand together at most."""

SURE_INSIDE, SURE_OUTSIDE = 0.5, 0.75
"""Strength from which a page is a statement, within the run of primary ones and elsewhere."""

GOES_ON = 0.12
"""Strength from which a page goes on with the statement before it."""

TELLING: dict[str, dict[str, float]] = {
    BALANCE: {
        "total_assets": 1.0, "current_assets": 0.7, "current_liabilities": 0.7, "equity": 0.6, "cash": 0.5, "ppe": 0.5,
        "accounts_payable": 0.5, "retained_earnings": 0.5, "accounts_receivable": 0.4, "long_term_debt": 0.4,
        "total_liabilities": 0.4, "goodwill": 0.3, "inventory": 0.3,
    },
    INCOME: {
        "pretax_income": 0.7, "income_tax": 0.7, "net_income": 0.7, "diluted_eps": 0.7, "revenue": 0.6,
        "cost_of_revenue": 0.6, "operating_income": 0.6, "interest_expense": 0.4, "sga": 0.3, "operating_expenses": 0.3,
        "research_and_development": 0.3,
    },
    CASH_FLOW: {
        "operating_cash_flow": 1.2, "investing_cash_flow": 1.2, "financing_cash_flow": 1.2, "capital_expenditure": 0.7,
        "depreciation_amortization": 0.6, "stock_compensation": 0.4, "dividends_paid": 0.3, "share_repurchases": 0.3,
        "net_income": 0.2,
    },
}  # fmt: skip
"""Line items that tell a statement from tables that repeat some of its figures, with their weights."""

WHOLE = {BALANCE: 4.5, INCOME: 4.0, CASH_FLOW: 4.5}
"""Weight of telling lines from which a page is a whole statement."""

DENSE = 0.2
"""Share of figures among a page's words from which it is a table."""

BARE = ("business", "properties")
"""Headings that count only behind an item's number: notes have paragraphs of the same name."""

BEFORE = ("legal", "market", "risk_factors", "discussion")
"""Sections that stand before an annual report's statements."""


@dataclass(frozen=True, slots=True)
class PageProfile:
    """What one page is.

    ``fiscal_years`` may head its columns, latest first; empty where it has no table. ``units`` is what its figures are
    in (``thousands``, ``millions``, ``billions``), None where it doesn't say. ``figures`` is the share of numbers among
    its words. ``strength``, in [0, 1], says how surely a statement is the company's own primary one; 0 for others.
    """

    kind: str
    fiscal_years: tuple[int, ...]
    units: str | None
    figures: float
    strength: float


def page_profiles(texts: Iterable[str]) -> list[PageProfile]:
    """The profile of each page of one filing, given in order. Pages that lack between others only cost context."""
    return profiles_of([read_page(text) for text in texts])


def page_columns(profiles: Sequence[PageProfile]) -> dict[str, list[Any]]:
    """The columns of `pages` that profiles fill."""
    return {
        "page_kind": [profile.kind for profile in profiles],
        "fiscal_years": [list(profile.fiscal_years) for profile in profiles],
        "units": [profile.units for profile in profiles],
    }


def profiles_of(pages: Sequence[PageReading]) -> list[PageProfile]:
    """As :func:`page_profiles`, from pages that were read one by one."""
    strengths = [statement_strengths(page) for page in pages]
    start = _primary_run(strengths)
    annual = any(kind == "auditor" for page in pages for _, kind, _ in page.sections)
    sections = _sections(pages, start)
    kinds: list[str] = []
    sure: list[float] = []
    for number, page in enumerate(pages):
        inside = start is not None and start <= number < start + RUN
        strongest = max(strengths[number], key=lambda name: (strengths[number][name], name))
        strength = strengths[number][strongest]
        if page.contents and page.figures < 0.45:
            kinds.append("contents" if number < max(8, len(pages) // 12) else "index")
        elif strength >= (SURE_INSIDE if inside else SURE_OUTSIDE):
            kinds.append(strongest)
            sure.append(strength if inside else 0.5 * strength)
            continue
        elif inside and kinds and _goes_on(page, kinds[-1], strengths[number]):
            kinds.append(kinds[-1])
            sure.append(max(strengths[number][kinds[-1]], 0.5 * sure[-1]))
            continue
        elif number < 3 and page.cover:
            kinds.append("cover")
        else:
            kinds.append(_narrowed(page, sections[number], kinds[-1] if kinds else OTHER, annual=annual))
        sure.append(0.0)
    return [
        PageProfile(kind, page.years, page.units, page.figures, strength)
        for kind, page, strength in zip(_front(kinds, annual=annual), pages, sure, strict=True)
    ]


def statement_strengths(page: PageReading) -> dict[str, float]:
    """How surely a page is each primary statement, in [0, 1]: half its title, half its telling lines and figures."""
    strengths = {}
    for kind in STATEMENTS:
        title = page.titles.get(kind, 0.0)
        if kind in TELLING:
            lines = sum(weight * page.rows.get(name, 0.0) for name, weight in TELLING[kind].items())
            body = min(1.0, lines / WHOLE[kind])
        else:
            # Columns of equity and comprehensive income go by too many names for a table of them.
            body = 0.6 if title == 1.0 else 0.0
        body *= min(1.0, page.figures / DENSE)
        whole = 0.5 * title * min(1.0, 2 * body) + 0.5 * body
        strengths[kind] = whole * (0.6 if page.partial else 1.0)
    return strengths


def _goes_on(page: PageReading, kind: str, strengths: dict[str, float]) -> bool:
    """Whether a page goes on with the statement of the page before: more of its lines, and no other title."""
    return (
        kind in TELLING
        and set(page.titles) <= {kind}
        and not page.sections
        and page.figures > DENSE
        and strengths[kind] >= GOES_ON
    )


def _primary_run(strengths: Sequence[dict[str, float]]) -> int | None:
    """Where the primary statements begin; None where a filing has none.

    Exhibits at the end may hold statements of subsidiaries: of windows nearly as good as the best the first counts.
    """
    totals = []
    for start in range(len(strengths)):
        window = strengths[start : start + RUN]
        whole = sum(max(one[kind] for one in window) for kind in TELLING)
        totals.append(
            whole + 0.25 * sum(max(one[kind] for one in window) for kind in (EQUITY, COMPREHENSIVE))
        )
    best = max(totals, default=0.0)
    if best < 1.2:
        return None
    first = next(start for start, total in enumerate(totals) if total >= 0.85 * best)
    run = range(first, min(first + RUN, len(strengths)))
    return next((start for start in run if max(strengths[start].values()) >= SURE_INSIDE), first)


def _sections(pages: Sequence[PageReading], start: int | None) -> list[str]:
    """The section that holds most of each page, ``other`` before the first."""
    # A quarter's statements stand at the front, with all else behind them.
    interim = start is not None and start < len(pages) // 5
    section = OTHER
    held: list[str] = []
    for number, page in enumerate(pages):
        if (
            start is not None
            and start <= number < start + RUN
            and number > 0
            and section not in ("notes", OTHER)
        ):
            section = "notes" if number > start else section
        ignored = BARE if interim or start is None or number <= start else (*BARE, *BEFORE)
        headings = [
            (place, kind) for place, kind, numbered in page.sections if numbered or kind not in ignored
        ]
        upper = [kind for place, kind in headings if place < 0.5]
        held.append(upper[-1] if upper else section)
        if headings and not page.contents:
            section = headings[-1][1]
    return held


def _narrowed(page: PageReading, section: str, before: str, *, annual: bool) -> str:
    """A section's page by what its table shows."""
    table = page.figures > DENSE
    if (
        table
        and page.non_gaap
        and section in ("notes", "discussion", OTHER)
        and not (section == "notes" and annual)
    ):
        return NON_GAAP
    # A release's reconciliations run over several pages, of which only the first has a title.
    if section == "notes" and not annual and before == NON_GAAP and not page.sections and page.figures > 0.3:
        return NON_GAAP
    return SEGMENTS if table and page.segment and section in ("notes", "discussion") else section


def _front(kinds: list[str], *, annual: bool) -> list[str]:
    """Kinds with the pages before the first named section told: a report's business, or a release's discussion."""
    unnamed = {"cover", "contents", OTHER, NON_GAAP, SEGMENTS}
    named = next((place for place, kind in enumerate(kinds) if kind not in unnamed), len(kinds))
    told = "business" if annual and kinds[named : named + 1] == ["risk_factors"] else "discussion"
    if annual and told == "discussion" and named < 8:
        return kinds
    return [told if kind == OTHER and place < named else kind for place, kind in enumerate(kinds)]

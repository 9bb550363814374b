"""What stays the same about a filer from year to year: its name, industry, habits of reporting and debt programme."""

from __future__ import annotations

import calendar
from dataclasses import dataclass
from datetime import date, timedelta

from apportion.corpus.synthetic.draws import Draw
from apportion.corpus.synthetic.industries import INDUSTRIES, Industry
from apportion.corpus.synthetic.names import central_index_key, stem_and_ticker

REVENUE_LABELS = (
    "Net sales",
    "Total revenues",
    "Revenue",
    "Net revenues",
    "Sales and other operating revenue",
)
COST_LABELS = (
    "Cost of sales",
    "Cost of goods sold",
    "Cost of revenue",
    "Cost of products and services delivered",
)
SELLING_LABELS = (
    "Selling, general and administrative expenses",
    "Selling, general and administrative",
    "Selling and administrative expenses",
    "Marketing, administration and research support",
)
CAPEX_LABELS = (
    "Capital expenditures",
    "Purchases of property, plant and equipment",
    "Additions to property and equipment",
    "Investment in plant and facilities",
)
PLANT_LABELS = ("Property, plant and equipment, net", "Property and equipment, net")
RECEIVABLE_LABELS = ("Accounts receivable, net", "Trade receivables, net", "Receivables, less allowances")
NET_LABELS = ("Net income", "Net earnings")
CFO_LABELS = (
    "Net cash provided by operating activities",
    "Net cash provided by (used in) operating activities",
    "Net cash from operating activities",
)
OWNERS = ("shareholders", "stockholders", "shareowners")
STATES = ("Delaware", "Ohio", "Minnesota", "Oregon", "Virginia", "Wisconsin")
# Places that don't exist, so that no address is anybody's.
TOWNS = (
    "Port Hallam",
    "Greyfield",
    "East Tarrow",
    "Millbridge Falls",
    "Northquay",
    "Cold Alder",
    "Sandmere",
    "Lower Vane",
)
PEOPLE = (
    "Marit Oldane", "Tobias Fenwright", "Ines Calloway-Brandt", "Rufus Adeyling", "Sanna Whitlocke",
        "Emeka Thornbury",
    "Priya Lindqvale", "Jonas Harrowgate", "Delphine Aubrook", "Gordon Pasternell", "Leila Marchbanks",
        "Anders Quillfeather",
)  # fmt: skip
FORMS = ("Inc.", "Corporation", "Group, Inc.", "Company", "Holdings, Inc.")
MONTHS = tuple(calendar.month_name)


@dataclass(frozen=True)
class Note:
    """One senior note: rate in hundredths of a percent, face in the filer's unit, first year due. Refinanced for ten
    years when it falls due, face for face."""

    rate: int
    face: int
    due: int

    def due_after(self, year: int) -> int:
        """The year in which the note outstanding at the end of ``year`` falls due."""
        return self.due if year < self.due else self.due + 10 * ((year - self.due) // 10 + 1)


@dataclass(frozen=True)
class Filer:
    """A fictional company.

    ``brief`` is what analysts call it; ``unit`` is what its statements count in, ``millions`` or ``thousands``.
    """

    index: int
    seed: int
    name: str
    short_name: str
    brief: str
    ticker: str
    cik: str
    industry: Industry
    unit: str
    year_end: int
    revenue_label: str
    cost_label: str
    selling_label: str
    capex_label: str
    plant_label: str
    receivable_label: str
    net_label: str
    cfo_label: str
    owners: str
    state: str
    town: str
    executives: tuple[str, str, str, str]
    notes: tuple[Note, ...]
    shares: int
    revenue: int
    margin: float
    accrued_share: float
    trouble_year: int
    pays_dividends: bool
    buys_back: bool
    invests: bool
    restates: bool
    split_rows: bool
    plural_titles: bool
    page_characters: int
    risk_count: int
    detail: int

    def draw(self, *key: object) -> Draw:
        """A stream of draws of this filer's own."""
        return Draw(self.seed, "filer", self.index, *key)

    def period_end(self, year: int) -> date:
        """Last day of fiscal ``year``. A year that ends in January bears the number of the year before."""
        calendar_year = year + 1 if self.year_end == 1 else year
        return date(calendar_year, self.year_end, calendar.monthrange(calendar_year, self.year_end)[1])

    def filed_at(self, year: int) -> date:
        """Day on which the 10-K of ``year`` is filed: 50 to 75 days after the year's end."""
        return self.period_end(year) + timedelta(days=self.draw("filed", year).integer(50, 75))

    def filing_id(self, year: int) -> str:
        """Identifier of the 10-K of ``year``."""
        return f"{self.ticker}_{year}_10K"

    @property
    def possessive(self) -> str:
        """The brief name in the genitive."""
        return f"{self.brief}'" if self.brief.endswith("s") else f"{self.brief}'s"

    @property
    def loss(self) -> str:
        """What the company calls a net result below zero."""
        return "Net loss"


def make_filer(index: int, seed: int) -> Filer:
    """Filer ``index`` of the world that ``seed`` names; it doesn't depend on how many others there are.

    Raises:
        ValueError: the index is out of range (:data:`apportion.corpus.synthetic.names.LIMIT`).
    """
    draw = Draw(seed, "filer", index, "profile")
    industry = INDUSTRIES[index % len(INDUSTRIES)]
    stem, ticker = stem_and_ticker(index, seed)
    short_name = f"{stem} {draw.pick(industry.name_words)}"
    unit = "thousands" if draw.chance(0.4) else "millions"
    revenue = draw.integer(180_000, 2_400_000) if unit == "thousands" else draw.integer(1_900, 42_000)
    debt = revenue * draw.between(0.15, 0.40) * (2.5 if industry.plant > 1 else 1)
    notes = tuple(
        Note(rate=25 * draw.integer(9, 27), face=int(debt * share / 50) * 50, due=year)
        for share, year in (
            (draw.between(0.2, 0.35), draw.integer(2022, 2024)),
            (draw.between(0.25, 0.4), draw.integer(2025, 2027)),
            (draw.between(0.3, 0.5), draw.integer(2028, 2032)),
        )
    )
    low, high = industry.gross_margin
    compact = draw.chance(0.4)
    return Filer(
        index=index,
        seed=seed,
        name=f"{short_name} {draw.pick(FORMS)}",
        short_name=short_name,
        brief=stem,
        ticker=ticker,
        cik=central_index_key(index),
        industry=industry,
        unit=unit,
        year_end=draw.pick(industry.year_ends),
        revenue_label=draw.pick(REVENUE_LABELS),
        cost_label=draw.pick(COST_LABELS[:3] if industry.goods else COST_LABELS[2:]),
        selling_label=draw.pick(SELLING_LABELS),
        capex_label=draw.pick(CAPEX_LABELS),
        plant_label=draw.pick(PLANT_LABELS),
        receivable_label=draw.pick(RECEIVABLE_LABELS),
        net_label=draw.pick(NET_LABELS),
        cfo_label=draw.pick(CFO_LABELS),
        owners=draw.pick(OWNERS),
        state=draw.pick(STATES),
        town=draw.pick(TOWNS),
        executives=tuple(draw.shuffled(PEOPLE)[:4]),  # type: ignore[arg-type]
        notes=notes,
        shares=int(revenue / draw.between(7, 55)) + 1,
        revenue=revenue,
        margin=draw.between(low, high),
        accrued_share=draw.between(0.05, 0.15),
        trouble_year=2020 + draw.integer(0, 5),
        pays_dividends=draw.chance(industry.dividends),
        buys_back=draw.chance(0.6),
        invests=draw.chance(0.45),
        restates=draw.chance(0.25),
        split_rows=draw.chance(0.45),
        plural_titles=draw.chance(0.4),
        page_characters=draw.integer(1_500, 2_500) if compact else draw.integer(4_500, 8_000),
        risk_count=draw.integer(9, 24),
        detail=draw.integer(0, 2),
    )

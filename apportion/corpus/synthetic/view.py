"""One filing as its parts see it: the filer, the years it reports on, what happened, and blocks of text with tags."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apportion.corpus.synthetic.draws import Draw, rounded
from apportion.corpus.synthetic.figures import BASE_YEAR, FIRST_YEAR, Year
from apportion.corpus.synthetic.filers import MONTHS, PEOPLE, STATES, Filer
from apportion.corpus.synthetic.layout import Row, amount, header, paragraph, row, table
from apportion.corpus.synthetic.names import ENDINGS, ONSETS


@dataclass(frozen=True)
class Block:
    """Text that stays on one page. ``tag`` is how questions find the page that it ends up on."""

    text: str
    tag: str = ""


Part = tuple[str, list[Block]]
"""A note: its title and blocks."""


@dataclass(frozen=True)
class Section:
    """A part of a filing that starts a new page. ``kind`` and ``item`` are those of its pages; ``title`` stands in the
    contents where it isn't empty."""

    kind: str
    item: str | None
    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Facts:
    """What a filing reports besides the statements. Money is in the filer's unit, shares are whole percents."""

    employees: int
    union_share: int
    sites: int
    outlets: int
    closed: int
    customer_share: int
    backlog: int
    plaintiff: str
    court: str
    claimed: int
    accrued: int
    revolver: int
    letters_of_credit: int
    authorized: int
    remaining: int
    headquarters_until: int
    planned_capex: int
    event: str
    event_amount: int
    revenue_driver: str
    margin_driver: str


def draw_facts(filer: Filer, year: Year, before: Year) -> Facts:
    """The facts of one filing."""
    steady, draw = filer.draw("steady"), filer.draw("facts", year.year)
    revenue = year["revenue"]
    employees = steady.integer(900, 38_000)
    plaintiff = steady.pick(ONSETS) + steady.pick(ENDINGS)
    claimed = max(5, rounded(filer.revenue * steady.between(0.004, 0.03)))
    revolver = max(50, rounded(filer.revenue * steady.between(0.08, 0.2) / 50) * 50)
    remaining = max(5, rounded(filer.revenue * draw.between(0.01, 0.08)))
    up, down = year["revenue"] >= before["revenue"], _margin(year) < _margin(before)
    return Facts(
        employees=employees + draw.integer(-60, 60) * 5,
        union_share=steady.integer(4, 45),
        sites=steady.integer(6, 60),
        outlets=steady.integer(90, 900) + 12 * (year.year - BASE_YEAR) + draw.integer(0, 8),
        closed=draw.integer(1, 16),
        customer_share=steady.integer(12, 24) + draw.integer(-2, 2),
        backlog=rounded(revenue * steady.between(0.2, 0.6) * draw.between(0.9, 1.1)),
        plaintiff=plaintiff,
        court=f"the Circuit Court of {steady.pick(ONSETS)}{steady.pick(ENDINGS)} County, "
        f"{steady.pick(STATES)}",
        claimed=claimed,
        accrued=rounded(claimed * draw.between(0.1, 0.6)),
        revolver=revolver,
        letters_of_credit=max(1, rounded(revolver * draw.between(0.02, 0.12))),
        authorized=year["repurchases"] + remaining,
        remaining=remaining,
        headquarters_until=steady.integer(2027, 2041),
        planned_capex=rounded(year["capex"] * draw.between(0.85, 1.3)),
        event=draw.pick(("sale", "purchase", "notes")),
        event_amount=max(5, rounded(revenue * draw.between(0.01, 0.05))),
        revenue_driver=draw.pick(filer.industry.rises) if up else filer.industry.falls[1],
        margin_driver=filer.industry.falls[0] if down else draw.pick(filer.industry.rises),
    )


def _margin(year: Year) -> float:
    return year["gross"] / year["revenue"]


class View:
    """A filing in the making: fiscal year ``year`` with the two years before it."""

    def __init__(self, filer: Filer, years: Sequence[Year]) -> None:
        """Take the years of a filer in order, the reported one last, at least three."""
        self.filer = filer
        self.now, self.before, self.earlier = years[-1], years[-2], years[-3]
        self.year = self.now.year
        self.facts = draw_facts(filer, self.now, self.before)
        self.prior_facts = draw_facts(filer, self.before, self.earlier)
        self.restates = filer.restates and self.year == FIRST_YEAR
        # Notes are often set otherwise than statements.
        self.spread_notes = filer.draw("notes", self.year).chance(0.4)

    def draw(self, *key: object) -> Draw:
        """A stream of draws of this filing's own."""
        return self.filer.draw("filing", self.year, *key)

    @property
    def three(self) -> tuple[Year, Year, Year]:
        """The reported year and the two before it, latest first."""
        return self.now, self.before, self.earlier

    @property
    def two(self) -> tuple[Year, Year]:
        """The reported year and the one before it."""
        return self.now, self.before

    @property
    def opened(self) -> int:
        """Outlets opened in the year: what it ended with less what it began with, and those it closed."""
        return self.facts.outlets - self.prior_facts.outlets + self.facts.closed

    def ended(self, year: int) -> str:
        """The last day of a fiscal year in words."""
        end = self.filer.period_end(year)
        return f"{MONTHS[end.month]} {end.day}, {end.year}"

    def unit_line(self, rest: str = "") -> str:
        """The line under a table's title that says what it counts in."""
        return f"(In {self.filer.unit}{rest})"

    def flow_header(self, years: Sequence[Year], spread: bool) -> str:
        """The head of a table of flows: years, marked where they were restated."""
        end = self.filer.period_end(self.year)
        columns = [
            f"{year.year} (as restated)" if self.restates and year.year < self.year else str(year.year)
            for year in years
        ]
        # A year that ends in January goes by its own number, not that of the day on which it ends.
        opening = "Fiscal year" if self.filer.year_end == 1 else f"Years ended {MONTHS[end.month]} {end.day},"
        return header(opening, columns, spread)

    def balance_header(self, spread: bool) -> str:
        """The head of a table of balances: the two closing days."""
        if self.filer.year_end == 1:
            return header("As of", [self.ended(year.year) for year in self.two], spread)
        end = self.filer.period_end(self.year)
        return header(f"{MONTHS[end.month]} {end.day},", [str(year.year) for year in self.two], spread)

    def rows(self, label: str, name: str, years: Sequence[Year], sign: int = 1, money: bool = False) -> Row:
        """A row of one amount over years."""
        return row(label, *(sign * year[name] for year in years), money=money)

    def note_table(self, head: str, rows: Sequence[Row]) -> str:
        """A table of the notes: its unit, head and rows."""
        return "\n".join((self.unit_line(), head, table(rows, self.spread_notes)))

    def million(self, value: int) -> str:
        """An exact amount in running text, in the filer's unit: ``$1,234 million``."""
        return f"{'-' if value < 0 else ''}${amount(abs(value))} {self.filer.unit.removesuffix('s')}"


def text(*paragraphs: str, tag: str = "") -> Block:
    """Paragraphs as one block."""
    return Block("\n\n".join(paragraph(each) for each in paragraphs), tag)


def titled(title: str, *paragraphs: str, tag: str = "") -> Block:
    """A heading and paragraphs under it as one block."""
    return Block("\n".join((title, *(paragraph(each) for each in paragraphs))), tag)


def people(filer: Filer) -> tuple[str, ...]:
    """Directors who sign besides the executives."""
    return tuple(name for name in PEOPLE if name not in filer.executives)[:5]

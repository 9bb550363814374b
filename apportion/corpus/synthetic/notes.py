"""The notes to the financial statements. Every table of them ties to the statements."""

from __future__ import annotations

from collections.abc import Sequence

from apportion.corpus.synthetic.boilerplate import POLICIES
from apportion.corpus.synthetic.borrowings import debt, leases
from apportion.corpus.synthetic.draws import split
from apportion.corpus.synthetic.figures import FIRST_YEAR, REGIONS, Year
from apportion.corpus.synthetic.layout import Row, cents, header, percent, row, table
from apportion.corpus.synthetic.view import Block, Part, Section, View, text, titled

ITEM = "8"
QUARTERS = ("First", "Second", "Third", "Fourth")


def notes(view: View) -> list[Section]:
    """All notes, numbered, as one run of pages."""
    parts = [policies(view), segments(view), customers(view), plant(view), intangibles(view)]
    if view.filer.industry.goods:
        parts.append(inventories(view))
    parts += [accrued(view), debt(view), leases(view), taxes(view), per_share(view), equity(view)]
    if view.filer.detail:
        parts += [retirement(view), fair_value(view)]
    parts.append(contingencies(view))
    if view.restates:
        parts.append(restatement(view))
    if any(year["acquisitions"] for year in view.two):
        parts.append(acquisitions(view))
    parts += [quarterly(view), later_events(view)]
    blocks: list[Block] = []
    for number, (title, own) in enumerate(parts, start=1):
        first = Block(f"NOTE {number}. {title.upper()}\n{own[0].text}", own[0].tag)
        blocks += [first, *own[1:]]
    return [Section("notes", ITEM, "Notes to Consolidated Financial Statements", tuple(blocks))]


def policies(view: View) -> Part:
    """Accounting policies: the same words in every filing, fewer of them in short ones."""
    kept = [policy for policy in POLICIES if view.filer.industry.goods or policy[0] != "Inventories."]
    kept = kept if view.filer.page_characters > 3_000 else kept[:7]
    opening = f"{view.filer.name} and its subsidiaries supply {view.filer.industry.offering}."
    return "Summary of significant accounting policies", [
        text(opening),
        *(titled(*policy) for policy in kept),
    ]


def segments(view: View) -> Part:
    """Revenue, income, assets and depreciation by segment, tied to the statements."""
    years, head = view.three, view.flow_header(view.three, view.spread_notes)
    names = [segment.name for segment in view.now.segments]
    intro = text(
        f"We manage our business in {len(names)} reportable segments: {', '.join(names[:-1])} and "
        f"{names[-1]}. The chief executive officer judges segments by their operating income before "
        "corporate expenses, restructuring and impairment.",
        tag="segments",
    )
    revenue = [row(name, *(year.segments[i].revenue for year in years)) for i, name in enumerate(names)]
    revenue.append(view.rows("Total segment revenue", "revenue", years, money=True))
    earned = [row(name, *(year.segments[i].income for year in years)) for i, name in enumerate(names)]
    earned.append(
        row("Total segment operating income", *(sum(s.income for s in year.segments) for year in years))
    )
    earned.append(row("Corporate and unallocated", *(unallocated(year) for year in years)))
    earned.append(view.rows("Consolidated operating income", "operating", years, money=True))
    two = view.two
    assets = [row(name, *(year.segments[i].assets for year in two)) for i, name in enumerate(names)]
    assets.append(
        row("Cash and investments held centrally", *(year["cash"] + year["investments"] for year in two))
    )
    assets.append(view.rows("Consolidated assets", "assets", two, money=True))
    charges = [row(name, *(year.segments[i].depreciation for year in years)) for i, name in enumerate(names)]
    charges.append(
        row(
            "Total depreciation and amortization",
            *(year["depreciation"] + year["amortization"] for year in years),
        )
    )
    blocks = [
        intro,
        Block("Revenue by segment\n" + view.note_table(head, revenue), "segment_revenue"),
        Block("Operating income by segment\n" + view.note_table(head, earned), "segment_income"),
        Block(
            "Identifiable assets by segment\n"
            + view.note_table(view.balance_header(view.spread_notes), assets),
            "segment_assets",
        ),
    ]
    if view.filer.detail:
        blocks.append(
            Block(
                "Depreciation and amortization by segment\n" + view.note_table(head, charges),
                "segment_depreciation",
            )
        )
    return "Segment information", blocks


def unallocated(year: Year) -> int:
    """Operating income that no segment bears, negative."""
    return year["operating"] - sum(segment.income for segment in year.segments)


def customers(view: View) -> Part:
    """Revenue by region, and the largest customer."""
    years, head = view.three, view.flow_header(view.three, view.spread_notes)
    regions = [row(name, *(year.regions[i] for year in years)) for i, name in enumerate(REGIONS)]
    regions.append(view.rows("Total", "revenue", years, money=True))
    facts, prior = view.facts, view.prior_facts
    largest = text(
        f"One customer accounted for {facts.customer_share}% of consolidated revenue in fiscal {view.year} "
        f"and {prior.customer_share}% in fiscal {view.year - 1}. No other customer accounted for ten "
        "percent or more.",
        tag="customer",
    )
    return "Revenue by geography and concentration", [
        Block("Revenue by location of the customer\n" + view.note_table(head, regions), "regions"),
        largest,
    ]


def plant(view: View) -> Part:
    """Property by kind, less accumulated depreciation."""
    two = view.two
    kinds = ("Land", "Buildings and improvements", "Machinery and equipment", "Construction in progress")
    gross = [split(year["plant"] + year["accumulated"], (0.05, 0.3, 0.57, 0.08)) for year in two]
    rows = [row(kind, *(parts[i] for parts in gross)) for i, kind in enumerate(kinds)]
    rows.append(row("Property at cost", *(sum(parts) for parts in gross)))
    rows.append(view.rows("Less accumulated depreciation", "accumulated", two, -1))
    rows.append(view.rows("Property, net", "plant", two, money=True))
    said = text(
        f"Depreciation expense was {view.million(view.now['depreciation'])} in fiscal {view.year}, "
        f"{view.million(view.before['depreciation'])} in fiscal {view.year - 1} and "
        f"{view.million(view.earlier['depreciation'])} in fiscal {view.year - 2}.",
        tag="depreciation",
    )
    return "Property", [
        Block(view.note_table(view.balance_header(view.spread_notes), rows), "plant_note"),
        said,
    ]


def intangibles(view: View) -> Part:
    """Goodwill from opening to closing balance, and amortization."""
    two = view.two
    opening = [year["goodwill"] - year["acquired_goodwill"] + year["impairment"] for year in two]
    rows = [row("Goodwill at beginning of year", *opening)]
    rows.append(view.rows("Acquired", "acquired_goodwill", two))
    rows.append(view.rows("Impairment", "impairment", two, -1))
    rows.append(view.rows("Goodwill at end of year", "goodwill", two, money=True))
    said = (
        f"We recorded an impairment of goodwill of {view.million(view.now['impairment'])} in fiscal "
        f"{view.year}, because {view.facts.margin_driver} lowered the cash flows that we expect of the "
        f"{view.now.segments[0].name} segment."
        if view.now["impairment"]
        else f"The annual test showed no impairment in fiscal {view.year}."
    )
    more = (
        f"Amortization of intangible assets was {view.million(view.now['amortization'])} in fiscal "
        f"{view.year} and is expected to be of the same order in each of the next five years."
    )
    return "Goodwill and intangible assets", [
        Block(view.note_table(view.flow_header(two, view.spread_notes), rows), "goodwill"),
        text(said, more, tag="impairment"),
    ]


def inventories(view: View) -> Part:
    """Inventories by stage."""
    two = view.two
    parts = [split(year["inventories"], (0.3 + year.year % 3 / 50, 0.15, 0.55)) for year in two]
    rows = [
        row(kind, *(p[i] for p in parts))
        for i, kind in enumerate(("Raw materials", "Work in process", "Finished goods"))
    ]
    rows.append(view.rows("Total inventories", "inventories", two, money=True))
    return "Inventories", [
        Block(view.note_table(view.balance_header(view.spread_notes), rows), "inventories")
    ]


def accrued(view: View) -> Part:
    """Accrued expenses by kind."""
    kinds = (
        "Wages and benefits",
        "Rebates and allowances",
        "Taxes other than on income",
        "Interest",
        "Other",
    )
    parts = [split(year["accrued"], (0.38, 0.2, 0.1, 0.05, 0.27)) for year in view.two]
    rows = [row(kind, *(part[i] for part in parts)) for i, kind in enumerate(kinds)]
    rows.append(view.rows("Total accrued expenses", "accrued", view.two, money=True))
    head = view.balance_header(view.spread_notes)
    return "Accrued expenses and other current liabilities", [Block(view.note_table(head, rows), "accrued")]


def per_share(view: View) -> Part:
    """Earnings per share from net income and shares."""
    years = view.three
    rows = [
        view.rows("Net income (loss) available to common shares", "net_income", years, money=True),
        view.rows("Average shares outstanding", "shares_basic", years),
        row("Effect of dilutive awards", *(year["shares_diluted"] - year["shares_basic"] for year in years)),
        view.rows("Average shares assuming dilution", "shares_diluted", years),
        Row("Basic earnings per share", tuple(cents(year["eps"]) for year in years), True),
        Row("Diluted earnings per share", tuple(cents(year["diluted_eps"]) for year in years), True),
    ]
    body = view.note_table(view.flow_header(years, view.spread_notes), rows)
    return "Earnings per share", [Block(body, "per_share")]


def retirement(view: View) -> Part:
    """What was paid into employees' plans."""
    now, before = plan_contributions(view)
    return "Retirement plans", [
        text(
            "Most employees in the United States may take part in a savings plan to which we contribute a "
            f"share of what they save. Our contributions were {view.million(now)} in fiscal {view.year} and "
            f"{view.million(before)} in fiscal {view.year - 1}. Outside the United States we contribute to "
            "plans that the law prescribes; their cost was not material. We have no defined benefit plan "
            "whose obligation exceeds its assets by a material amount.",
            tag="retirement",
        )
    ]


def plan_contributions(view: View) -> tuple[int, int]:
    """Contributions to savings plans in the reported year and the one before."""
    now, before = (max(1, year["selling"] // 60) for year in view.two)
    return now, before


def fair_value(view: View) -> Part:
    """Fair values, debt's among them."""
    worth = view.now["notes"] * (100 + view.draw("fair").integer(-7, 5)) // 100
    return "Fair value of financial instruments", [
        text(
            "Fair value is the price at which an asset could be sold, or a liability transferred, between "
            "willing parties. Cash equivalents and short-term investments are valued at quoted prices "
            "(level 1). Derivatives are valued from observable rates (level 2). Assets acquired with a "
            "business, and goodwill when it is impaired, are valued from our own forecasts (level 3).",
            f"The fair value of our senior notes was {view.million(worth)} at {view.ended(view.year)}, "
            f"against a carrying amount of {view.million(view.now['notes'])}. The carrying amounts of "
            "receivables, payables and the term loan are close to their fair values.",
            tag="fair_value",
        )
    ]


def taxes(view: View) -> Part:
    """The provision by kind, and its reconciliation from the federal rate."""
    years, head = view.three, view.flow_header(view.three, view.spread_notes)
    kinds = (
        ("Current federal", "current_federal"),
        ("Current state", "current_state"),
        ("Current foreign", "current_foreign"),
        ("Deferred", "deferred_tax_expense"),
    )
    provision = [view.rows(label, name, years) for label, name in kinds]
    provision.append(view.rows("Total provision for income taxes", "tax", years, money=True))
    steps = (
        ("Tax at the federal rate of 21%", "tax_statutory"),
        ("State taxes", "tax_state"),
        ("Foreign rate differences", "tax_foreign"),
        ("Goodwill impairment that is not deductible", "tax_not_deductible"),
        ("Other, net", "tax_other"),
    )
    path = [view.rows(label, name, years) for label, name in steps if any(year[name] for year in years)]
    path.append(view.rows("Provision for income taxes", "tax", years, money=True))
    rates = ", ".join(f"{percent(year['tax'], year['pretax'])} in fiscal {year.year}" for year in years)
    return "Income taxes", [
        Block("Provision for income taxes\n" + view.note_table(head, provision), "tax_provision"),
        Block("Reconciliation\n" + view.note_table(head, path), "tax_reconciliation"),
        text(f"Our effective income tax rate was {rates}.", tag="tax_rate"),
    ]


def equity(view: View) -> Part:
    """Repurchases, dividends by quarter and shares outstanding."""
    now, facts = view.now, view.facts
    blocks = [
        text(
            f"At {view.ended(view.year)} there were {now['shares']:,} {view.filer.unit.removesuffix('s')} "
            "common shares outstanding. Share-based compensation expense was "
            f"{view.million(now['stock_compensation'])} in fiscal {view.year} and "
            f"{view.million(view.before['stock_compensation'])} in fiscal {view.year - 1}.",
            tag="shares",
        )
    ]
    if view.filer.buys_back:
        blocks.append(
            text(
                f"In fiscal {view.year} the board authorized the repurchase of up to "
                f"{view.million(facts.authorized)} of common stock. Under this program "
                f"{view.million(facts.remaining)} remained available at {view.ended(view.year)}. We "
                f"repurchased shares for {view.million(now['repurchases'])} in fiscal {view.year} and "
                f"{view.million(view.before['repurchases'])} in fiscal {view.year - 1}.",
                tag="repurchases",
            )
        )
    if now["dividend"]:
        each = now["dividend"] // 4
        rows = [Row(f"{name} quarter", (cents(each),), True) for name in QUARTERS]
        rows.append(Row("Total dividends per share", (cents(now["dividend"]),), True))
        quarters = "\n".join(
            (f"Dividends declared per share, fiscal {view.year}", table(rows, view.spread_notes))
        )
        blocks.append(Block(quarters, "dividends"))
    return "Equity and share-based compensation", blocks


def contingencies(view: View) -> Part:
    """The legal matter as the notes report it."""
    facts = view.facts
    return "Commitments and contingencies", [
        text(
            f"In the matter brought by {facts.plaintiff} Partners, described under Legal Proceedings, we "
            f"have accrued {view.million(facts.accrued)} as of {view.ended(view.year)}, compared with "
            f"{view.million(view.prior_facts.accrued)} a year earlier. It is reasonably possible that the "
            "loss will exceed the amount accrued. Purchase obligations that cannot be cancelled are "
            "entered into in the ordinary course of business.",
            tag="accrual",
        )
    ]


def restated_amount(view: View, year: Year) -> int:
    """Freight that was formerly left out of both revenue and cost."""
    return int(year["revenue"] * view.filer.draw("freight").between(0.01, 0.03))


def restatement(view: View) -> Part:
    """What an earlier year showed before freight was counted in revenue and cost."""
    year = view.before
    moved = restated_amount(view, year)
    rows = [
        row(view.filer.revenue_label, year["revenue"] - moved, moved, year["revenue"]),
        row(view.filer.cost_label, year["cost"] - moved, moved, year["cost"]),
        row("Operating income", year["operating"], 0, year["operating"]),
    ]
    head = header(
        f"Fiscal {year.year}", ("As previously reported", "Adjustment", "As restated"), view.spread_notes
    )
    return "Restatement of prior years", [
        text(
            f"In fiscal {FIRST_YEAR} we found that freight billed to customers had been left out of revenue "
            "and set off against cost. Prior years have been restated to include it in both. Operating "
            "income, net income, cash flows and equity are unchanged."
        ),
        Block("\n".join((view.unit_line(), head, table(rows, view.spread_notes))), "restatement"),
    ]


def acquisitions(view: View) -> Part:
    """What was bought and what for."""
    said = [
        f"In fiscal {year.year} we acquired a business in the {year.segments[-1].name} segment for "
        f"{view.million(year['acquisitions'])} in cash. Of the price, "
        f"{view.million(year['acquired_goodwill'])} was recorded as goodwill and "
        f"{view.million(year['acquired_intangibles'])} as intangible assets with lives of eight to fifteen "
        "years."
        for year in view.two
        if year["acquisitions"]
    ]
    return "Acquisitions", [text(*said, tag="acquisitions")]


def quarterly(view: View) -> Part:
    """Revenue, gross profit and net income by quarter, summing to the year."""
    blocks = []
    lines: Sequence[tuple[str, str]] = (
        (view.filer.revenue_label, "revenue"), ("Gross profit", "gross"), (f"{view.filer.net_label} (loss)",
            "net_income"),
    )  # fmt: skip
    for year in view.two if view.filer.detail else (view.now,):
        rows = [
            row(label, *(quarter[name] for quarter in year.quarters), year[name]) for label, name in lines
        ]
        head = header(f"Fiscal {year.year} by quarter", (*QUARTERS, "Year"), view.spread_notes)
        body = "\n".join((view.unit_line(), head, table(rows, view.spread_notes)))
        blocks.append(Block(body, "quarterly" if year is view.now else ""))
    return "Quarterly financial data (unaudited)", blocks


def later_events(view: View) -> Part:
    """What happened between the year's end and the filing."""
    facts = view.facts
    what = {
        "sale": f"we agreed to sell a part of the {view.now.segments[-1].name} segment for "
        f"{view.million(facts.event_amount)} in cash",
        "purchase": f"we agreed to buy a competitor of the {view.now.segments[0].name} segment for "
        f"{view.million(facts.event_amount)} in cash",
        "notes": f"we agreed with a group of banks to extend the revolving credit facility and to raise it "
        f"by {view.million(facts.event_amount)}",
    }[facts.event]
    return "Subsequent events", [
        text(f"After {view.ended(view.year)} and before the filing of this report, {what}.", tag="event")
    ]

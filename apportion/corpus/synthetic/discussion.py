"""Management's discussion: figures in rounded words, margins, and what drove them."""

from __future__ import annotations

from apportion.corpus.synthetic import boilerplate as same
from apportion.corpus.synthetic.draws import rounded
from apportion.corpus.synthetic.figures import Year
from apportion.corpus.synthetic.layout import Row, in_words, percent, row, table
from apportion.corpus.synthetic.view import Block, Section, View, text, titled


def _moved(now: int, before: int) -> str:
    return "increased" if now > before else "decreased" if now < before else "did not change"


def _change(view: View, label: str, name: str, now: Year, before: Year) -> str:
    """A sentence on how an amount moved, in rounded figures."""
    words = in_words(now[name], view.filer.unit), in_words(before[name], view.filer.unit)
    share = f" or {percent(abs(now[name] - before[name]), abs(before[name]))}" if before[name] > 0 else ""
    difference = in_words(abs(now[name] - before[name]), view.filer.unit)
    return (
        f"{label} {_moved(now[name], before[name])} by {difference}{share}, to {words[0]} in fiscal "
        f"{now.year} from {words[1]} in fiscal {before.year}."
    )


def discussion(view: View) -> Section:
    """Item 7: figures in rounded words, margins, and what drove them."""
    filer, facts, now, before = view.filer, view.facts, view.now, view.before
    years = view.three
    percents = [
        Row(label, tuple(percent(year[name], year["revenue"]) for year in years))
        for label, name in (
            (filer.revenue_label, "revenue"),
            (filer.cost_label, "cost"),
            ("Gross profit", "gross"),
            ("Selling and administrative", "selling"),
            ("Operating income", "operating"),
            (filer.net_label, "net_income"),
        )
    ]
    head = view.flow_header(years, view.spread_notes)
    blocks = [
        titled(
            "ITEM 7. MANAGEMENT'S DISCUSSION AND ANALYSIS OF FINANCIAL CONDITION AND RESULTS OF OPERATIONS",
            f"This discussion should be read together with the financial statements of {filer.name} and the "
            "notes to them. It contains forward-looking statements.",
        ),
        titled(
            "Overview",
            f"Fiscal {view.year} was a year of "
            f"{'growth' if now['revenue'] > before['revenue'] else 'contraction'}. "
            + _change(view, "Revenue", "revenue", now, before)
            + f" The main reason was {facts.revenue_driver}. "
            + _change(view, "Operating income", "operating", now, before),
            tag="overview",
        ),
        Block(
            "\n".join(("Results as a percentage of revenue", head, table(percents, view.spread_notes))),
            "percents",
        ),
        titled(
            f"Revenue, fiscal {view.year} compared with fiscal {view.year - 1}",
            _change(view, "Consolidated revenue", "revenue", now, before)
            + f" The change reflects {facts.revenue_driver}.",
            tag="revenue_discussion",
        ),
    ]
    for i, segment in enumerate(now.segments):
        old = before.segments[i]
        growth = percent(abs(segment.revenue - old.revenue), old.revenue)
        blocks.append(
            text(
                f"{segment.name}. Revenue of the segment {_moved(segment.revenue, old.revenue)} by "
                f"{growth}, to {in_words(segment.revenue, filer.unit)}. Segment operating income was "
                f"{in_words(segment.income, filer.unit)}, against {in_words(old.income, filer.unit)} in "
                f"fiscal {view.year - 1}.",
                tag="segment_discussion",
            )
        )
    margins = percent(now["gross"], now["revenue"]), percent(before["gross"], before["revenue"])
    blocks.append(
        titled(
            "Gross profit",
            f"Gross profit was {margins[0]} of revenue in fiscal {view.year} and {margins[1]} in fiscal "
            f"{view.year - 1}. The change in gross margin was driven primarily by {facts.margin_driver}.",
            tag="margin",
        )
    )
    blocks.append(titled("Operating expenses", *_expenses(view)))
    blocks.append(
        titled(
            "Interest, other income and taxes",
            _change(view, "Interest expense", "interest", now, before),
            f"The provision for income taxes was {in_words(now['tax'], filer.unit)}, or "
            f"{percent(now['tax'], now['pretax'])} of income before income taxes.",
        )
    )
    if filer.detail:
        older = view.earlier
        blocks.append(
            titled(
                f"Fiscal {view.year - 1} compared with fiscal {view.year - 2}",
                _change(view, "Consolidated revenue", "revenue", before, older)
                + " "
                + _change(view, "Gross profit", "gross", before, older)
                + " "
                + _change(view, "Operating income", "operating", before, older),
            )
        )
    blocks += _liquidity(view)
    blocks += [
        titled("Critical accounting estimates", same.ESTIMATES[0]),
        *(text(each) for each in same.ESTIMATES[1:]),
    ]
    blocks.append(_market_risk(view))
    return Section("text", "7", "Management's Discussion and Analysis", tuple(blocks))


def _expenses(view: View) -> list[str]:
    now, before = view.now, view.before
    said = [_change(view, "Selling and administrative expense", "selling", now, before)]
    if now["research"]:
        said.append(_change(view, "Research and development expense", "research", now, before))
    if now["restructuring"]:
        said.append(
            f"Restructuring charges of {in_words(now['restructuring'], view.filer.unit)} were for severance "
            f"and the closing of two {view.filer.industry.sites.split(' and ')[0]}."
        )
    if now["impairment"]:
        said.append(
            f"An impairment of goodwill of {in_words(now['impairment'], view.filer.unit)} was recorded in "
            "the fourth quarter."
        )
    return said


def _liquidity(view: View) -> list[Block]:
    now, before, filer = view.now, view.before, view.filer
    rows = [
        row("Operating activities", now["cfo"], before["cfo"]),
        row("Investing activities", now["cfi"], before["cfi"]),
        row("Financing activities", now["cff"], before["cff"]),
    ]
    spread = view.spread_notes
    return [
        titled(
            "Liquidity and capital resources",
            f"Cash and cash equivalents were {in_words(now['cash'], filer.unit)} at the end of fiscal "
            f"{view.year}, compared with {in_words(before['cash'], filer.unit)} a year earlier. We believe "
            "that cash on hand, cash flow and our credit facility will meet our needs for at least twelve "
            "months.",
            tag="liquidity",
        ),
        Block(
            "\n".join(
                (
                    "Cash flows by activity",
                    view.unit_line(),
                    view.flow_header(view.two, spread),
                    table(rows, spread),
                )
            )
        ),
        text(
            _change(view, "Cash flow from operations", "cfo", now, before),
            f"Capital spending was {in_words(now['capex'], filer.unit)}. In fiscal {view.year + 1} we plan "
            f"to spend about {view.million(view.facts.planned_capex)} on plant and equipment.",
            tag="planned_capex",
        ),
        text(
            f"Total debt was {in_words(now['debt'], filer.unit)} at year end, against "
            f"{in_words(before['debt'], filer.unit)}. Of it, {in_words(now['debt_current'], filer.unit)} "
            "falls due within one year."
        ),
    ]


def _market_risk(view: View) -> Block:
    loan = view.now["term_loan"]
    rise = in_words(rounded(loan / 100), view.filer.unit)
    effect = f" A rise of one point in interest rates would raise annual interest expense by about {rise}."
    title = "ITEM 7A. QUANTITATIVE AND QUALITATIVE DISCLOSURES ABOUT MARKET RISK"
    return titled(title, same.MARKET_RISK[0], same.MARKET_RISK[1] + (effect if loan >= 100 else ""))

"""The financial statements, a page each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from apportion.corpus.synthetic.figures import Year
from apportion.corpus.synthetic.layout import Row, amount, cents, row, table
from apportion.corpus.synthetic.view import Block, Section, View

ITEM = "8"
CLOSING = "The accompanying notes are an integral part of these consolidated financial statements."


def statements(view: View) -> list[Section]:
    """Income, comprehensive income, balance sheet, equity and cash flows."""
    # The two statements that open the set share a page.
    opening = replace(income(view), blocks=income(view).blocks + comprehensive(view).blocks)
    return [opening, balance(view), equity(view), cash_flows(view)]


def _page(view: View, kind: str, title: str, unit: str, head: str, rows: Sequence[Row]) -> Section:
    spread = view.filer.split_rows
    body = "\n".join((title.upper(), view.unit_line(unit), head, table(rows, spread), "", CLOSING))
    return Section(kind, ITEM, title, (Block(body, kind),))


def _title(view: View, plural: str) -> str:
    """A statement's title, in the singular where the filer titles its statements so."""
    return (
        plural
        if view.filer.plural_titles
        else plural.replace("Statements", "Statement").replace("Sheets", "Sheet")
    )


def net_label(view: View, years: Sequence[Year]) -> str:
    """What the net result is called where it is positive, negative or both among ``years``."""
    label, loss = view.filer.net_label, any(year["net_income"] < 0 for year in years)
    if not loss:
        return label
    return view.filer.loss if all(year["net_income"] < 0 for year in years) else f"{label} (loss)"


def income(view: View) -> Section:
    """The statement of income, three years."""
    filer, years = view.filer, view.three
    rows = [
        view.rows(filer.revenue_label, "revenue", years, money=True),
        view.rows(filer.cost_label, "cost", years),
    ]
    if filer.detail:
        rows.append(view.rows("Gross profit", "gross", years))
    rows.append(Row("Operating expenses:"))
    optional = (
        ("Research and development", "research"),
        (filer.selling_label, "selling"),
        ("Amortization of intangible assets", "amortization"),
        ("Impairment of goodwill", "impairment"),
        ("Restructuring charges", "restructuring"),
    )
    rows += [view.rows(label, name, years) for label, name in optional if any(year[name] for year in years)]
    loss = any(year["operating"] < 0 for year in years)
    rows += [
        view.rows("Operating income (loss)" if loss else "Operating income", "operating", years),
        view.rows("Interest expense", "interest", years, -1),
        view.rows("Other income (expense), net", "other_income", years),
        view.rows("Income before income taxes", "pretax", years),
        view.rows("Provision for income taxes", "tax", years),
        view.rows(net_label(view, years), "net_income", years, money=True),
        Row("Earnings per common share:"),
        Row("Basic", tuple(cents(year["eps"]) for year in years), True),
        Row("Diluted", tuple(cents(year["diluted_eps"]) for year in years), True),
        Row("Weighted average common shares outstanding:"),
        view.rows("Basic shares", "shares_basic", years),
        view.rows("Diluted shares", "shares_diluted", years),
    ]
    if any(year["dividend"] for year in years):
        rows.append(
            Row("Dividends declared per share", tuple(cents(year["dividend"]) for year in years), True)
        )
    head = view.flow_header(years, filer.split_rows)
    return _page(
        view,
        "income",
        _title(view, "Consolidated Statements of Income"),
        ", except per share amounts",
        head,
        rows,
    )


def comprehensive(view: View) -> Section:
    """The statement of comprehensive income, three years."""
    years = view.three
    rows = [
        view.rows(net_label(view, years), "net_income", years, money=True),
        view.rows("Currency translation adjustments", "currency", years),
        row("Comprehensive income", *(year["net_income"] + year["currency"] for year in years), money=True),
    ]
    head = view.flow_header(years, view.filer.split_rows)
    return _page(
        view,
        "comprehensive_income",
        _title(view, "Consolidated Statements of Comprehensive Income"),
        "",
        head,
        rows,
    )


def balance(view: View) -> Section:
    """The balance sheet, two years."""
    filer, years = view.filer, view.two
    owners = filer.owners

    def line(label: str, name: str, money: bool = False) -> list[Row]:
        return [view.rows(label, name, years, money=money)] if any(year[name] for year in years) else []

    rows = [
        Row("ASSETS"),
        Row("Current assets:"),
        *line("Cash and cash equivalents", "cash", True),
        *line("Short-term investments", "investments"),
        *line(filer.receivable_label, "receivables"),
        *line("Inventories", "inventories"),
        *line("Prepaid expenses and other current assets", "prepaid"),
        *line("Total current assets", "current_assets"),
        *line(filer.plant_label, "plant"),
        *line("Operating lease right-of-use assets", "leased"),
        *line("Goodwill", "goodwill"),
        *line("Intangible assets, net", "intangibles"),
        *line("Other assets", "other_assets"),
        *line("Total assets", "assets", True),
        Row(f"LIABILITIES AND {owners.upper()}' EQUITY"),
        Row("Current liabilities:"),
        *line("Accounts payable", "payables", True),
        *line("Accrued expenses and other current liabilities", "accrued"),
        *line("Deferred revenue", "deferred_revenue"),
        *line("Current operating lease liabilities", "lease_current"),
        *line("Current portion of long-term debt", "debt_current"),
        *line("Total current liabilities", "current_liabilities"),
        *line("Long-term debt, less current portion", "debt_long"),
        *line("Long-term operating lease liabilities", "lease_long"),
        *line("Deferred income taxes", "deferred_tax"),
        *line("Other long-term liabilities", "other_liabilities"),
        *line("Total liabilities", "liabilities"),
        Row("Commitments and contingencies"),
        *line("Common stock and additional paid-in capital", "paid_in"),
        *line(
            "Accumulated deficit" if all(year["retained"] < 0 for year in years) else "Retained earnings",
            "retained",
        ),
        *line("Accumulated other comprehensive income (loss)", "other_comprehensive"),
        *line("Treasury stock, at cost", "treasury"),
        *line(f"Total {owners}' equity", "equity"),
        row(
            f"Total liabilities and {owners}' equity",
            *(year["liabilities"] + year["equity"] for year in years),
            money=True,
        ),
    ]
    head = view.balance_header(filer.split_rows)
    return _page(
        view, "balance", _title(view, "Consolidated Balance Sheets"), ", except share data", head, rows
    )


def equity(view: View) -> Section:
    """The statement of equity: five columns, three years of movements."""
    owners = view.filer.owners
    columns = ("Paid-in capital", "Retained earnings", "Other comprehensive", "Treasury stock", "Total")
    oldest = view.earlier
    opening = (
        oldest["paid_in"] - oldest["stock_compensation"] - oldest["stock_issued"],
        oldest["retained"] - oldest["net_income"] + oldest["dividends"],
        oldest["other_comprehensive"] - oldest["currency"],
        oldest["treasury"] + oldest["repurchases"],
    )
    rows = [_five(f"Balance, {view.ended(oldest.year - 1)}", opening)]
    for year in reversed(view.three):
        moves = (
            ("Net income (loss)", (0, year["net_income"], 0, 0)),
            ("Cash dividends", (0, -year["dividends"], 0, 0)),
            ("Share-based compensation", (year["stock_compensation"], 0, 0, 0)),
            ("Shares issued", (year["stock_issued"], 0, 0, 0)),
            ("Repurchases of common stock", (0, 0, 0, -year["repurchases"])),
            ("Currency translation", (0, 0, year["currency"], 0)),
        )
        rows += [_five(label, values) for label, values in moves if any(values)]
        closing = (year["paid_in"], year["retained"], year["other_comprehensive"], year["treasury"])
        rows.append(_five(f"Balance, {view.ended(year.year)}", closing))
    head = "   ".join(columns) if not view.filer.split_rows else "\n".join(columns)
    return _page(
        view, "equity", _title(view, f"Consolidated Statements of {owners.title()}' Equity"), "", head, rows
    )


def _five(label: str, values: Sequence[int]) -> Row:
    return Row(label, tuple(amount(value) for value in (*values, sum(values))))


def cash_flows(view: View) -> Section:
    """The statement of cash flows, three years."""
    filer, years = view.filer, view.three

    def line(label: str, name: str, sign: int = 1, money: bool = False) -> list[Row]:
        return [view.rows(label, name, years, sign, money)] if any(year[name] for year in years) else []

    rows = [
        Row("Operating activities:"),
        *line(net_label(view, years), "net_income", money=True),
        Row("Adjustments to reconcile to net cash from operating activities:"),
        row(
            "Depreciation and amortization", *(year["depreciation"] + year["amortization"] for year in years)
        ),
        *line("Impairment of goodwill", "impairment"),
        *line("Share-based compensation", "stock_compensation"),
        *line("Deferred income taxes", "deferred_tax_expense"),
        Row("Changes in assets and liabilities:"),
        *line("Receivables", "change_receivables", -1),
        *line("Inventories", "change_inventories", -1),
        *line("Prepaid expenses", "change_prepaid", -1),
        *line("Accounts payable", "change_payables"),
        *line("Accrued expenses", "change_accrued"),
        *line("Deferred revenue", "change_deferred_revenue"),
        row("Other", *(year["change_other_liabilities"] - year["change_other_assets"] for year in years)),
        *line(filer.cfo_label, "cfo"),
        Row("Investing activities:"),
        *line(filer.capex_label, "capex", -1),
        *line("Acquisitions, net of cash acquired", "acquisitions", -1),
        *line("Purchases of short-term investments", "investments_bought", -1),
        *line("Sales and maturities of short-term investments", "investments_sold"),
        *line("Net cash used in investing activities", "cfi"),
        Row("Financing activities:"),
        *line("Proceeds from borrowings", "debt_issued"),
        *line("Repayments of debt", "debt_repaid", -1),
        *line("Dividends paid", "dividends", -1),
        *line("Repurchases of common stock", "repurchases", -1),
        *line("Proceeds from shares issued", "stock_issued"),
        *line("Net cash provided by (used in) financing activities", "cff"),
        *line("Effect of exchange rate changes on cash", "currency"),
        row(
            "Net increase (decrease) in cash and cash equivalents",
            *(year["cash"] - year["cash_before"] for year in years),
        ),
        *line("Cash and cash equivalents, beginning of year", "cash_before"),
        *line("Cash and cash equivalents, end of year", "cash", money=True),
    ]
    head = view.flow_header(years, filer.split_rows)
    return _page(view, "cash_flow", _title(view, "Consolidated Statements of Cash Flows"), "", head, rows)

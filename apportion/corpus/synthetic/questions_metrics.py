"""Family ``metrics``: a figure or ratio of the statements, defined in the question, with its unit and rounding."""

from __future__ import annotations

from dataclasses import replace

from apportion.corpus.synthetic.figures import Year
from apportion.corpus.synthetic.questions import Question, Template, dollars, percentage, printed
from apportion.corpus.synthetic.view import View

RELYING = (
    "Rely on the details shown in {}.",
    "Please use the line items that stand in {}.",
    "Assume that you are an analyst who has only {}.",
    "Work from {}.",
)
NAMES = {
    "income": ("the statement of income", "the income statement", "the P&L statement"),
    "balance": ("the balance sheet",),
    "cash_flow": ("the cash flow statement", "the statement of cash flows"),
}


def _source(view: View, *tags: str) -> str:
    draw = view.draw("relying", *tags)
    return draw.pick(RELYING).format(" and ".join(draw.pick(NAMES[tag]) for tag in tags))


def _of(view: View) -> tuple[str, int, Year, Year]:
    return view.filer.brief, view.year, view.now, view.before


def capital_expenditure(view: View) -> Question:
    """An outflow that the statement prints as negative."""
    name, year, now, _ = _of(view)
    text = (
        f"What was the FY{year} capital expenditure amount (in USD {view.filer.unit}) for {name}? "
        f"{_source(view, 'cash_flow')}"
    )
    return Question(text, dollars(view, now["capex"]), ("cash_flow",), printed(-now["capex"]))


def fixed_asset_turnover(view: View) -> Question:
    """Revenue over average plant."""
    name, year, now, before = _of(view)
    value = now["revenue"] / ((now["plant"] + before["plant"]) / 2)
    text = (
        f"What is the FY{year} fixed asset turnover ratio for {name}? Fixed asset turnover ratio is defined "
        f"as: FY{year} revenue / (average PP&E between FY{year - 1} and FY{year}). Round your answer to two "
        f"decimal places. {_source(view, 'income', 'balance')}"
    )
    return Question(
        text, f"{value:.2f}", ("income", "balance"), printed(now["revenue"], now["plant"], before["plant"])
    )


def inventory_turnover(view: View) -> Question | None:
    """Cost over average inventory."""
    name, year, now, before = _of(view)
    if not now["inventories"]:
        return None
    value = now["cost"] / ((now["inventories"] + before["inventories"]) / 2)
    text = (
        f"What is the FY{year} inventory turnover ratio for {name}? Inventory turnover ratio is defined as: "
        f"FY{year} COGS / (average inventory between FY{year - 1} and FY{year}). Round your answer to two "
        f"decimal places. {_source(view, 'balance', 'income')}"
    )
    return Question(
        text,
        f"{value:.2f}",
        ("income", "balance"),
        printed(now["cost"], now["inventories"], before["inventories"]),
    )


def days_sales(view: View) -> Question:
    """Days of revenue in average receivables."""
    _, year, now, before = _of(view)
    value = 365 * ((now["receivables"] + before["receivables"]) / 2) / now["revenue"]
    text = (
        f"{_source(view, 'balance', 'income')} What is {view.filer.possessive} FY{year} days sales "
        f"outstanding (DSO)? DSO is defined as: 365 * (average accounts receivable between FY{year - 1} and "
        f"FY{year}) / (FY{year} revenue). Round your answer to two decimal places."
    )
    return Question(
        text,
        f"{value:.2f}",
        ("income", "balance"),
        printed(now["revenue"], now["receivables"], before["receivables"]),
    )


def days_payable(view: View) -> Question | None:
    """Days of purchases in average payables."""
    name, year, now, before = _of(view)
    if not now["inventories"]:
        return None
    purchases = now["cost"] + now["inventories"] - before["inventories"]
    value = 365 * ((now["payables"] + before["payables"]) / 2) / purchases
    text = (
        f"What is FY{year} days payable outstanding (DPO) for {name}? DPO is defined as: 365 * (average "
        f"accounts payable between FY{year - 1} and FY{year}) / (FY{year} COGS + change in inventory "
        f"between FY{year - 1} and FY{year}). Round your answer to two decimal places. "
        f"{_source(view, 'balance', 'income')}"
    )
    shown = printed(
        now["cost"], now["payables"], before["payables"], now["inventories"], before["inventories"]
    )
    return Question(text, f"{value:.2f}", ("income", "balance"), shown)


def return_on_assets(view: View) -> Question:
    """Net income over average assets."""
    name, year, now, before = _of(view)
    value = now["net_income"] / ((now["assets"] + before["assets"]) / 2)
    text = (
        f"What is the FY{year} return on assets (ROA) for {name}? ROA is defined as: FY{year} net income / "
        f"(average total assets between FY{year - 1} and FY{year}). Answer in units of percents and round "
        f"to one decimal place. {_source(view, 'balance', 'income')}"
    )
    return Question(
        text,
        percentage(value),
        ("income", "balance"),
        printed(now["net_income"], now["assets"], before["assets"]),
    )


def operating_cash_flow_ratio(view: View) -> Question:
    """Operating cash flow over current liabilities."""
    name, year, now, _ = _of(view)
    value = now["cfo"] / now["current_liabilities"]
    text = (
        f"What is the FY{year} operating cash flow ratio for {name}? Operating cash flow ratio is defined "
        "as: cash from operations / total current liabilities. Round your answer to two decimal places. "
        f"{_source(view, 'balance', 'cash_flow')}"
    )
    return Question(
        text, f"{value:.2f}", ("balance", "cash_flow"), printed(now["cfo"], now["current_liabilities"])
    )


def free_cash_flow(view: View) -> Question:
    """Operating cash flow less capital expenditures, in millions."""
    name, year, now, _ = _of(view)
    value = now["cfo"] - now["capex"]
    millions = value / 1_000 if view.filer.unit == "thousands" else float(value)
    shown = f"{'-' if millions < 0 else ''}${abs(millions):,.1f} million"
    text = (
        f"What is the FY{year} free cash flow (FCF) for {name}? FCF here is defined as: (cash from "
        "operations - capex). Answer in USD millions and round to one decimal place. "
        f"{_source(view, 'cash_flow')}"
    )
    return Question(text, shown, ("cash_flow",), printed(now["cfo"], -now["capex"]))


def average_capital_intensity(view: View) -> Question:
    """Capital expenditures over revenue, three years."""
    name, year = view.filer.brief, view.year
    value = sum(each["capex"] / each["revenue"] for each in view.three) / 3
    text = (
        f"What is the FY{year - 2} - FY{year} 3 year average of capex as a % of revenue for {name}? Answer "
        f"in units of percents and round to one decimal place. {_source(view, 'income', 'cash_flow')}"
    )
    shown = printed(*(each["revenue"] for each in view.three), *(-each["capex"] for each in view.three))
    return Question(text, percentage(value), ("income", "cash_flow"), shown)


def ebitda_margin(view: View) -> Question:
    """Operating income and depreciation, over revenue."""
    name, year, now, _ = _of(view)
    charges = now["depreciation"] + now["amortization"]
    text = (
        f"What is the FY{year} unadjusted EBITDA % margin for {name}? Calculate unadjusted EBITDA using "
        "unadjusted operating income and D&A (from the cash flow statement). Answer in units of percents "
        "and round to one decimal place."
    )
    value = (now["operating"] + charges) / now["revenue"]
    return Question(
        text, percentage(value), ("income", "cash_flow"), printed(now["operating"], now["revenue"], charges)
    )


def margin_change(view: View) -> Question:
    """Operating margin against the year before."""
    name, year, now, before = _of(view)
    value = now["operating"] / now["revenue"] - before["operating"] / before["revenue"]
    text = (
        f"{_source(view, 'income')} What is the FY{year - 1} - FY{year} change in unadjusted operating "
        f"income % margin for {name}? Answer in units of percents and round to one decimal place."
    )
    shown = printed(now["operating"], now["revenue"], before["operating"], before["revenue"])
    return Question(text, percentage(value), ("income",), shown)


def revenue_growth(view: View) -> Question:
    """Revenue against the year before."""
    _, year, now, before = _of(view)
    text = (
        f"What is {view.filer.possessive} year-over-year change in revenue from FY{year - 1} to FY{year} "
        f"(in units of percents and round to one decimal place)? {_source(view, 'income')}"
    )
    return Question(
        text,
        percentage(now["revenue"] / before["revenue"] - 1),
        ("income",),
        printed(now["revenue"], before["revenue"]),
    )


def payout(view: View) -> Question | None:
    """Dividends over net income."""
    name, year, now, _ = _of(view)
    if not now["dividends"] or now["net_income"] <= 0:
        return None
    text = (
        f"What is the FY{year} dividend payout ratio for {name}? Dividend payout ratio is defined as: total "
        "cash dividends paid / net income attributable to shareholders. Round your answer to two decimal "
        f"places. {_source(view, 'cash_flow', 'income')}"
    )
    value = now["dividends"] / now["net_income"]
    return Question(text, f"{value:.2f}", ("cash_flow",), printed(-now["dividends"], now["net_income"]))


def working_capital(view: View) -> Question:
    """Current assets less current liabilities."""
    _, year, now, _ = _of(view)
    text = (
        f"What was {view.filer.possessive} net working capital at the end of FY{year}? Define net working "
        f"capital as total current assets less total current liabilities. Answer in USD {view.filer.unit}. "
        f"{_source(view, 'balance')}"
    )
    value = now["current_assets"] - now["current_liabilities"]
    return Question(
        text, dollars(view, value), ("balance",), printed(now["current_assets"], now["current_liabilities"])
    )


def tax_rate(view: View) -> Question | None:
    """Tax over income before it; the notes print it too."""
    _, year, now, _ = _of(view)
    if now["pretax"] <= 0:
        return None
    text = (
        f"What was {view.filer.possessive} effective tax rate in FY{year}? Answer in units of percents and "
        f"round to one decimal place. {_source(view, 'income')}"
    )
    return Question(
        text, percentage(now["tax"] / now["pretax"]), ("income",), printed(now["tax"], now["pretax"])
    )


def receivables(view: View) -> Question:
    """A balance of the year before, which last year's filing shows first."""
    name, year, _, before = _of(view)
    text = (
        f"Basing your answer on the balance sheet, what was the year end FY{year - 1} net AR for {name}? "
        f"Answer in USD {view.filer.unit}."
    )
    return Question(text, dollars(view, before["receivables"]), ("balance",), printed(before["receivables"]))


def average_net_margin(view: View) -> Question:
    """Net margin, three years."""
    name, year = view.filer.brief, view.year
    value = sum(each["net_income"] / each["revenue"] for each in view.three) / 3
    text = (
        f"In agreement with the statement of income, what is the FY{year - 2} - FY{year} 3 year average net "
        f"profit margin (as a %) for {name}? Answer in units of percents and round to one decimal place."
    )
    shown = printed(*(each[item] for each in view.three for item in ("revenue", "net_income")))
    return Question(text, percentage(value), ("income",), shown)


def interest_coverage(view: View) -> Question:
    """Operating income over interest."""
    name, year, now, _ = _of(view)
    text = (
        f"What is the FY{year} interest coverage ratio for {name}? Interest coverage ratio is defined as: "
        "operating income / interest expense. Round your answer to two decimal places. "
        f"{_source(view, 'income')}"
    )
    return Question(
        text,
        f"{now['operating'] / now['interest']:.2f}",
        ("income",),
        printed(now["operating"], -now["interest"]),
    )


def debt_to_equity(view: View) -> Question | None:
    """Debt, current and long-term, over equity."""
    _, year, now, _ = _of(view)
    if now["equity"] <= 0:
        return None
    text = (
        f"What is {view.filer.possessive} FY{year} debt to equity ratio? Debt to equity ratio is defined "
        "as: (current portion of long-term debt + long-term debt) / total shareholders' equity. Round your "
        f"answer to two decimal places. {_source(view, 'balance')}"
    )
    value = now["debt"] / now["equity"]
    return Question(
        text,
        f"{value:.2f}",
        ("balance",),
        printed(*filter(None, (now["debt_current"], now["debt_long"], now["equity"]))),
    )


def as_filed(template: Template) -> Template:
    """The template with, for most filings, the lines called what the filing calls them."""

    def worded(view: View) -> Question | None:
        question = template(view)
        if question is None or not view.draw("as filed", template.__name__).chance(0.7):
            return question
        text = question.text
        for short, filed in (
            ("PP&E", "property, plant and equipment, net"),
            ("COGS", view.filer.cost_label.lower()),
            ("capex", "capital expenditures"),
            ("cash from operations", "net cash provided by operating activities"),
            ("inventory between", "inventories between"),
            (f"FY{view.year} revenue", f"FY{view.year} {view.filer.revenue_label.lower()}"),
        ):
            text = text.replace(short, filed)
        return replace(question, text=text)

    return worded


TEMPLATES: tuple[Template, ...] = tuple(
    as_filed(template)
    for template in (
        capital_expenditure,
        fixed_asset_turnover,
        revenue_growth,
        inventory_turnover,
        free_cash_flow,
        days_sales,
        tax_rate,
        operating_cash_flow_ratio,
        average_capital_intensity,
        working_capital,
        return_on_assets,
        margin_change,
        days_payable,
        receivables,
        ebitda_margin,
        payout,
        average_net_margin,
        interest_coverage,
        debt_to_equity,
    )
)

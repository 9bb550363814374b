"""Family ``domain``: an analyst's judgement that rests on a figure, or on what management says moved it."""

from __future__ import annotations

from apportion.corpus.synthetic.questions import Question, Template, dollars, percentage, printed
from apportion.corpus.synthetic.view import View

UNLESS = " If {} is not a relevant metric for a company like this, then please state that and explain why."


def _unless(view: View, metric: str) -> str:
    """The reservation that some questions make."""
    return UNLESS.format(metric) if view.draw("unless", metric).chance(0.4) else ""


def _yes(verdict: bool) -> str:
    return "Yes" if verdict else "No"


def quick_ratio(view: View) -> Question:
    """Liquid assets against current liabilities."""
    now, name, year = view.now, view.filer.brief, view.year
    value = (now["cash"] + now["investments"] + now["receivables"]) / now["current_liabilities"]
    text = (
        f"Does {name} have a reasonably healthy liquidity profile based on its quick ratio for "
        f"FY{year}?{_unless(view, 'the quick ratio')}"
    )
    side = "above" if value >= 1 else "below"
    answer = f"{_yes(value >= 1)}. The quick ratio of {name} was {value:.2f} in FY{year}, {side} 1.0."
    return Question(
        text, answer, ("balance",), printed(now["cash"], now["receivables"], now["current_liabilities"])
    )


def gross_margin(view: View) -> Question:
    """Whether gross margin improved."""
    now, before, name, year = view.now, view.before, view.filer.brief, view.year
    values = now["gross"] / now["revenue"], before["gross"] / before["revenue"]
    text = (
        f"Does {name} have an improving gross margin profile as of FY{year}?{_unless(view, 'gross margin')}"
    )
    verb = "improved" if values[0] > values[1] else "declined"
    answer = (
        f"{_yes(values[0] > values[1])}. Gross margin {verb} from {percentage(values[1])} in FY{year - 1} "
        f"to {percentage(values[0])} in FY{year}."
    )
    return Question(
        text, answer, ("income",), printed(now["revenue"], now["cost"], before["revenue"], before["cost"])
    )


def operating_margin(view: View) -> Question:
    """Whether operating margin improved."""
    now, before, name, year = view.now, view.before, view.filer.brief, view.year
    values = now["operating"] / now["revenue"], before["operating"] / before["revenue"]
    text = f"Does {name} have an improving operating margin profile as of FY{year}?"
    verb = "improved" if values[0] > values[1] else "declined"
    answer = (
        f"{_yes(values[0] > values[1])}. Operating margin {verb} from {percentage(values[1])} in "
        f"FY{year - 1} to {percentage(values[0])} in FY{year}."
    )
    shown = printed(now["operating"], now["revenue"], before["operating"], before["revenue"])
    return Question(text, answer, ("income",), shown)


def capital_intensive(view: View) -> Question:
    """Capital spending against revenue."""
    now, name, year = view.now, view.filer.brief, view.year
    value = now["capex"] / now["revenue"]
    text = f"Is {name} a capital-intensive business based on FY{year} data?"
    verdict = "which is a high share" if value >= 0.1 else "which is a modest share"
    answer = (
        f"{_yes(value >= 0.1)}. Capital expenditures were {percentage(value)} of revenue in FY{year}, "
        f"{verdict}."
    )
    return Question(text, answer, ("income", "cash_flow"), printed(-now["capex"], now["revenue"]))


def positive_working_capital(view: View) -> Question:
    """The sign of working capital."""
    now, name, year = view.now, view.filer.brief, view.year
    value = now["current_assets"] - now["current_liabilities"]
    text = (
        f"Does {name} have positive working capital based on FY{year} data?{_unless(view, 'working capital')}"
    )
    sign = "positive" if value > 0 else "negative"
    answer = f"{_yes(value > 0)}. Working capital was {sign}, {dollars(view, value)} at the end of FY{year}."
    return Question(text, answer, ("balance",), printed(now["current_assets"], now["current_liabilities"]))


def best_activity(view: View) -> Question:
    """Which of the three activities brought in the most cash."""
    now, name, year = view.now, view.filer.brief, view.year
    flows = {"operating": now["cfo"], "investing": now["cfi"], "financing": now["cff"]}
    best = max(flows, key=lambda kind: flows[kind])
    text = (
        "Among operations, investing, and financing activities, which brought in the most (or lost the "
        f"least) cash flow for {name} in FY{year}?"
    )
    answer = f"{best.capitalize()} activities, with {dollars(view, flows[best])} in FY{year}."
    return Question(text, answer, ("cash_flow",), printed(*flows.values()))


def times_sold(view: View) -> Question:
    """Inventory turnover, where there is inventory."""
    now, before, name, year = view.now, view.before, view.filer.brief, view.year
    text = (
        f"Roughly how many times has {name} sold its inventory in FY{year}? Calculate inventory turnover "
        f"ratio for FY{year}; if conventional inventory management is not meaningful for the company then "
        "state that and explain why."
    )
    if not now["inventories"]:
        answer = (
            f"{name} holds no inventory; it supplies {view.filer.industry.offering}, so inventory turnover "
            "is not meaningful."
        )
        return Question(text, answer, ("balance",), printed(now["current_assets"]))
    value = now["cost"] / ((now["inventories"] + before["inventories"]) / 2)
    answer = f"{name} sold its inventory about {value:.1f} times in FY{year}."
    return Question(
        text, answer, ("income", "balance"), printed(now["cost"], now["inventories"], before["inventories"])
    )


def margin_driver(view: View) -> Question:
    """What management says moved gross margin."""
    name, year, driver = view.filer.brief, view.year, view.facts.margin_driver
    text = f"What drove gross margin change as of FY{year} for {name}?{_unless(view, 'gross margin')}"
    return Question(
        text,
        f"The change in gross margin was driven primarily by {driver}.",
        ("margin",),
        (driver.split()[0],),
    )


def revenue_driver(view: View) -> Question:
    """What management says moved revenue."""
    name, year, driver = view.filer.brief, view.year, view.facts.revenue_driver
    text = f"What drove revenue change as of the FY{year} for {name}?"
    return Question(text, f"The main reason was {driver}.", ("overview",), (driver.split()[0],))


def debt_increased(view: View) -> Question:
    """Debt on the balance sheet, two years."""
    now, before, name, year = view.now, view.before, view.filer.brief, view.year
    up = now["debt"] > before["debt"]
    text = f"Has {name} increased its debt on balance sheet between FY{year - 1} and the FY{year} period?"
    moved = "increased" if up else "decreased" if now["debt"] < before["debt"] else "did not change"
    answer = (
        f"{_yes(up)}. Total debt {moved}, from {dollars(view, before['debt'])} in FY{year - 1} to "
        f"{dollars(view, now['debt'])} in FY{year}."
    )
    return Question(text, answer, ("balance",), printed(now["debt_long"], before["debt_long"]))


def tax_rate_changed(view: View) -> Question | None:
    """Effective tax rate, two years."""
    now, before, name, year = view.now, view.before, view.filer.brief, view.year
    if min(now["pretax"], before["pretax"]) <= 0:
        return None
    values = now["tax"] / now["pretax"], before["tax"] / before["pretax"]
    verb = "increased" if values[0] > values[1] else "decreased"
    text = f"How much has the effective tax rate of {name} changed between FY{year - 1} and FY{year}?"
    answer = (
        f"The effective tax rate {verb} from {percentage(values[1])} in FY{year - 1} to "
        f"{percentage(values[0])} in FY{year}."
    )
    return Question(text, answer, ("tax_rate",), tuple(percentage(value) for value in values))


def pays_dividends(view: View) -> Question:
    """Whether dividends were paid."""
    now, name, year = view.now, view.filer.brief, view.year
    text = f"Did {name} pay dividends to common shareholders in FY{year}?"
    if now["dividends"]:
        answer = f"Yes. {name} paid dividends of {dollars(view, now['dividends'])} in FY{year}."
        return Question(text, answer, ("cash_flow",), printed(-now["dividends"]))
    return Question(
        text,
        f"No. {name} paid no dividends on its common stock in FY{year}.",
        ("market",),
        ("We paid no dividends",),
    )


def covers_dividends(view: View) -> Question | None:
    """Free cash flow against dividends."""
    now, year = view.now, view.year
    if not now["dividends"]:
        return None
    free = now["cfo"] - now["capex"]
    text = f"Did {view.filer.possessive} free cash flow cover the dividends that it paid in FY{year}?"
    side = "more" if free >= now["dividends"] else "less"
    answer = (
        f"{_yes(free >= now['dividends'])}. Free cash flow of {dollars(view, free)} was {side} than "
        f"dividends of {dollars(view, now['dividends'])}."
    )
    return Question(text, answer, ("cash_flow",), printed(now["cfo"], -now["capex"], -now["dividends"]))


def impaired(view: View) -> Question:
    """Whether goodwill was impaired."""
    now, name, year = view.now, view.filer.brief, view.year
    text = f"Did {name} record an impairment of goodwill in FY{year}, and if so how large was it?"
    if now["impairment"]:
        answer = (
            f"Yes. An impairment of goodwill of {dollars(view, now['impairment'])} was recorded in FY{year}."
        )
        return Question(text, answer, ("impairment",), printed(now["impairment"]))
    return Question(
        text, f"No. The annual test showed no impairment in FY{year}.", ("impairment",), ("no impairment",)
    )


def cash_quality(view: View) -> Question:
    """Operating cash flow against net income."""
    now, year = view.now, view.year
    text = f"Was {view.filer.possessive} cash flow from operations larger than its net income in FY{year}?"
    more = now["cfo"] > now["net_income"]
    answer = (
        f"{_yes(more)}. Cash flow from operations was {dollars(view, now['cfo'])} against net income of "
        f"{dollars(view, now['net_income'])}."
    )
    return Question(text, answer, ("cash_flow",), printed(now["cfo"], now["net_income"]))


def largest_liability(view: View) -> Question:
    """The largest line among the liabilities."""
    now, year = view.now, view.year
    lines = {
        "Accounts payable": "payables",
        "Accrued expenses and other current liabilities": "accrued",
        "Deferred revenue": "deferred_revenue",
        "Long-term debt, less current portion": "debt_long",
        "Long-term operating lease liabilities": "lease_long",
    }
    best = max(lines, key=lambda label: now[lines[label]])
    text = f"What was the largest liability in {view.filer.possessive} balance sheet in FY{year}?"
    return Question(
        text, f"{best}, {dollars(view, now[lines[best]])}.", ("balance",), (best, *printed(now[lines[best]]))
    )


def business_line(view: View) -> Question:
    """What the company does."""
    text = f"What are the major products and services that {view.filer.brief} sells as of FY{view.year}?"
    offering = view.filer.industry.offering
    return Question(text, f"{view.filer.brief} supplies {offering}.", ("business",), (offering.split()[0],))


TEMPLATES: tuple[Template, ...] = (
    quick_ratio,
    gross_margin,
    margin_driver,
    capital_intensive,
    best_activity,
    debt_increased,
    operating_margin,
    pays_dividends,
    times_sold,
    positive_working_capital,
    revenue_driver,
    impaired,
    tax_rate_changed,
    covers_dividends,
    cash_quality,
    largest_liability,
    business_line,
)

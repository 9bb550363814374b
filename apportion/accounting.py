"""Metrics of financial analysis with their formulas, and the line items and metrics that a text names.

Formulas are over line items (:mod:`apportion.line_items`) and other metrics. They know ``+ - * /`` and functions
of a year t: ``avg(x)``, the mean of x at t − 1 and t; ``change(x)``, x at t less x at t − 1; ``growth(x)``,
change(x) divided by the absolute value of x at t − 1; and ``optional(x)``, 0 where x isn't to be found.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from apportion.line_items import LINE_ITEMS, Unit


@dataclass(frozen=True, slots=True)
class Metric:
    """A figure computed from line items. ``better`` says which way an improvement goes."""

    name: str
    asked: tuple[str, ...]
    formula: str
    unit: Unit
    better: Literal["up", "down", "none"] = "none"


METRICS: tuple[Metric, ...] = (
    Metric(
        "gross_profit", ("gross profit",),
        "revenue - cost_of_revenue", "money", "up",
    ),
    Metric(
        "gross_margin", ("gross margin", "gross margins", "gross profit margin"),
        "gross_profit / revenue", "percent", "up",
    ),
    Metric(
        "operating_margin", ("operating margin", "operating margins", "operating income margin",
                             "operating profit margin", "ebit margin"),
        "operating_income / revenue", "percent", "up",
    ),
    Metric(
        "net_margin", ("net profit margin", "net margin", "net income margin", "profit margin"),
        "net_income / revenue", "percent", "up",
    ),
    Metric(
        "ebitda", ("ebitda", "unadjusted ebitda"),
        "operating_income + depreciation_amortization", "money", "up",
    ),
    Metric(
        "ebitda_margin", ("ebitda margin", "unadjusted ebitda margin"),
        "ebitda / revenue", "percent", "up",
    ),
    Metric(
        "free_cash_flow", ("free cash flow", "fcf", "free cashflow"),
        "operating_cash_flow - capital_expenditure", "money", "up",
    ),
    Metric(
        "free_cash_flow_conversion", ("free cash flow conversion", "free cashflow conversion", "fcf conversion"),
        "free_cash_flow / net_income", "percent", "up",
    ),
    Metric(
        "capital_intensity", ("capital intensity", "capital intensity ratio", "capital-intensive"),
        "capital_expenditure / revenue", "percent",
    ),
    Metric(
        "operating_cash_flow_ratio", ("operating cash flow ratio",),
        "operating_cash_flow / current_liabilities", "ratio", "up",
    ),
    Metric(
        "working_capital", ("working capital", "net working capital"),
        "current_assets - current_liabilities", "money", "up",
    ),
    Metric(
        "current_ratio", ("current ratio", "working capital ratio"),
        "current_assets / current_liabilities", "ratio", "up",
    ),
    Metric(
        "quick_ratio", ("quick ratio", "acid test ratio", "acid-test ratio"),
        "(cash + optional(short_term_investments) + accounts_receivable) / current_liabilities", "ratio", "up",
    ),
    Metric(
        "cash_ratio", ("cash ratio",),
        "cash / current_liabilities", "ratio", "up",
    ),
    Metric(
        "asset_turnover", ("asset turnover", "asset turnover ratio", "total asset turnover"),
        "revenue / avg(total_assets)", "ratio", "up",
    ),
    Metric(
        "fixed_asset_turnover", ("fixed asset turnover", "fixed asset turnover ratio"),
        "revenue / avg(ppe)", "ratio", "up",
    ),
    Metric(
        "inventory_turnover", ("inventory turnover", "inventory turnover ratio"),
        "cost_of_revenue / avg(inventory)", "ratio", "up",
    ),
    Metric(
        "receivables_turnover", ("receivables turnover", "receivable turnover"),
        "revenue / avg(accounts_receivable)", "ratio", "up",
    ),
    Metric(
        "days_inventory", ("dio", "days inventory outstanding", "days of inventory", "days inventory"),
        "365 * avg(inventory) / cost_of_revenue", "days", "down",
    ),
    Metric(
        "days_sales", ("dso", "days sales outstanding"),
        "365 * avg(accounts_receivable) / revenue", "days", "down",
    ),
    Metric(
        "days_payable", ("dpo", "days payable outstanding", "days payables outstanding"),
        "365 * avg(accounts_payable) / (cost_of_revenue + change(inventory))", "days",
    ),
    Metric(
        "cash_conversion_cycle", ("ccc", "cash conversion cycle"),
        "days_inventory + days_sales - days_payable", "days", "down",
    ),
    Metric(
        "return_on_assets", ("roa", "return on assets"),
        "net_income / avg(total_assets)", "ratio", "up",
    ),
    Metric(
        "return_on_equity", ("roe", "return on equity"),
        "net_income / avg(equity)", "ratio", "up",
    ),
    Metric(
        "effective_tax_rate", ("effective tax rate", "effective income tax rate", "etr"),
        "income_tax / pretax_income", "percent",
    ),
    Metric(
        "interest_coverage", ("interest coverage", "interest coverage ratio"),
        "operating_income / interest_expense", "ratio", "up",
    ),
    Metric(
        "payout_ratio", ("dividend payout ratio", "payout ratio"),
        "dividends_paid / net_income", "ratio",
    ),
    Metric(
        "retention_ratio", ("retention ratio", "plowback ratio"),
        "1 - dividends_paid / net_income", "ratio",
    ),
    Metric(
        "debt_to_equity", ("debt to equity", "debt-to-equity", "debt to equity ratio", "debt-to-equity ratio"),
        "debt / equity", "ratio", "down",
    ),
    Metric(
        "revenue_growth", ("revenue growth", "sales growth", "growth in revenue", "revenue growth rate"),
        "growth(revenue)", "percent", "up",
    ),
)  # fmt: skip

METRICS_BY_NAME = {metric.name: metric for metric in METRICS}


@dataclass(frozen=True, slots=True)
class Mention:
    """A line item or metric that a text names, at ``text[start:end]``."""

    name: str
    start: int
    end: int


def mentions(text: str) -> list[Mention]:
    """The line items and metrics that ``text`` names, left to right; the longest wording wins at each place."""
    names = _asked()
    return [
        Mention(names[fold(match[0])], match.start(), match.end())
        for match in _asked_pattern().finditer(text)
    ]


def fold(text: str) -> str:
    """Lower-case letters, digits, "&" and "%" of ``text``; spacing, hyphens and the like don't tell names apart."""
    return re.sub(r"[^a-z0-9&%]", "", text.lower())


def _wordings() -> list[tuple[str, str]]:
    """Wording and name of everything that can be asked for; metrics first, since they win where both share one."""
    asked = [(phrase, metric.name) for metric in METRICS for phrase in metric.asked]
    return asked + [(phrase, item.name) for item in LINE_ITEMS for phrase in item.asked]


@lru_cache(maxsize=1)
def _asked() -> dict[str, str]:
    return {fold(phrase): name for phrase, name in reversed(_wordings())}


@lru_cache(maxsize=1)
def _asked_pattern() -> re.Pattern[str]:
    patterns = []
    for phrase in sorted({phrase for phrase, _ in _wordings()}, key=lambda phrase: (-len(phrase), phrase)):
        words = [re.escape(word) for word in re.findall(r"[^\s,-]+", phrase)]
        patterns.append(r",?[\s-]+".join(words).replace("'", "['’]?"))
    return re.compile(r"(?<![\w&])(?:" + "|".join(patterns) + r")(?![\w&])", re.IGNORECASE)

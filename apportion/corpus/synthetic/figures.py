"""A filer's figures year by year, in whole units, such that every statement adds up by construction.

Balances follow from the flows that change them: plant from capital expenditures and depreciation, debt from issues and
repayments, retained earnings from income and dividends, and cash from everything. Nothing is a plug but cash itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apportion.corpus.synthetic.draws import Draw, rounded, split
from apportion.corpus.synthetic.filers import Filer

BASE_YEAR = 2017
"""The year whose closing balances start every filer's books."""
FIRST_YEAR = 2021
"""The fiscal year of every filer's first 10-K."""
REGIONS = ("United States", "Europe", "Asia Pacific", "Other countries")
MATURITY_YEARS = 5

CURRENT_ASSETS = ("cash", "investments", "receivables", "inventories", "prepaid")
OTHER_ASSETS = ("plant", "leased", "goodwill", "intangibles", "other_assets")
CURRENT_LIABILITIES = ("payables", "accrued", "deferred_revenue", "lease_current", "debt_current")
OTHER_LIABILITIES = ("debt_long", "lease_long", "deferred_tax", "other_liabilities")
EQUITY = ("paid_in", "retained", "other_comprehensive", "treasury")
WORKING = ("receivables", "inventories", "prepaid", "payables", "accrued", "deferred_revenue")


@dataclass(frozen=True)
class Segment:
    """One reportable segment's year."""

    name: str
    revenue: int
    income: int
    assets: int
    depreciation: int


@dataclass(frozen=True)
class Year:
    """One fiscal year. ``at`` holds every amount by name: flows of the year and balances at its end, outflows of cash
    as positive amounts. Per-share amounts (``eps``, ``diluted_eps``, ``dividend``) are in cents."""

    year: int
    at: Mapping[str, int]
    segments: tuple[Segment, ...]
    regions: tuple[int, ...]
    quarters: tuple[Mapping[str, int], ...]
    maturities: tuple[int, ...]
    lease_payments: tuple[int, ...]

    def __getitem__(self, name: str) -> int:
        return self.at[name]

    def total(self, names: tuple[str, ...]) -> int:
        """Sum of the named amounts."""
        return sum(self.at[name] for name in names)


def years_of(filer: Filer) -> Iterator[Year]:
    """The filer's years from :data:`BASE_YEAR` + 1 on, without end."""
    mix = _opening_mix(filer)
    before = _opening(filer)
    growth = filer.draw("growth")
    year = BASE_YEAR
    while True:
        year += 1
        draw = filer.draw("year", year)
        mix = [max(1, rounded(part * growth.between(0.90, 1.20))) for part in mix]
        current = _next_year(filer, year, mix, before, draw)
        yield current
        before = dict(current.at)


def _opening_mix(filer: Filer) -> list[int]:
    draw = filer.draw("mix")
    return split(filer.revenue, [draw.between(0.6, 2.0) for _ in filer.industry.segments])


def _opening(filer: Filer) -> dict[str, int]:
    """Closing balances of the base year; what assets exceed debts by is split over the lines of equity."""
    industry, revenue = filer.industry, filer.revenue
    at = {
        "revenue": revenue,
        "net_income": rounded(0.06 * revenue),
        "cash": rounded(0.11 * revenue),
        "investments": rounded(0.05 * revenue) if filer.invests else 0,
        "plant": rounded(industry.plant * revenue),
        "accumulated": rounded(0.7 * industry.plant * revenue),
        "leased": rounded(0.06 * revenue),
        "goodwill": rounded(0.22 * revenue),
        "intangibles": rounded(0.12 * revenue),
        "other_assets": rounded(0.03 * revenue),
        "deferred_tax": rounded(0.03 * revenue),
        "other_liabilities": rounded(0.04 * revenue),
        "notes": sum(note.face for note in filer.notes),
        "term_loan": rounded(0.08 * revenue),
        "shares": filer.shares,
        "other_comprehensive": -rounded(0.01 * revenue),
        "treasury": -rounded(0.03 * revenue) if filer.buys_back else 0,
        "paid_in": rounded(0.15 * revenue),
    }
    cost = revenue * (1 - filer.margin)
    at |= _working(filer, revenue, cost, filer.draw("opening"))
    at |= _split_leases(at["leased"])
    assets = sum(at[name] for name in CURRENT_ASSETS + OTHER_ASSETS)
    owed = sum(
        at[name]
        for name in ("payables", "accrued", "deferred_revenue", "lease_current", "lease_long", "deferred_tax")
    ) + (at["other_liabilities"] + at["notes"] + at["term_loan"])
    at["retained"] = assets - owed - at["paid_in"] - at["other_comprehensive"] - at["treasury"]
    return at


def _working(filer: Filer, revenue: int, cost: float, draw: Draw) -> dict[str, int]:
    industry = filer.industry
    return {
        "receivables": rounded(revenue * industry.receivable_days * draw.between(0.88, 1.12) / 365),
        "inventories": rounded(cost * industry.inventory_days * draw.between(0.85, 1.15) / 365)
        if industry.goods
        else 0,
        "prepaid": rounded(revenue * draw.between(0.015, 0.03)),
        "payables": rounded(cost * industry.payable_days * draw.between(0.88, 1.12) / 365),
        "accrued": rounded(revenue * filer.accrued_share * draw.between(0.9, 1.1)),
        "deferred_revenue": rounded(revenue * industry.deferred * draw.between(0.9, 1.1)),
    }


def _split_leases(leased: int) -> dict[str, int]:
    current, long = split(leased, (0.2, 0.8))
    return {"lease_current": current, "lease_long": long}


def _next_year(filer: Filer, year: int, mix: list[int], before: dict[str, int], draw: Draw) -> Year:
    at = _income(filer, year, sum(mix), before, draw)
    at |= _working(filer, at["revenue"], at["cost"], draw)
    at |= _flows(filer, year, at, before, draw)
    segments = _segments(filer, mix, at, draw)
    return Year(
        year=year,
        at=at,
        segments=segments,
        regions=tuple(split(at["revenue"], _region_weights(filer, draw))),
        quarters=_quarters(at, draw),
        maturities=maturities(filer, year, at),
        lease_payments=_lease_payments(at),
    )


def _income(filer: Filer, year: int, revenue: int, before: Mapping[str, int], draw: Draw) -> dict[str, int]:
    industry = filer.industry
    trouble = year == filer.trouble_year
    margin = filer.margin + draw.between(-0.025, 0.025) - (0.05 if trouble else 0)
    cost = rounded(revenue * (1 - margin))
    research = rounded(revenue * draw.between(*industry.research)) if industry.research[1] else 0
    selling = rounded(revenue * draw.between(*industry.selling))
    amortization = rounded(before["intangibles"] * 0.12)
    impairment = rounded(before["goodwill"] * draw.between(0.2, 0.4)) if trouble and draw.chance(0.7) else 0
    restructuring = rounded(revenue * draw.between(0.008, 0.02)) if trouble or draw.chance(0.25) else 0
    operating = revenue - cost - research - selling - amortization - impairment - restructuring
    owed = before["notes"] + before["term_loan"]
    interest = rounded(
        before["term_loan"] * 0.045 + sum(note.face * note.rate for note in filer.notes) / 10_000
    )
    other = rounded(revenue * draw.between(-0.003, 0.006))
    # Nothing at all before taxes would leave no rate to speak of.
    other += operating - interest + other == 0
    pretax = operating - interest + other
    at = {"revenue": revenue, "cost": cost, "gross": revenue - cost, "research": research, "selling": selling}
    at |= {"amortization": amortization, "impairment": impairment, "restructuring": restructuring}
    at |= {
        "operating": operating,
        "interest": interest,
        "other_income": other,
        "pretax": pretax,
        "owed_before": owed,
    }
    at |= _tax(pretax, impairment, before["deferred_tax"], draw)
    at["net_income"] = pretax - at["tax"]
    at["shares_diluted"] = rounded(before["shares"] * (1.012 if at["net_income"] > 0 else 1))
    at["shares_basic"] = before["shares"]
    at["eps"] = rounded(100 * at["net_income"] / at["shares_basic"])
    at["diluted_eps"] = rounded(100 * at["net_income"] / at["shares_diluted"])
    return at


def _tax(pretax: int, impairment: int, owed_later: int, draw: Draw) -> dict[str, int]:
    """Tax by reconciliation from the federal rate: half of an impairment is not deductible."""
    statutory = rounded(0.21 * pretax)
    state = rounded(pretax * draw.between(0.012, 0.035))
    foreign = -rounded(abs(pretax) * draw.between(0.0, 0.03))
    not_deductible = rounded(0.21 * impairment / 2)
    other = rounded(abs(pretax) * draw.between(-0.008, 0.012))
    tax = statutory + state + foreign + not_deductible + other
    deferred = max(rounded(tax * draw.between(-0.1, 0.25)), -owed_later)
    federal, state_part, abroad = split(abs(tax - deferred), (0.66, 0.14, 0.2))
    sign = 1 if tax >= deferred else -1
    return {
        "tax": tax, "tax_statutory": statutory, "tax_state": state, "tax_foreign": foreign,
        "tax_not_deductible": not_deductible, "tax_other": other, "deferred_tax_expense": deferred,
        "current_federal": sign * federal, "current_state": sign * state_part, "current_foreign": sign * abroad,
    }  # fmt: skip


def _flows(
    filer: Filer, year: int, at: Mapping[str, int], before: Mapping[str, int], draw: Draw
) -> dict[str, int]:
    """Cash flows of the year and the balances they leave."""
    industry, revenue = filer.industry, at["revenue"]
    new: dict[str, int] = {}
    new["depreciation"] = rounded(
        before["plant"] * draw.between(0.085, 0.115) * (0.4 if industry.plant > 1 else 1)
    )
    new["stock_compensation"] = rounded(revenue * draw.between(0.006, 0.018))
    for name in WORKING:
        new[f"change_{name}"] = at[name] - before[name]
    new["change_other_assets"] = rounded(before["other_assets"] * draw.between(-0.06, 0.09))
    new["change_other_liabilities"] = rounded(before["other_liabilities"] * draw.between(-0.07, 0.10))
    new["cfo"] = (
        at["net_income"] + new["depreciation"] + at["amortization"] + at["impairment"] + new["stock_compensation"]
        + at["deferred_tax_expense"] - new["change_receivables"] - new["change_inventories"] - new["change_prepaid"]
        + new["change_payables"] + new["change_accrued"] + new["change_deferred_revenue"]
        - new["change_other_assets"] + new["change_other_liabilities"]
    )  # fmt: skip
    new["capex"] = rounded(revenue * draw.between(*industry.capital))
    bought = draw.chance(0.3)
    new["acquired_goodwill"] = rounded(revenue * draw.between(0.02, 0.06)) if bought else 0
    new["acquired_intangibles"] = rounded(revenue * draw.between(0.01, 0.04)) if bought else 0
    new["acquisitions"] = new["acquired_goodwill"] + new["acquired_intangibles"]
    new["investments"] = rounded(revenue * draw.between(0.03, 0.08)) if filer.invests else 0
    new["investments_sold"] = rounded(before["investments"] * draw.between(0.5, 0.9))
    new["investments_bought"] = new["investments"] - before["investments"] + new["investments_sold"]
    if new["investments_bought"] < 0:
        new["investments_sold"] -= new["investments_bought"]
        new["investments_bought"] = 0
    new["cfi"] = new["investments_sold"] - new["investments_bought"] - new["capex"] - new["acquisitions"]
    new |= _financing(filer, year, at, new, before, draw)
    new["plant"] = before["plant"] + new["capex"] - new["depreciation"]
    new["accumulated"] = before["accumulated"] + new["depreciation"] - rounded(0.5 * new["depreciation"])
    new["leased"] = max(1, rounded(before["leased"] * draw.between(0.92, 1.12)))
    new |= _split_leases(new["leased"])
    new["goodwill"] = before["goodwill"] + new["acquired_goodwill"] - at["impairment"]
    new["intangibles"] = before["intangibles"] + new["acquired_intangibles"] - at["amortization"]
    new["other_assets"] = before["other_assets"] + new["change_other_assets"]
    new["deferred_tax"] = before["deferred_tax"] + at["deferred_tax_expense"]
    new["other_liabilities"] = before["other_liabilities"] + new["change_other_liabilities"]
    new["paid_in"] = before["paid_in"] + new["stock_compensation"] + new["stock_issued"]
    new["retained"] = before["retained"] + at["net_income"] - new["dividends"]
    new["other_comprehensive"] = before["other_comprehensive"] + new["currency"]
    new["treasury"] = before["treasury"] - new["repurchases"]
    return new | _totals(dict(at) | new)


def _financing(
    filer: Filer,
    year: int,
    at: Mapping[str, int],
    new: Mapping[str, int],
    before: Mapping[str, int],
    draw: Draw,
) -> dict[str, int]:
    """Debt, dividends and buybacks; the term loan takes what keeps cash between a floor and a ceiling."""
    revenue = at["revenue"]
    refinanced = sum(note.face for note in filer.notes if note.due_after(year - 1) == year)
    amortized = min(before["term_loan"], _instalment(filer))
    share = draw.between(0.25, 0.45)
    cents = (
        rounded(100 * share * max(before["net_income"], 0) / before["shares"]) if filer.pays_dividends else 0
    )
    # Four equal quarterly dividends.
    cents = 4 * max(1, cents // 4) if filer.pays_dividends and before["net_income"] > 0 else 0
    dividends = rounded(cents * before["shares"] / 100)
    repurchases = rounded(draw.between(0.1, 0.35) * max(at["net_income"], 0)) if filer.buys_back else 0
    issued = rounded(revenue * draw.between(0.0, 0.004))
    currency = rounded(revenue * draw.between(-0.003, 0.002))
    cash = before["cash"] + new["cfo"] + new["cfi"] - dividends - repurchases - amortized + issued + currency
    floor, ceiling = rounded(0.05 * revenue), rounded(0.22 * revenue)
    needed = floor - cash + rounded(0.03 * revenue) if cash < floor else 0
    # Who loses money sells shares rather than borrow.
    raised = needed if at["net_income"] < 0 and not filer.pays_dividends else 0
    borrowed, issued = needed - raised, issued + raised
    extra = min(max(cash - ceiling, 0), before["term_loan"] - amortized)
    returned = rounded(0.8 * max(cash - extra - ceiling, 0)) if filer.buys_back else 0
    repurchases += returned
    loan = before["term_loan"] - amortized - extra + borrowed
    flows = {
        "dividend": cents, "dividends": dividends, "repurchases": repurchases, "stock_issued": issued,
        "currency": currency, "debt_issued": borrowed + refinanced, "debt_repaid": amortized + extra + refinanced,
        "term_loan": loan, "notes": before["notes"],
        "cash": cash + needed - extra - returned, "cash_before": before["cash"],
    }  # fmt: skip
    flows["cff"] = flows["debt_issued"] - flows["debt_repaid"] - dividends - repurchases + issued
    flows["shares"] = max(1, before["shares"] - rounded(0.01 * before["shares"] * (1 if repurchases else 0)))
    due = sum(note.face for note in filer.notes if note.due_after(year) == year + 1)
    flows["debt_current"] = due + min(loan, _instalment(filer))
    flows["debt_long"] = loan + flows["notes"] - flows["debt_current"]
    return flows


def _instalment(filer: Filer) -> int:
    """What falls due of the term loan each year."""
    return max(1, rounded(0.012 * filer.revenue))


def maturities(filer: Filer, year: int, at: Mapping[str, int]) -> tuple[int, ...]:
    """Debt due in each of the next five years, and after them."""
    due = [0] * (MATURITY_YEARS + 1)
    for note in filer.notes:
        due[min(note.due_after(year) - year, MATURITY_YEARS + 1) - 1] += note.face
    left = at["term_loan"]
    for place in range(MATURITY_YEARS):
        # The loan runs for five years: what the instalments leave is due in the last of them.
        paid = left if place == MATURITY_YEARS - 1 else min(left, _instalment(filer))
        due[place] += paid
        left -= paid
    return tuple(due)


def _totals(at: Mapping[str, int]) -> dict[str, int]:
    def total(names: tuple[str, ...]) -> int:
        return sum(at[name] for name in names)

    totals = {"current_assets": total(CURRENT_ASSETS), "current_liabilities": total(CURRENT_LIABILITIES)}
    totals["assets"] = totals["current_assets"] + total(OTHER_ASSETS)
    totals["liabilities"] = totals["current_liabilities"] + total(OTHER_LIABILITIES)
    totals["equity"] = total(EQUITY)
    totals["debt"] = at["debt_current"] + at["debt_long"]
    return totals


def _segments(filer: Filer, mix: list[int], at: Mapping[str, int], draw: Draw) -> tuple[Segment, ...]:
    """Segments whose income, before what isn't allocated to them, sums to operating income."""
    unallocated = rounded(at["revenue"] * draw.between(0.012, 0.03)) + at["impairment"] + at["restructuring"]
    allocated = at["operating"] + unallocated
    weights = [part * draw.between(0.6, 1.5) for part in mix]
    sign = 1 if allocated >= 0 else -1
    incomes = [sign * part for part in split(abs(allocated), weights)]
    assets = split(
        at["assets"] - at["cash"] - at["investments"], [part * draw.between(0.7, 1.4) for part in mix]
    )
    charges = split(at["depreciation"] + at["amortization"], [part * draw.between(0.7, 1.4) for part in mix])
    return tuple(
        Segment(*row) for row in zip(filer.industry.segments, mix, incomes, assets, charges, strict=True)
    )


def _region_weights(filer: Filer, draw: Draw) -> list[float]:
    steady = filer.draw("regions")
    usual = [steady.between(low, high) for low, high in ((5, 8), (1, 2), (1, 2), (0.3, 1))]
    return [weight * draw.between(0.93, 1.07) for weight in usual]


def _quarters(at: Mapping[str, int], draw: Draw) -> tuple[Mapping[str, int], ...]:
    weights = [draw.between(0.9, 1.12) for _ in range(4)]
    parts = {
        "revenue": split(at["revenue"], weights),
        "gross": split(at["gross"], [w * draw.between(0.97, 1.03) for w in weights]),
    }
    uneven = split(abs(at["net_income"]), [w * draw.between(0.8, 1.2) for w in weights])
    parts["net_income"] = uneven if at["net_income"] >= 0 else [-part for part in uneven]
    return tuple({name: parts[name][quarter] for name in parts} for quarter in range(4))


def _lease_payments(at: Mapping[str, int]) -> tuple[int, ...]:
    """Payments in each of the next five years and after, and the interest in them that makes up the difference."""
    interest = rounded(0.11 * at["leased"])
    return (*split(at["leased"] + interest, (0.24, 0.2, 0.16, 0.13, 0.1, 0.17)), interest)

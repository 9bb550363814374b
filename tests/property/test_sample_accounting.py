"""Accounting identities over any filer, from the figures themselves."""

from __future__ import annotations

from itertools import islice, pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.corpus.synthetic.draws import Draw, rounded, split
from apportion.corpus.synthetic.figures import (
    CURRENT_ASSETS,
    CURRENT_LIABILITIES,
    EQUITY,
    OTHER_ASSETS,
    OTHER_LIABILITIES,
    WORKING,
    Year,
    years_of,
)
from apportion.corpus.synthetic.filers import make_filer

worlds = st.tuples(st.integers(0, 10_000), st.integers(0, 2_000), st.integers(2, 14))


def books(world: tuple[int, int, int]) -> list[Year]:
    seed, index, count = world
    return list(islice(years_of(make_filer(index, seed)), count))


@settings(max_examples=120, deadline=None)
@given(worlds)
def test_the_balance_sheet_balances(world: tuple[int, int, int]) -> None:
    for year in books(world):
        assert year["assets"] == year["liabilities"] + year["equity"]
        assert year["current_assets"] == year.total(CURRENT_ASSETS)
        assert year["assets"] == year["current_assets"] + year.total(OTHER_ASSETS)
        assert year["current_liabilities"] == year.total(CURRENT_LIABILITIES)
        assert year["liabilities"] == year["current_liabilities"] + year.total(OTHER_LIABILITIES)
        assert year["equity"] == year.total(EQUITY)


@settings(max_examples=120, deadline=None)
@given(worlds)
def test_cash_flows_tie_to_cash(world: tuple[int, int, int]) -> None:
    years = books(world)
    for year in years:
        assert (
            year["cash"] - year["cash_before"] == year["cfo"] + year["cfi"] + year["cff"] + year["currency"]
        )
        assert year["cash"] > 0
    for before, year in pairwise(years):
        assert year["cash_before"] == before["cash"]
        for name in WORKING:
            assert year[f"change_{name}"] == year[name] - before[name]


@settings(max_examples=120, deadline=None)
@given(worlds)
def test_income_adds_up(world: tuple[int, int, int]) -> None:
    for year in books(world):
        costs = ("cost", "research", "selling", "amortization", "impairment", "restructuring")
        assert year["operating"] == year["revenue"] - year.total(costs)
        assert year["gross"] == year["revenue"] - year["cost"]
        assert year["pretax"] == year["operating"] - year["interest"] + year["other_income"]
        assert year["net_income"] == year["pretax"] - year["tax"]
        steps = ("tax_statutory", "tax_state", "tax_foreign", "tax_not_deductible", "tax_other")
        assert year["tax"] == year.total(steps)
        kinds = ("current_federal", "current_state", "current_foreign", "deferred_tax_expense")
        assert year["tax"] == year.total(kinds)
        assert year["revenue"] > 0
        assert year["interest"] > 0


@settings(max_examples=120, deadline=None)
@given(worlds)
def test_balances_roll_forward(world: tuple[int, int, int]) -> None:
    for before, year in pairwise(books(world)):
        assert year["retained"] == before["retained"] + year["net_income"] - year["dividends"]
        assert year["plant"] == before["plant"] + year["capex"] - year["depreciation"]
        assert year["goodwill"] == before["goodwill"] + year["acquired_goodwill"] - year["impairment"]
        assert (
            year["intangibles"] == before["intangibles"] + year["acquired_intangibles"] - year["amortization"]
        )
        assert year["debt"] == before["debt"] + year["debt_issued"] - year["debt_repaid"]
        assert year["treasury"] == before["treasury"] - year["repurchases"]
        assert year["paid_in"] == before["paid_in"] + year["stock_compensation"] + year["stock_issued"]
        assert year["shares"] > 0


@settings(max_examples=120, deadline=None)
@given(worlds)
def test_parts_sum_to_their_totals(world: tuple[int, int, int]) -> None:
    for year in books(world):
        assert sum(segment.revenue for segment in year.segments) == year["revenue"]
        assert sum(year.regions) == year["revenue"]
        assets = sum(segment.assets for segment in year.segments)
        assert assets + year["cash"] + year["investments"] == year["assets"]
        charges = sum(segment.depreciation for segment in year.segments)
        assert charges == year["depreciation"] + year["amortization"]
        assert sum(year.maturities) == year["debt"] == year["debt_current"] + year["debt_long"]
        assert year.maturities[0] == year["debt_current"]
        *payments, interest = year.lease_payments
        assert sum(payments) - interest == year["leased"] == year["lease_current"] + year["lease_long"]
        for name in ("revenue", "gross", "net_income"):
            assert sum(quarter[name] for quarter in year.quarters) == year[name]
        assert year["dividends"] == rounded(year["dividend"] * year["shares_basic"] / 100)


@given(st.integers(0, 10**9), st.lists(st.floats(0.01, 100), min_size=1, max_size=8))
def test_split_sums_and_stays_close(total: int, weights: list[float]) -> None:
    parts = split(total, weights)
    assert sum(parts) == total
    assert min(parts) >= 0
    for part, weight in zip(parts, weights, strict=True):
        assert abs(part - total * weight / sum(weights)) <= len(weights)


@given(st.integers(), st.integers(-50, 50), st.integers(0, 60))
def test_draws_keep_their_range_and_repeat(key: int, low: int, width: int) -> None:
    draw, again = Draw("t", key), Draw("t", key)
    values = [draw.integer(low, low + width) for _ in range(20)]
    assert values == [again.integer(low, low + width) for _ in range(20)]
    assert all(low <= value <= low + width for value in values)
    assert sorted(draw.shuffled(range(width))) == list(range(width))

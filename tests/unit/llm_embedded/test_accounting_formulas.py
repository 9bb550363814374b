from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.accounting import METRICS, fold, mentions
from apportion.line_items import ITEMS_BY_NAME, LINE_ITEMS
from apportion.llm.embedded.expressions import (
    MissingFigureError,
    evaluate,
    formula,
    parse_formula,
    parse_worded,
    years_in,
)

FIGURES = st.floats(min_value=1, max_value=1e6)


def test_names_are_unique_across_items_and_metrics():
    names = [entry.name for entry in (*LINE_ITEMS, *METRICS)]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("entry", [*METRICS, *LINE_ITEMS], ids=lambda entry: entry.name)
def test_every_wording_finds_its_own_entry(entry):
    for phrase in entry.asked:
        (found,) = mentions(f"the {phrase} of")
        assert found.name == entry.name


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_every_metric_comes_down_to_line_items(metric):
    asked = set()

    def figure(name, year):
        asked.add(name)
        return 7.0 + 3 * year - 6000 + len(name)

    evaluate(formula(metric.name), 2020, figure)
    assert asked
    assert asked <= set(ITEMS_BY_NAME)


@pytest.mark.parametrize("item", [item for item in LINE_ITEMS if item.derived], ids=lambda item: item.name)
def test_every_derivation_ends(item):
    with pytest.raises(MissingFigureError):
        evaluate(formula(item.name), 2020, lambda name, year: None)


@given(st.lists(FIGURES, min_size=6, max_size=6))
def test_a_worded_formula_is_its_arithmetic(values):
    table = dict(
        zip(
            [("accounts_payable", 2016), ("accounts_payable", 2017), ("cost_of_revenue", 2017),
             ("inventory", 2016), ("inventory", 2017), ("revenue", 2017)],
            values, strict=True,
        )
    )  # fmt: skip
    worded = parse_worded(
        "365 * (average accounts payable between FY2016 and FY2017) / "
        "(FY2017 COGS + change in inventory between FY2016 and FY2017) - FY2017 revenue",
        {},
    )
    assert worded is not None
    before, after, cost, was, now, revenue = values
    divisor = cost + now - was
    if divisor == 0:
        return
    expected = 365 * (before + after) / 2 / divisor - revenue
    assert evaluate(worded, 2017, lambda name, year: table.get((name, year))) == pytest.approx(expected)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("revenue - cost_of_revenue - sga", 100 - 60 - 10),
        ("revenue / (cost_of_revenue - sga) * 2", 100 / 50 * 2),
        ("1 - sga / revenue", 0.9),
        ("(revenue + optional(goodwill)) / sga", 10),
    ],
)
def test_precedence_and_brackets(text, value):
    table = {"revenue": 100.0, "cost_of_revenue": 60.0, "sga": 10.0}
    assert evaluate(parse_formula(text), 2020, lambda name, year: table.get(name)) == pytest.approx(value)


@pytest.mark.parametrize("text", ["", "revenue +", "(revenue", "revenue revenue", "churn", "revenue ) ("])
def test_what_is_no_formula_is_refused(text):
    with pytest.raises(ValueError, match="formula"):
        parse_formula(text)


def test_an_unknown_word_makes_the_whole_formula_unknown():
    assert parse_worded("churned seats / all seats", {}) is None


def test_nothing_is_divided_by_zero():
    with pytest.raises(MissingFigureError, match="zero"):
        evaluate(parse_formula("revenue / sga"), 2020, lambda name, year: 0.0)


@pytest.mark.parametrize(
    ("text", "years"),
    [
        ("FY2018 - FY2020", [2018, 2020]),
        ("between FY16 and FY17", [2016, 2017]),
        ("fiscal 2019 and 2019", [2019]),
        ("in 1,999 stores", []),
    ],
)
def test_years_are_read_as_written(text, years):
    assert years_in(text) == years


def test_folding_forgets_spacing_and_hyphens():
    assert fold("Long-Term  Debt") == fold("longterm debt")

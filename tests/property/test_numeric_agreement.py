from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.answers.numeric import figures, numeric_agreement, result_figure

MILLIONS = "What is the FY2018 capital expenditure amount (in USD millions)?"
PERCENT = "What was the margin? Answer in units of percents and round to one decimal place."
PLAIN = "What was it?"


@pytest.mark.parametrize("answer", ["$1,577", "1577.00", "$1.577 billion", "$1,577 million", "1577", 1577])
def test_one_amount_however_written(answer):
    assert numeric_agreement(answer, "$1577.00", MILLIONS) == "agree"
    assert numeric_agreement(answer, 1577, MILLIONS) == "agree"


def test_a_whole_amount_in_dollars_answers_a_question_in_millions():
    assert numeric_agreement("$1,577,000,000", "$1577.00", MILLIONS) == "agree"
    assert numeric_agreement("$1,577 billion", "$1577.00", MILLIONS) == "disagree"
    assert numeric_agreement("$1.577", "$1577.00", MILLIONS) == "disagree"


@pytest.mark.parametrize("answer", ["60%", "60", "0.60"])
def test_percent_where_the_question_states_it(answer):
    assert numeric_agreement(answer, "60%", PERCENT) == "agree"


@pytest.mark.parametrize(
    ("answer", "gold"), [("60", "60%"), ("0.60", "60%"), ("60%", "60"), ("60%", "0.60"), ("60", "0.60")]
)
def test_percent_where_nothing_states_it_is_ambiguous(answer, gold):
    assert numeric_agreement(answer, gold, PLAIN) == "ambiguous"


@pytest.mark.parametrize(("answer", "gold"), [("60%", "60%"), ("60", "60"), ("0.60", "0.6")])
def test_the_same_reading_needs_no_stated_unit(answer, gold):
    assert numeric_agreement(answer, gold, PLAIN) == "agree"


def test_an_explicit_percent_is_taken_at_its_word():
    assert numeric_agreement("0.60%", "60%", PERCENT) == "disagree"
    assert numeric_agreement("60 bps", "0.6%", PERCENT) == "agree"


def test_the_result_counts_and_not_the_working():
    working = "6,489 / 267.5 = 24.26"
    assert numeric_agreement(working, "24.26", PLAIN) == "agree"
    assert numeric_agreement(working, "267.5", PLAIN) == "disagree"
    assert numeric_agreement(working, "6489", PLAIN) == "disagree"


@pytest.mark.parametrize(
    "text", ["(500)", "-500", "−500", "- (500)", "-(500)", "$(500)", "($500)", "-$500", "(-500)"]
)
def test_a_loss_is_turned_once(text):
    (figure,) = figures(text)
    assert figure.value == -500


def test_a_decrease_in_words_agrees_with_a_negative_gold():
    assert numeric_agreement("Revenue declined by 5.2%", "-5.2%", PERCENT) == "agree"
    assert numeric_agreement("Revenue rose by 5.2%", "-5.2%", PERCENT) == "disagree"


@pytest.mark.parametrize(
    "text",
    [
        "In fiscal 2019, on December 31, 2019",
        "FY2018",
        "for the years 2017 to 2019",
        "Note A",
        "10K",
        "the 10-K and the 8-K",
        "Q2 of 2023",
    ],
)
def test_dates_and_labels_are_no_figures(text):
    assert figures(text) == []


def test_a_year_alone_is_a_number():
    assert numeric_agreement("2018", "2018", PLAIN) == "agree"


def test_words_are_not_numeric():
    assert numeric_agreement("Yes", "Yes, because sales fell", PLAIN) == "not_numeric"
    assert numeric_agreement("1", "It went from 36.8% to 34.6%", PLAIN) == "not_numeric"


@pytest.mark.parametrize("answer", [None, "", "not in the pages provided", "cannot tell"])
def test_no_figure_disagrees(answer):
    assert numeric_agreement(answer, "12.5", PLAIN) == "disagree"


@pytest.mark.parametrize(("answer", "gold"), [("0.7983", "0.8"), ("24.264", "24.26"), ("-0.0153", "-0.02")])
def test_more_digits_than_gold_prints(answer, gold):
    assert numeric_agreement(answer, gold, PLAIN) == "agree"


@pytest.mark.parametrize(
    ("answer", "gold"), [("1.6 billion", "$1577.00"), ("0.74", "0.8"), ("24.4", "24.26")]
)
def test_beyond_half_a_percent_and_the_printed_digits(answer, gold):
    assert numeric_agreement(answer, gold, MILLIONS) == "disagree"


AMOUNTS = st.integers(min_value=1, max_value=10**7)
SIGNS = st.sampled_from([1, -1])


@given(AMOUNTS, SIGNS, st.sampled_from(["{}", "${}", "${} million", "The total was ${} million.", "**{}**"]))
def test_every_way_to_print_an_amount_agrees(amount, sign, form):
    shown = form.format(f"{amount:,}")
    shown = f"-{shown}" if sign < 0 and not shown.startswith(("T", "*")) else shown
    gold = f"{'-' if shown.startswith('-') else ''}${amount}.00"
    assert numeric_agreement(shown, gold, MILLIONS) == "agree"


@given(AMOUNTS.filter(lambda amount: amount > 100))
def test_the_other_sign_disagrees(amount):
    assert numeric_agreement(f"({amount})", str(amount), MILLIONS) == "disagree"


@given(st.decimals(min_value=1, max_value=10**6, places=2), st.sampled_from([1.02, 0.98, 2, 0.5]))
def test_two_percent_off_disagrees(gold, factor):
    # From 1 on, two percent are more than the half cent by which a printed figure may be rounded.
    assert numeric_agreement(f"{float(gold) * factor:.6f}", f"{gold}", PLAIN) == "disagree"


@given(st.text(max_size=60), st.text(max_size=60), st.text(max_size=30))
def test_any_text_gets_a_verdict(answer, gold, question):
    assert numeric_agreement(answer, gold, question) in ("agree", "disagree", "ambiguous", "not_numeric")


@given(st.text(max_size=80))
def test_a_result_is_one_of_the_figures(text):
    result = result_figure(text)
    assert (result is None) == (figures(text) == [])
    assert result is None or result in figures(text)

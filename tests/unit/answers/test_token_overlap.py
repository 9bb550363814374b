from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.answers.overlap import token_f1, tokens

WORDS = st.lists(st.sampled_from(["sales", "fell", "1577", "europe", "margin"]), max_size=8).map(" ".join)


def plain_f1(left, right):
    left, right = left.split(), right.split()
    shared = sum(min(left.count(word), right.count(word)) for word in set(left))
    if not left or not right:
        return float(left == right)
    if not shared:
        return 0.0
    precision, recall = shared / len(left), shared / len(right)
    return 2 * precision * recall / (precision + recall)


@given(WORDS, WORDS)
def test_is_the_harmonic_mean_of_precision_and_recall(left, right):
    assert token_f1(left, right) == pytest.approx(plain_f1(left, right))
    assert token_f1(left, right) == token_f1(right, left)


def test_the_way_a_number_is_printed_does_not_count():
    assert tokens("The $1,577.00!") == ["1577"]
    assert Counter(tokens("A margin of 5.10% (net)")) == Counter(["margin", "of", "5.1", "net"])

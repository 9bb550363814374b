"""The fast index gives what scikit-learn's vectorisers give, and never leaves its scope."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import TfidfVectorizer

from apportion.retrieval.tfidf import CharacterVectors, HybridTfidf

TEXTS = [
    "Consolidated balance sheet: total assets 1,234; total liabilities (567)",
    "what's R&D, 50%? Capital expenditure — purchases of PP&E",
    "a b  c\n\n\tI  ré e ﬁ x",
    "Revenue revenue REVENUE 2,019 2,020",
    "",
]


def pages(texts: list[str], filings: list[str]) -> pl.DataFrame:
    return pl.DataFrame({"filing_id": filings, "page_number": list(range(len(texts))), "text": texts})


@settings(max_examples=60, deadline=None)
@given(st.lists(st.text(alphabet="abcé 1%&\n\t.,", max_size=30), min_size=1, max_size=6))
def test_character_vectors_are_scikit_learn_s(texts: list[str]) -> None:
    plain = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    try:
        expected = plain.fit_transform(texts)
    except ValueError:
        with pytest.raises(ValueError, match="empty vocabulary"):
            CharacterVectors().fit_transform(texts)
        return
    ours = CharacterVectors()
    found = ours.fit_transform(texts)
    # Columns may stand in another order: what counts is every inner product.
    assert np.allclose((found @ found.T).toarray(), (expected @ expected.T).toarray(), atol=1e-12)
    query = ["abc 1%", "é"]
    left, right = ours.transform(query) @ found.T, plain.transform(query) @ expected.T
    assert np.allclose(left.toarray(), right.toarray(), atol=1e-12)


def test_scores_are_the_weighted_cosines() -> None:
    index = HybridTfidf(pages(TEXTS[:4], ["a"] * 4))
    words = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)
    characters = TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True)
    question = "total assets in 2019"
    expected = np.zeros(4)
    for weight, model in ((0.7, words), (0.3, characters)):
        matrix = model.fit_transform(TEXTS[:4])
        expected += weight * (matrix @ model.transform([question]).T).toarray().ravel()
    (ranking,) = index.rank([question], ["a"], 4)
    assert [page.score for page in ranking] == pytest.approx(sorted(expected, reverse=True))


def test_scope_is_applied_before_the_cut() -> None:
    texts = [f"assets assets page {i}" for i in range(50)]
    filings = ["big"] * 48 + ["small"] * 2
    index = HybridTfidf(pages(texts, filings))
    (ranking,) = index.rank(["assets"], ["small"], 5)
    assert sorted(page.row for page in ranking) == [48, 49]
    assert index.rank(["assets"], ["absent"], 5) == [[]]
    assert len(index.rank(["assets"], [None], 5)[0]) == 5


@pytest.mark.parametrize("question", ["what's R&D, 50%?", '"', "'; DROP TABLE pages; --", "", "* OR 1"])
def test_any_question_is_words(question: str) -> None:
    index = HybridTfidf(pages(TEXTS, ["a"] * 5))
    (ranking,) = index.rank([question], ["a"], 3)
    assert len(ranking) == 3
    if "R&D" in question:
        assert ranking[0].row == 1


def test_ties_go_to_the_earlier_page() -> None:
    index = HybridTfidf(pages(["same words"] * 4, ["b", "a", "a", "b"]))
    (ranking,) = index.rank(["same words"], [None], 4)
    assert [index.pages.row(page.row)[:2] for page in ranking] == [("a", 1), ("a", 2), ("b", 0), ("b", 3)]


def test_pages_without_a_word_rank_last_and_break_nothing() -> None:
    index = HybridTfidf(pages(["", " \n", "assets"], ["a"] * 3))
    (ranking,) = index.rank(["assets"], ["a"], 3)
    assert ranking[0].row == 2
    assert HybridTfidf(pages(["", ""], ["a"] * 2)).rank(["assets"], ["a"], 2)[0][0].score == 0

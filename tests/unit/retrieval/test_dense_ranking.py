"""Dense ranking beside its plain definition, and what it is for: pages that mean the same in other words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.metrics.pairwise import cosine_similarity

from apportion.corpus.sample import stream_pages
from apportion.retrieval import latent
from apportion.retrieval.dense import Dense
from apportion.retrieval.shards import IndexFolder


def indexed(folder: Path, pages: pl.DataFrame) -> IndexFolder:
    index = IndexFolder(folder)
    index.add(pages)
    return index


def test_scores_are_those_of_the_plain_definition(tmp_path: Path) -> None:
    pages = next(stream_pages(1, 1, 4))
    texts = pages["text"].to_list()
    question = "How much was paid in dividends, and what did interest cost?"
    plain = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True, min_df=2)
    matrix = plain.fit_transform(texts)
    reduced = TruncatedSVD(len(texts) - 1, algorithm="arpack", random_state=0).fit(matrix)
    expected = cosine_similarity(
        reduced.transform(matrix), reduced.transform(plain.transform([question]))
    ).ravel()
    index = indexed(tmp_path, pages)
    (ranking,) = Dense(index, dict.fromkeys(index.filings)).rank([question], index.filings[:1], len(texts))
    scores = np.zeros(len(texts))
    scores[[page.number for page in ranking]] = [page.score for page in ranking]
    assert len(ranking) == len(texts)
    assert scores == pytest.approx(expected, abs=1e-4)


def test_a_page_in_other_words_stands_before_one_on_something_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latent, "DIMENSIONS", 2)
    texts = [
        *["revenue sales turnover"] * 4,
        *["leases rent premises"] * 4,
        "sales turnover",
        "rent premises",
    ]
    pages = pl.DataFrame({"filing_id": ["f"] * len(texts), "page_number": range(len(texts)), "text": texts})
    index = indexed(tmp_path, pages)
    (ranking,) = Dense(index, {"f": None}).rank(["revenue"], ["f"], len(texts))
    order = [page.number for page in ranking]
    assert order.index(8) < min(order.index(number) for number in (4, 5, 6, 7, 9))
    (nothing,) = Dense(index, {"f": None}).rank(["unheard of"], ["f"], 3)
    assert [(page.number, page.score) for page in nothing] == [(0, 0.0), (1, 0.0), (2, 0.0)]


def test_a_large_scope_is_fitted_on_a_sample_that_its_order_does_not_change(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(latent, "SAMPLE", 20)
    pages = pl.concat(stream_pages(2, 1, 4))
    index = indexed(tmp_path, pages)
    rankings = [
        Dense(index, dict.fromkeys(order)).rank(["net revenue"], [None], 10)
        for order in (index.filings, index.filings[::-1])
    ]
    assert rankings[0] == rankings[1]
    assert len(rankings[0][0]) == 10

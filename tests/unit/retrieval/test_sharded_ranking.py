"""Shards give what a rebuild gives, scope comes before the cut, and any question is words."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.feature_extraction.text import CountVectorizer

from apportion.retrieval.fulltext import FullText
from apportion.retrieval.fusion import Fusion, fuse
from apportion.retrieval.ranking import Ranked
from apportion.retrieval.retrievers import RETRIEVERS, check_retriever, rank_within_filings
from apportion.retrieval.sharded import ShardedTfidf
from apportion.retrieval.shards import IndexFolder
from apportion.retrieval.terms import character_counts, word_counts
from apportion.retrieval.tfidf import HybridTfidf

WORDS = ["assets", "total", "R&D", "revenue", "2,019", "été", "a", "(567)", "capital", "ﬁscal", "İstanbul"]
TEXT = st.lists(st.sampled_from(WORDS), max_size=12).map(" ".join)


def pages(texts: list[str], filings: list[str]) -> pl.DataFrame:
    return pl.DataFrame(
        {"filing_id": filings, "page_number": list(range(len(texts))), "text": texts},
        schema={"filing_id": pl.String, "page_number": pl.Int64, "text": pl.String},
    )


def folder_of(place: Path, frame: pl.DataFrame) -> IndexFolder:
    index = IndexFolder(place)
    index.add(frame)
    return index


@settings(max_examples=60, deadline=None)
@given(st.lists(st.one_of(TEXT, st.text(max_size=20)), min_size=1, max_size=5))
def test_terms_are_counted_as_scikit_learn_counts_them(texts: list[str]) -> None:
    for counted, options in (
        (word_counts(texts), {"ngram_range": (1, 2)}),
        (character_counts(texts), {"analyzer": "char_wb", "ngram_range": (3, 5)}),
    ):
        try:
            expected = CountVectorizer(**options).fit_transform(texts)  # type: ignore[arg-type]
        except ValueError:
            assert counted.counts.nnz == 0
            continue
        found = counted.counts
        assert found.shape == expected.shape
        assert ((found @ found.T) != (expected @ expected.T)).nnz == 0
        assert sorted(counted.document_frequencies()) == sorted(np.bincount(expected.indices).tolist())


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(TEXT, st.sampled_from(["a", "b", "c"])), min_size=2, max_size=10), TEXT)
def test_merged_shards_rank_as_a_rebuild(
    tmp_path_factory: pytest.TempPathFactory, listed: list[tuple[str, str]], question: str
) -> None:
    frame = pages([text for text, _ in listed], [filing for _, filing in listed])
    whole = HybridTfidf(frame)
    index = folder_of(tmp_path_factory.mktemp("shards"), frame)
    filings = ["a", "b", None]
    expected = whole.rank([question] * 3, filings, 20)
    found = ShardedTfidf(index, dict.fromkeys(index.filings)).rank([question] * 3, filings, 20)
    for ours, theirs in zip(found, expected, strict=True):
        by_page = {whole.pages.row(page.row)[:2]: page.score for page in theirs}
        assert {(page.filing_id, page.number) for page in ours} == set(by_page)
        for page in ours:
            assert page.score == pytest.approx(by_page[page.filing_id, page.number], abs=1e-9)


def test_adding_a_filing_indexes_that_filing_only_and_ranks_as_from_scratch(tmp_path: Path) -> None:
    texts = [f"{WORDS[i % 7]} {WORDS[(i * 3) % 11]} page {i}" for i in range(30)]
    frame = pages(texts, [f"f{i // 3}" for i in range(30)])
    grown = folder_of(tmp_path / "grown", frame.filter(pl.col("filing_id") != "f9"))
    assert grown.add(frame) == 1
    scratch = folder_of(tmp_path / "scratch", frame)
    for ranker in RETRIEVERS.values():
        assert [
            ranker(index, dict.fromkeys(index.filings)).rank(["total assets revenue"], [None], 30)
            for index in (grown, scratch)
        ].count(
            ranker(scratch, dict.fromkeys(scratch.filings)).rank(["total assets revenue"], [None], 30)
        ) == 2


def test_changed_pages_have_a_shard_of_their_own(tmp_path: Path) -> None:
    index = folder_of(tmp_path, pages(["assets 1,234"], ["a"]))
    assert index.add(pages(["assets 1,235"], ["a"])) == 1
    (ranking,) = FullText(index, {"a": None}).rank(["1,235"], ["a"], 1)
    assert ranking[0].score > 0
    assert len(list((tmp_path / "a").iterdir())) == 6
    assert index.forget_others(["a"]) == 3
    assert len(list((tmp_path / "a").iterdir())) == 3


@pytest.mark.parametrize("name", RETRIEVERS)
def test_scope_is_applied_before_the_cut(tmp_path: Path, name: str) -> None:
    frame = pages(
        ["assets and more assets"] * 48 + ["nothing of the kind", "assets"], ["big"] * 48 + ["small"] * 2
    )
    index = folder_of(tmp_path, frame)
    scope = dict.fromkeys(index.filings)
    (ranking,) = RETRIEVERS[name](index, scope).rank(["assets"], ["small"], 5)
    assert [page.number for page in ranking] == [49, 48]
    (alone,) = rank_within_filings(name, index, scope, ["assets"], ["small"], 5)
    assert {(page.filing_id, page.number) for page in alone} == {("small", 48), ("small", 49)}
    assert RETRIEVERS[name](index, scope).rank(["assets"], ["absent"], 5) == [[]]
    assert rank_within_filings(name, index, scope, ["assets"], [None], 5) == [[]]
    (cited,) = RETRIEVERS[name](index, {"big": [3, 7]}).rank(["assets"], [None], 5)
    assert [page.number for page in cited] == [3, 7]


@pytest.mark.parametrize(
    ("question", "plain"),
    [
        ("what's R&D, 50%?", "what s R D 50"),
        ('"', ""),
        ('"total assets', "total assets"),
        ("total AND assets", "total and assets"),
        ("assets* NEAR(", "assets near"),
        ("col:assets - ^total", "col assets total"),
    ],
)
def test_signs_in_a_question_are_not_a_query_language(tmp_path: Path, question: str, plain: str) -> None:
    texts = ["R&D expenses were 50% of revenue", "total assets 1,234", "nothing near it and so on"]
    index = folder_of(tmp_path, pages(texts, ["a"] * 3))
    ranker = FullText(index, {"a": None})
    assert ranker.rank([question], ["a"], 3) == ranker.rank([plain], ["a"], 3)
    assert len(ranker.rank([question], ["a"], 3)[0]) == 3


def test_bm25_is_what_its_formula_says(tmp_path: Path) -> None:
    index = folder_of(tmp_path, pages(["assets assets total", "total", "other words here"], ["a", "a", "b"]))
    (ranking,) = FullText(index, dict.fromkeys(["a", "b"])).rank(["assets"], [None], 3)
    mean = (3 + 1 + 3) / 3
    idf = np.log(1 + (3 - 1 + 0.5) / (1 + 0.5))
    expected = idf * 2 * 2.2 / (2 + 1.2 * (1 - 0.75 + 0.75 * 3 / mean))
    assert ranking[0] == Ranked("a", 0, pytest.approx(expected))
    assert [(page.filing_id, page.number, page.score) for page in ranking[1:]] == [
        ("a", 1, 0),
        ("b", 2, 0),
    ]


def test_a_page_in_both_lists_stands_once_and_ties_go_to_the_earlier_page(tmp_path: Path) -> None:
    first = [Ranked("a", 1, 0.9), Ranked("a", 2, 0.5)]
    second = [Ranked("a", 2, 7.0), Ranked("a", 1, 3.0)]
    fused = fuse([first, second])
    assert {(page.number, page.score) for page in fused} == {(1, 1 / 61 + 1 / 62), (2, 1 / 62 + 1 / 61)}
    index = folder_of(tmp_path, pages(["same words"] * 4, ["b", "a", "a", "b"]))
    (ranking,) = Fusion(index, dict.fromkeys(["a", "b"])).rank(["unknown"], [None], 4)
    assert [(page.filing_id, page.number) for page in ranking] == [
        ("a", 1),
        ("a", 2),
        ("b", 0),
        ("b", 3),
    ]


def test_an_unknown_retriever_is_told_its_neighbour() -> None:
    with pytest.raises(ValueError, match="did you mean fulltext"):
        check_retriever("fultext")

"""The retriever ``accounting`` over shards: signals, fusion, the first pages as a set, and what explains them."""

from __future__ import annotations

import os
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statement_questions import QUESTIONS

from apportion.corpus.financebench import read_financebench
from apportion.corpus.readers import read_document
from apportion.corpus.sample import build_sample
from apportion.retrieval.accounting.ablation import signal_shares
from apportion.retrieval.accounting.covering import FIRST, order
from apportion.retrieval.accounting.ranker import WEIGHTS, Accounting
from apportion.retrieval.accounting.signals import SIGNALS, Signals, signals_of, tfidf
from apportion.retrieval.accounting.wants import Wants, wants_of
from apportion.retrieval.retrievers import rank_within_filings
from apportion.retrieval.shards import IndexFolder
from apportion.retrieval.tfidf import HybridTfidf

FILINGS = 6


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> tuple[IndexFolder, pl.DataFrame, pl.DataFrame]:
    """An index of the sample's first filings, their pages and their questions."""
    corpus = build_sample(filers=FILINGS, years=1)
    index = IndexFolder(tmp_path_factory.mktemp("pages"))
    index.add(corpus.pages)
    return index, corpus.pages, corpus.questions


def ranked(
    index: IndexFolder, questions: pl.DataFrame, name: str = "accounting"
) -> list[list[tuple[str, int]]]:
    filings = questions["filing_id"].to_list()
    found = rank_within_filings(name, index, dict.fromkeys(filings), questions["text"].to_list(), filings, 20)
    return [[(page.filing_id, page.number) for page in ranking] for ranking in found]


def hits(questions: pl.DataFrame, rankings: list[list[tuple[str, int]]], k: int) -> float:
    gold = [{(page["filing_id"], page["page_number"]) for page in row} for row in questions["evidence"]]
    return float(
        np.mean([bool(cited & set(ranking[:k])) for cited, ranking in zip(gold, rankings, strict=True)])
    )


def test_the_samples_pages_are_found_more_often_than_by_words(
    world: tuple[IndexFolder, pl.DataFrame, pl.DataFrame],
) -> None:
    index, _, questions = world
    own, words = ranked(index, questions), ranked(index, questions, "tfidf")
    assert hits(questions, own, 1) > hits(questions, words, 1)
    assert hits(questions, own, 5) > hits(questions, words, 5)
    metrics = questions.filter(pl.col("family").str.starts_with("metrics"))
    assert hits(metrics, ranked(index, metrics), 5) == 1.0


def test_the_cosine_is_that_of_hybrid_tfidf(world: tuple[IndexFolder, pl.DataFrame, pl.DataFrame]) -> None:
    index, pages, _ = world
    filing = index.filings[0]
    question = "How much revenue did the segments earn, and which inventories rose?"
    shard = index.accounting(filing)
    scores = tfidf(question, shard, index.terms(filing))
    shard.close()
    (expected,) = HybridTfidf(pages.filter(pl.col("filing_id") == filing)).rank([question], [filing], 1_000)
    plain = np.zeros(len(scores))
    for page in expected:
        plain[page.row] = page.score
    np.testing.assert_allclose(scores, plain, atol=1e-12)


def test_signals_lie_in_the_unit_interval_and_explain_the_score(
    world: tuple[IndexFolder, pl.DataFrame, pl.DataFrame],
) -> None:
    index, _, questions = world
    row = questions.row(0, named=True)
    filing = row["filing_id"]
    shard = index.accounting(filing)
    signals = signals_of(wants_of(row["text"]), shard, index.terms(filing))
    shard.close()
    assert tuple(signals.values) == SIGNALS == tuple(WEIGHTS)
    assert all(((values >= 0) & (values <= 1)).all() for values in signals.values.values())
    (explained,) = Accounting(index, {filing: None}).explain([row["text"]], [filing], 5)
    assert explained[0].page.score == pytest.approx(sum(explained[0].shares.values()))
    assert [one.page.score for one in explained] == sorted(
        (one.page.score for one in explained), reverse=True
    )


def test_only_pages_in_scope_are_ranked(world: tuple[IndexFolder, pl.DataFrame, pl.DataFrame]) -> None:
    index, _, questions = world
    filing = questions["filing_id"][0]
    (found,) = Accounting(index, {filing: [4, 7]}).rank(["What was revenue?"], [filing], 20)
    assert sorted(page.number for page in found) == [4, 7]
    assert Accounting(index, {filing: None}).rank(["What was revenue?"], ["another"], 20) == [[]]


def test_a_question_without_a_filing_is_searched_everywhere(
    world: tuple[IndexFolder, pl.DataFrame, pl.DataFrame],
) -> None:
    index, _, questions = world
    scope = dict.fromkeys(index.filings)
    asked = questions.head(12)
    found = Accounting(index, scope).rank(asked["text"].to_list(), [None] * asked.height, 20)
    assert all(len({(page.filing_id, page.number) for page in ranking}) == 20 for ranking in found)
    right = [
        ranking[0].filing_id == filing for ranking, filing in zip(found, asked["filing_id"], strict=True)
    ]
    assert np.mean(right) >= 0.75


def test_hostile_questions_rank_and_operators_are_words(
    world: tuple[IndexFolder, pl.DataFrame, pl.DataFrame],
) -> None:
    index, _, _ = world
    filing = index.filings[0]
    asked = ["", '"', 'revenue" OR body MATCH "x', "NEAR(cash debt) *", "(" * 300, "net " * 3_000]
    found = Accounting(index, {filing: None}).rank(asked, [filing] * len(asked), 3)
    assert all(len(ranking) == 3 for ranking in found)


def test_shares_are_differences_of_hit_rates(world: tuple[IndexFolder, pl.DataFrame, pl.DataFrame]) -> None:
    index, _, questions = world
    shares = signal_shares(index, dict.fromkeys(index.filings), questions, {"page_kind": 1.0, "phrases": 1.0})
    everything = shares.filter(pl.col("family") == "all", pl.col("k") == 1)
    assert everything["left_out"].to_list() == ["page_kind", "phrases"]
    assert set(everything["questions"]) == {questions.height}
    whole = (everything["hit_rate"] + everything["difference"]).to_list()
    assert whole[0] == pytest.approx(whole[1])
    assert (everything["ci_low"] <= everything["difference"]).all()
    assert (everything["difference"] <= everything["ci_high"]).all()


def _signals(rows: dict[str, list[float]], strengths: list[float], kinds: list[str]) -> Signals:
    return Signals({}, {name: np.array(values) for name, values in rows.items()}, kinds, np.array(strengths))


def test_a_set_that_covers_the_formula_beats_near_copies() -> None:
    """Six near-copies of the income statement rank before the balance sheet, of which the formula needs a line."""
    kinds = ["income"] * 6 + ["balance"]
    rows = {"revenue": [1.0] * 6 + [0.0], "ppe": [0.0] * 6 + [1.0]}
    scores = np.array([1.0, 0.99, 0.98, 0.97, 0.96, 0.95, 0.9])
    wants = Wants("", items=frozenset(rows), metric=True)
    assert 6 in order(scores, wants, _signals(rows, [1.0] * 7, kinds))[:FIRST]
    assert order(scores, Wants(""), _signals({}, [1.0] * 7, kinds)) == list(range(7))


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_the_order_is_a_permutation_that_begins_with_the_best_page(data: st.DataObject) -> None:
    count = data.draw(st.integers(1, 12))
    real = st.lists(st.floats(0, 1), min_size=count, max_size=count)
    kinds = data.draw(
        st.lists(st.sampled_from(["income", "balance", "notes"]), min_size=count, max_size=count)
    )
    rows = {"revenue": data.draw(real), "ppe": data.draw(real)}
    scores = np.array(data.draw(real))
    wants = Wants("", items=frozenset(rows), metric=data.draw(st.booleans()))
    strengths = data.draw(real)
    found = order(scores, wants, _signals(rows, strengths, kinds))
    assert sorted(found) == list(range(count))
    assert scores[found[0]] == scores.max()
    rest = found[FIRST:]
    assert all(scores[a] >= scores[b] for a, b in pairwise(rest))
    needed = {
        kind
        for kind in ("income", "balance")
        if any(k == kind and s > 0.4 for k, s in zip(kinds, strengths, strict=True))
    }
    if wants.metric and count > FIRST:
        assert needed <= {kinds[place] for place in found[:FIRST]}


@pytest.mark.data
@pytest.mark.skipif(
    "APPORTION_TEST_DATA" not in os.environ, reason="APPORTION_TEST_DATA names no folder of real data"
)
def test_questions_on_statements_of_public_filings(tmp_path: Path) -> None:
    root = Path(os.environ["APPORTION_TEST_DATA"]) / "edgar_html" / "10-K"
    index = IndexFolder(tmp_path)
    tickers = sorted({ticker for ticker, _, _ in QUESTIONS})
    for ticker in tickers:
        (path,) = (root / ticker).glob("*/primary-document.html")
        texts = list(read_document(path).pages)
        index.add(pl.DataFrame({"filing_id": ticker, "page_number": range(len(texts)), "text": texts}))
    asked, filings = [text for _, text, _ in QUESTIONS], [ticker for ticker, _, _ in QUESTIONS]
    found = rank_within_filings("accounting", index, dict.fromkeys(tickers), asked, filings, 20)
    numbers = [[page.number for page in ranking] for ranking in found]
    first = [ranking[0] in gold for ranking, (_, _, gold) in zip(numbers, QUESTIONS, strict=True)]
    five = [
        bool(set(gold) & set(ranking[:5])) for ranking, (_, _, gold) in zip(numbers, QUESTIONS, strict=True)
    ]
    assert len(QUESTIONS) >= 40
    assert np.mean(first) >= 0.65
    assert np.mean(five) >= 0.9


@pytest.mark.data
@pytest.mark.skipif(
    "APPORTION_TEST_DATA" not in os.environ, reason="APPORTION_TEST_DATA names no folder of real data"
)
def test_cited_pages_of_the_smallest_real_filings(tmp_path: Path) -> None:
    """A few filings in full; the benchmark does all of them."""
    folder = Path(os.environ["APPORTION_TEST_DATA"]) / "financebench"
    smallest = sorted((folder / "pdfs").glob("*.pdf"), key=lambda path: (path.stat().st_size, path.name))[:14]
    asked = read_financebench(folder).questions.filter(
        pl.col("filing_id").is_in([path.stem for path in smallest])
    )
    index = IndexFolder(tmp_path)
    for path in smallest:
        texts = list(read_document(path).pages)
        index.add(pl.DataFrame({"filing_id": path.stem, "page_number": range(len(texts)), "text": texts}))
    own, words = ranked(index, asked), ranked(index, asked, "tfidf")
    assert asked.height >= 15
    assert hits(asked, own, 5) >= 0.8
    assert hits(asked, own, 5) > hits(asked, words, 5)

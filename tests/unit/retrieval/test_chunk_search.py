"""Chunks, their index, and scoped hybrid search: what neighbours of this kind get wrong."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.chunk_search import ChunkSearch, Search
from apportion.retrieval.chunking import chunk_pages, chunk_rows
from apportion.retrieval.cutting import kept
from apportion.retrieval.fulltext import FullText
from apportion.retrieval.latent import LatentVectors
from apportion.retrieval.nearest import NearestChunks
from apportion.retrieval.queries import SearchQuery, lexical_query, read_query

WORDS = "revenue margin segment risk cash debt lease pension goodwill inventory supply covenant".split()


def corpus(filings: int = 5, chunks: int = 10) -> pl.DataFrame:
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        [
            (f"f{filing}", number, " ".join([*draw.choice(WORDS, 12), f"company{filing}", f"note{number}"]))
            for filing in range(filings)
            for number in range(chunks)
        ],
        schema=["filing_id", "chunk_number", "text"],
        orient="row",
    )


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> ChunkIndex:
    made = ChunkIndex(tmp_path_factory.mktemp("chunks"))
    made.add(corpus())
    return made


@given(
    st.lists(st.text("ab \n", max_size=40), min_size=1, max_size=6),
    st.integers(1, 12),
    st.data(),
)
def test_chunks_cover_the_running_text(texts: list[str], size: int, data: st.DataObject) -> None:
    step = data.draw(st.integers(1, size))
    numbers = [3 * i for i in range(len(texts))]
    running = "\n".join(texts)
    # Where each character stands, by the plain definition.
    page_of = [number for number, text in zip(numbers, texts, strict=True) for _ in f"{text}\n"]
    chunks = list(chunk_pages(numbers, texts, size, step))
    covered = set()
    for chunk in chunks:
        assert chunk.text == running[chunk.start : chunk.end]
        assert chunk.start == chunk.number * step
        assert len(chunk.text) <= size
        first = chunk.start + len(chunk.text) - len(chunk.text.lstrip())
        assert chunk.page_number == page_of[first]
        covered |= set(range(chunk.start, chunk.end))
    assert {i for i, character in enumerate(running) if not character.isspace()} <= covered


def test_default_chunks_overlap_by_half() -> None:
    chunks = list(chunk_pages([0, 1], ["a" * 3_000, "b" * 3_000]))
    assert [(c.start, c.end, c.page_number) for c in chunks] == [
        (0, 2_500, 0),
        (1_250, 3_750, 0),
        (2_500, 5_000, 0),
        (3_750, 6_001, 1),
    ]
    with pytest.raises(ValueError, match="between 1 and"):
        list(chunk_pages([0], ["a"], 10, 11))


def test_a_filing_is_indexed_once_and_again_when_it_changes(tmp_path: Path) -> None:
    index = ChunkIndex(tmp_path)
    assert index.add(corpus(2)) == 2
    assert ChunkIndex(tmp_path).add(corpus(2)) == 0
    changed = corpus(2).with_columns(pl.col("text") + " amended")
    assert index.add(changed.filter(pl.col("filing_id") == "f0")) == 1
    assert index.forget_others(["f0", "f1"]) > 0
    assert ChunkIndex(tmp_path).add(changed.filter(pl.col("filing_id") == "f0")) == 0


def test_an_empty_corpus_finds_nothing(tmp_path: Path) -> None:
    index = ChunkIndex(tmp_path)
    index.add(
        chunk_rows(pl.DataFrame(schema={"filing_id": pl.String, "page_number": pl.Int64, "text": pl.String}))
    )
    assert ChunkSearch(index, LatentVectors(index)).find([Search(SearchQuery("debt", "debt"), ())]) == [[]]


def test_scope_is_applied_before_the_cut(index: ChunkIndex) -> None:
    """Two filings in scope, more wanted than there are: exactly theirs, and nothing pads the list."""
    search = ChunkSearch(index, LatentVectors(index), fulltext_depth=500, vector_depth=500)
    [found] = search.find([Search(SearchQuery("revenue risk", "revenue risk"), ("f1", "f3"))])
    assert {one.filing_id for one in found} == {"f1", "f3"}
    assert len(found) <= 20
    assert len({(one.filing_id, one.number) for one in found}) == len(found)


def test_vectors_pad_nothing(index: ChunkIndex) -> None:
    """More asked for than there are: as many as there are, and never FAISS's own -1."""
    vectors = LatentVectors(index)
    near = NearestChunks(index, vectors, ["f2"])
    [found] = near.search(vectors.of_queries(["revenue company2"]), 3_000)
    assert 0 < len(found) <= 10
    assert all(one.filing_id == "f2" for one in found)
    assert NearestChunks(index, vectors, []).search(vectors.of_queries(["revenue"]), 3) == [[]]
    assert near.search(vectors.of_queries(["zzz unknown"]), 3) == [[]]


def test_nearest_agrees_with_a_plain_scan(index: ChunkIndex) -> None:
    vectors = LatentVectors(index)
    scope = ["f0", "f4"]
    query = vectors.of_queries(["cash debt covenant note3"])
    [found] = NearestChunks(index, vectors, scope).search(query, 7)
    plain = sorted(
        (round(float(((row - query[0]) ** 2).sum()), 5), filing, int(number))
        for filing in scope
        for number, row in zip(index.numbers(filing), vectors.of_filing(filing), strict=True)
    )
    assert [round(-one.score, 4) for one in found] == pytest.approx([d for d, _, _ in plain[:7]], abs=1e-3)
    assert {(one.filing_id, one.number) for one in found} <= {
        (f, n) for d, f, n in plain if d <= plain[6][0] + 1e-3
    }


@pytest.mark.parametrize(
    "text", ["what's debt, 50%?", '"', "debt AND (", "debt* NEAR/2", "'; DROP TABLE words --"]
)
def test_query_syntax_is_only_characters(index: ChunkIndex, text: str) -> None:
    plain = "debt" if "debt" in text else ""
    scope = dict.fromkeys(index.filings)
    [found] = FullText(index, scope).rank([text], [None], 50)
    [expected] = FullText(index, scope).rank([plain], [None], 50)
    assert [one.score > 0 for one in found][:1] == [one.score > 0 for one in expected][:1]
    if plain:
        assert {(o.filing_id, o.number) for o in expected if o.score > 0} <= {
            (o.filing_id, o.number) for o in found if o.score > 0
        }


def test_fusion_holds_a_chunk_once_and_breaks_ties_by_place(index: ChunkIndex) -> None:
    search = ChunkSearch(index, LatentVectors(index))
    asked = Search(SearchQuery("goodwill pension", "goodwill pension"), tuple(index.filings))
    [first], [second] = search.find([asked]), search.find([asked])
    assert first == second
    assert len({(o.filing_id, o.number) for o in first}) == len(first)
    assert first == sorted(first, key=lambda o: (-o.score, o.filing_id, o.number))


def test_each_filing_gets_its_share(index: ChunkIndex) -> None:
    """However much better one filing fits, the others' best chunks stand beside its best."""
    search = ChunkSearch(index, LatentVectors(index))
    query = SearchQuery("company1 note3 revenue", "company1 note3 revenue")
    [found] = search.find([Search(query, ("f1", "f2", "f4"), apart=True)])
    assert {one.filing_id for one in found[:3]} == {"f1", "f2", "f4"}
    assert [one.score for one in found[:3]] == [1.0, 1.0, 1.0]


def test_the_basis_is_the_same_whatever_order_the_index_grew_in(tmp_path: Path) -> None:
    rows = corpus(3)
    one, other = ChunkIndex(tmp_path / "a"), ChunkIndex(tmp_path / "b")
    one.add(rows)
    for filing in ("f2", "f0", "f1"):
        other.add(rows.filter(pl.col("filing_id") == filing))
    a, b = LatentVectors(one), LatentVectors(other)
    assert a.of_filing("f1").tobytes() == b.of_filing("f1").tobytes()
    assert np.linalg.norm(a.of_filing("f1"), axis=1) == pytest.approx(1.0, abs=1e-5)


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_the_cut_follows_its_definition(scores: list[float]) -> None:
    scores = sorted(scores, reverse=True)
    count = kept(scores)
    low, high, total = min(scores), max(scores), sum(scores)
    reached = 0.0
    expected = 0
    for score in scores:
        if expected and high > low and (high - score) / (high - low) > 0.15 + 1e-12:
            break
        expected += 1
        reached += score
        if total == 0 or reached >= 0.55 * total - 1e-12:
            break
    assert count == expected >= 1


def test_the_cut_by_example() -> None:
    assert kept([]) == 0
    assert kept([0.5]) == 1
    assert kept([1.0, 0.9, 0.1, 0.0]) == 2
    assert kept([1.0, 0.2, 0.1]) == 1
    assert kept([0.0, 0.0, 0.0]) == 1
    assert kept([-1.0, -1.1, -9.0]) == 2


def test_rewriting_keeps_numbers_periods_and_names() -> None:
    query = lexical_query(
        "What is the FY2018 capital expenditure amount (in USD millions) for 3M? Give a response."
    )
    assert query.keywords.split() == ["FY2018", "capital", "expenditure", "amount", "USD", "millions", "3M"]
    assert lexical_query("what is it").text == "what is it"


def test_a_models_rewriting_falls_back_where_it_is_none() -> None:
    assert read_query("cash?", None) == lexical_query("cash?")
    assert read_query("cash?", {"query": " ", "keywords": [3]}) == lexical_query("cash?")
    assert read_query("cash?", {"query": "Cash held", "keywords": ["cash", "equivalents"]}) == SearchQuery(
        "Cash held", "cash equivalents"
    )


def test_bm25_grows_with_relevance_and_is_not_clamped(index: ChunkIndex) -> None:
    """SQLite's own bm25 is negative, smaller better; scores here are larger better, and zero only without a word."""
    [found] = FullText(index, dict.fromkeys(index.filings)).rank(["company3 note7"], [None], 50)
    assert (found[0].filing_id, found[0].number) == ("f3", 7)
    assert found[0].score > found[1].score > 0
    assert all(one.score >= 0 for one in found)


def test_two_pages_in_scope_of_fifty_are_both_found(tmp_path: Path) -> None:
    """Five wanted, two in scope: exactly those two, though all others fit the words better."""
    rows = [(f"g{n:02d}", 0, "margin " * (n + 1)) for n in range(48)] + [
        ("wanted", 0, "margin"),
        ("wanted", 1, "x"),
    ]
    index = ChunkIndex(tmp_path)
    index.add(pl.DataFrame(rows, schema=["filing_id", "chunk_number", "text"], orient="row"))
    [ranked] = FullText(index, {"wanted": None}).rank(["margin"], [None], 5)
    assert [(one.filing_id, one.number) for one in ranked] == [("wanted", 0), ("wanted", 1)]
    vectors = LatentVectors(index)
    [near] = NearestChunks(index, vectors, ["wanted"]).search(vectors.of_queries(["margin"]), 5)
    assert {one.filing_id for one in near} == {"wanted"}

from __future__ import annotations

import re
import subprocess
import sys
from itertools import pairwise

import polars as pl
import pytest
from sample_rows import sample

from apportion.corpus.sample import build_sample, stream_filings, stream_pages
from apportion.corpus.synthetic.names import LIMIT, stem_and_ticker
from apportion.retrieval.tfidf import HybridTfidf
from apportion.tokens import count_tokens


def test_counts_and_columns() -> None:
    corpus = sample()
    assert corpus.filings.height == 48
    assert corpus.filings["company"].n_unique() == 24
    assert corpus.filings["filing_id"].is_unique().all()
    assert set(corpus.filings.group_by("company").len()["len"]) == {2}
    assert set(corpus.filings["fiscal_year"]) == {2021, 2022}
    assert corpus.filings["page_count"].is_between(12, 40).all()
    assert set(corpus.filings["source"]) == {"sample"}
    assert set(corpus.filings["coverage"]) == {"whole"}
    assert set(corpus.filings["status"]) == {"ok"}
    assert corpus.filings["cik"].str.contains(r"^\d{10}$").all()
    assert corpus.filings["cik"].n_unique() == 24
    assert not corpus.problems


def test_filings_are_filed_after_their_period_and_years_end_in_several_months() -> None:
    filings = sample().filings
    days = (filings["filed_at"] - filings["period_end"]).dt.total_days()
    assert days.is_between(50, 75).all()
    assert {1, 6, 9, 12} <= set(filings["period_end"].dt.month())
    january = filings.filter(pl.col("period_end").dt.month() == 1)
    assert (january["period_end"].dt.year() == january["fiscal_year"] + 1).all()
    others = filings.filter(pl.col("period_end").dt.month() != 1)
    assert (others["period_end"].dt.year() == others["fiscal_year"]).all()


def test_pages_are_numbered_from_zero_and_counted() -> None:
    corpus = sample()
    per_filing = corpus.pages.group_by("filing_id", maintain_order=True).agg(
        pl.len(), pl.col("page_number").sort().alias("numbers")
    )
    counts = dict(corpus.filings.select("filing_id", "page_count").iter_rows())
    for filing, pages, numbers in per_filing.iter_rows():
        assert pages == counts[filing]
        assert numbers == list(range(pages))
    assert corpus.pages["has_text"].all()
    assert corpus.pages["text"].str.strip_chars().str.len_chars().min() > 200
    first = corpus.pages.row(3, named=True)
    assert first["token_count"] == count_tokens(first["text"])
    assert {"income", "balance", "cash_flow", "equity", "notes", "contents", "cover"} <= set(
        corpus.pages["page_kind"]
    )


def test_page_lengths_differ_widely() -> None:
    tokens = sample().pages["token_count"]
    low, high = tokens.quantile(0.1), tokens.quantile(0.9)
    assert low is not None
    assert high is not None
    assert high > 2.5 * low


def test_three_families_of_at_least_fifty() -> None:
    questions = sample().questions
    sizes = dict(questions.group_by("family").len().iter_rows())
    assert set(sizes) == {"metrics", "domain", "novel"}
    assert min(sizes.values()) >= 50
    assert questions["question_id"].is_unique().all()
    assert questions["text"].is_unique().all()
    assert questions["reference_answer"].str.strip_chars().str.len_chars().min() >= 2


def test_evidence_lies_within_the_filing_named() -> None:
    corpus = sample()
    counts = dict(corpus.filings.select("filing_id", "page_count").iter_rows())
    for filing, evidence in corpus.questions.select("filing_id", "evidence").iter_rows():
        assert evidence
        assert all(page["filing_id"] == filing for page in evidence)
        assert all(0 <= page["page_number"] < counts[filing] for page in evidence)
    sizes = corpus.questions["evidence"].list.len()
    assert (sizes == 2).sum() >= 20
    assert (sizes == 1).sum() >= 60


def test_questions_name_the_company_they_are_about() -> None:
    corpus = sample()
    for text, company in corpus.questions.select("text", "company").iter_rows():
        assert company.split()[0] in text


def test_no_two_filers_share_a_name_or_ticker() -> None:
    names = [stem_and_ticker(index, 20) for index in [*range(3_000), *range(17_000, 20_000)]]
    assert len({stem for stem, _ in names}) == len(names)
    assert len({ticker for _, ticker in names}) == len(names)
    assert all(re.fullmatch(r"[A-Z]{3}J[A-Z]?", ticker) for _, ticker in names)


def test_prose_is_shared_word_for_word_between_filers() -> None:
    pages = sample().pages.filter(pl.col("page_kind") == "risk_factors")["text"].to_list()
    assert sum("A downturn can therefore lower our revenue" in text for text in pages) >= 16
    companies = sample().pages.filter(
        pl.col("text").str.contains("was no change in our internal control over")
    )
    assert companies["filing_id"].n_unique() == 48


def test_same_seed_same_bytes_in_another_process() -> None:
    command = "from apportion.corpus.sample import build_sample; print(build_sample(5, 3, 2).sha256)"
    other = subprocess.run(
        [sys.executable, "-c", command],
        check=True,
        capture_output=True,
        text=True,
        env={"PYTHONHASHSEED": "77", "PATH": ""},
    )
    here = build_sample(5, 3, 2)
    assert other.stdout.strip() == here.sha256
    assert build_sample(6, 3, 2).sha256 != here.sha256


def test_digest_is_the_one_recorded() -> None:
    # Changes only when the sample itself is changed on purpose; the same on every machine and Python.
    assert sample().sha256 == "029dfc75b11bdaefe2b61b634b050fe4b5bf6a0c2d8e83f028a7a085b042e58b"


def test_a_larger_sample_only_adds_to_a_smaller_one() -> None:
    small, large = build_sample(20, 2, 2), build_sample(20, 4, 3)
    kept = small.pages.select("filing_id").unique()
    assert large.pages.join(kept, on="filing_id", maintain_order="left").equals(small.pages)


def test_streaming_equals_building() -> None:
    built = build_sample(9, 4, 3)
    assert pl.concat(stream_pages(4, 3, 9)).equals(built.pages)
    streamed = list(stream_filings(4, 3, 9))
    assert pl.DataFrame([row for row, _ in streamed], schema=built.filings.schema).equals(built.filings)


def test_a_stream_goes_on_without_the_filers_before() -> None:
    stream = stream_pages(100_000, 2, 3)
    first, second = next(stream), next(stream)
    assert first["filing_id"].n_unique() == 1
    assert first["filing_id"][0] != second["filing_id"][0]


def test_filled_pages_come_near_the_length_asked_for_and_keep_their_own_text() -> None:
    plain, full = pl.concat(stream_pages(4, 2, 9)), pl.concat(stream_pages(4, 2, 9, page_characters=4_000))
    lengths = full["text"].str.len_chars()
    assert lengths.is_between(3_700, 8_000).all()
    assert 3_800 <= float(lengths.median() or 0) <= 4_300  # type: ignore[arg-type]
    assert plain.select("filing_id", "page_number").equals(full.select("filing_id", "page_number"))
    for before, after in zip(plain["text"], full["text"], strict=True):
        assert after.startswith(before.rpartition("\n")[0])
    filings = [row for row, _ in stream_filings(1, 1, 9, page_characters=4_000)]
    assert filings[0]["sha256"] != next(stream_filings(1, 1, 9))[0]["sha256"]


@pytest.mark.parametrize(("filers", "years"), [(0, 2), (3, 0), (-1, 1)])
def test_a_sample_of_nothing_is_refused(filers: int, years: int) -> None:
    with pytest.raises(ValueError, match="at least one filer and one year"):
        build_sample(1, filers, years)


def test_too_many_filers_are_refused() -> None:
    with pytest.raises(ValueError, match="can be told apart"):
        stem_and_ticker(LIMIT, 1)


def test_several_filers_lose_money_and_count_in_thousands() -> None:
    corpus = sample()
    income = corpus.pages.filter(pl.col("page_kind") == "income")
    assert income["text"].str.contains(r"(?i)net loss|\(loss\)").sum() >= 6
    thousands = income["text"].str.contains("In thousands").sum()
    assert 8 <= thousands <= 40


def test_one_layout_prints_cells_on_lines_of_their_own() -> None:
    balance = sample().pages.filter(pl.col("page_kind") == "balance")["text"].to_list()
    spread = [bool(re.search(r"^Total assets\n\$\n[\d,]+\n\$\n[\d,]+$", text, re.M)) for text in balance]
    inline = [bool(re.search(r"^Total assets   \$ [\d,]+   \$ [\d,]+$", text, re.M)) for text in balance]
    assert sum(spread) >= 10
    assert sum(inline) >= 10
    assert all(a != b for a, b in zip(spread, inline, strict=True))


def test_years_of_a_filer_follow_each_other() -> None:
    frame = sample().filings.sort("ticker", "fiscal_year")
    for (ticker, year), (other, later) in pairwise(frame.select("ticker", "fiscal_year").iter_rows()):
        if ticker == other:
            assert later == year + 1


def test_ranking_finds_the_evidence_sometimes_first_and_more_often_among_five() -> None:
    corpus = sample()
    index = HybridTfidf(corpus.pages)
    asked = corpus.questions
    rankings = index.rank(asked["text"].to_list(), asked["filing_id"].to_list(), 5)
    hits = {1: 0, 5: 0}
    for ranking, evidence in zip(rankings, asked["evidence"].to_list(), strict=True):
        gold = {page["page_number"] for page in evidence}
        found = [index.pages["page_number"][page.row] in gold for page in ranking]
        for depth in hits:
            hits[depth] += any(found[:depth])
    # Neither hopeless nor settled by one page: what escalation has to decide on.
    assert 0.15 < hits[1] / asked.height < 0.5
    assert 0.45 < hits[5] / asked.height < 0.9

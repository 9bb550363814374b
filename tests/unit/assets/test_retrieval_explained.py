"""The assets of accounting retrieval over a warehouse: rankings, reasons, shares, features' signals, the report."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from apportion.corpus.sample import build_sample
from apportion.features.accounting import accounting_signals
from apportion.features.signals import SIGNAL_GROUPS
from apportion.retrieval.accounting.signals import SIGNAL_COLUMNS as SIGNALS
from assets.asking import retrieval_summary, retrievals
from assets.explaining import retrieval_reasons, retrieval_shares
from assets.reporting import retrieval_sections, write_report
from assets.resources import Answering, Warehouse
from warehouse.contracts import FEATURES, TABLES
from warehouse.store import Store


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A warehouse with three filings whose pages are ranked by knowledge of accounting."""
    folder = tmp_path_factory.mktemp("warehouse")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("APPORTION_WAREHOUSE", str(folder))
        store = Store()
        corpus = build_sample(filers=3, years=1)
        for table, rows in (("filings", corpus.filings), ("pages", corpus.pages)):
            arranged = TABLES[table].arrange(rows.with_columns(filing_batch=pl.lit("b")))
            store.write_slice(table, arranged, {"filing_batch": "b"})
        asked = TABLES["questions"].arrange(corpus.questions.with_columns(outcome_set=pl.lit("s")))
        store.write_slice("questions", asked, {"outcome_set": "s"})
        chosen = [retrievals, retrieval_summary, retrieval_reasons, retrieval_shares]
        with dg.DagsterInstance.ephemeral() as instance:
            instance.add_dynamic_partitions("outcome_sets", ["s"])
            done = dg.materialize(
                chosen,
                partition_key="s",
                instance=instance,
                resources={"warehouse": Warehouse(), "answering": Answering(retriever="accounting")},
            )
        assert done.success
        yield store


def test_every_ranked_page_says_why(store: Store) -> None:
    reasons = store.read("retrieval_reasons", {"outcome_set": "s"})
    ranked = store.read("retrievals", {"outcome_set": "s"}).filter(pl.col("rank") <= 5)
    keys = ["question_id", "rank", "filing_id", "page_number"]
    assert reasons.select(keys).equals(ranked.select(keys))
    joined = reasons.join(ranked, on=keys).filter(pl.col("rank") == 1)
    difference = joined.select(pl.sum_horizontal(SIGNALS) - pl.col("score")).to_series()
    assert difference.abs().max() < 1e-9


def test_shares_stand_beside_the_summary(store: Store) -> None:
    summary = store.read("retrieval_summary", {"outcome_set": "s"})
    shares = store.read("retrieval_shares", {"outcome_set": "s"})
    whole = summary.filter(pl.col("family") == "all", pl.col("k") == 5)["hit_rate"][0]
    of_five = shares.filter(pl.col("family") == "all", pl.col("k") == 5)
    assert of_five.height == len(SIGNALS)
    assert (of_five["hit_rate"] + of_five["difference"] - whole).abs().max() < 1e-9


def test_the_report_explains_one_question(store: Store) -> None:
    (section,) = retrieval_sections(store)
    asked = store.read("questions", {"outcome_set": "s"}).sort("question_id")
    explained = section.parts[-1]
    assert explained.title.endswith(asked["question_id"][0])
    assert explained.frame is not None
    assert explained.frame["rank"].to_list() == [1, 2, 3, 4, 5]
    assert "accounting finds a cited page first" in section.findings[0]


def test_the_report_stands_on_retrieval_alone(store: Store, tmp_path: Path) -> None:
    page = write_report(store, tmp_path).read_text(encoding="utf-8")
    assert "Why these pages" in page
    assert "<script" not in page


def test_signals_reach_the_features(store: Store) -> None:
    questions = store.read("questions", {"outcome_set": "s"})
    ranked, pages = store.read("retrievals", {"outcome_set": "s"}), store.read("pages")
    found = accounting_signals(questions, ranked, pages, 1, 5)
    assert tuple(found.columns) == SIGNAL_GROUPS["accounting"]
    assert set(found.columns) <= {column.name for column in FEATURES}
    assert found.height == questions.height
    shares = found.select("page_kind_wanted", "items_printed_cheap", "items_printed_deep", "period_shown")
    assert all(series.drop_nulls().is_between(0, 1).all() for series in shares)
    both = found.drop_nulls(["items_printed_cheap", "items_printed_deep"])
    assert both.height > 0
    assert (both["items_printed_deep"] >= both["items_printed_cheap"]).all()
    nothing = accounting_signals(questions, ranked.clear(), pages, 1, 5)
    assert all(series.null_count() == questions.height for series in nothing)

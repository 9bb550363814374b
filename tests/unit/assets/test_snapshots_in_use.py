"""Snapshots of the corpus that somebody still reads: vacuum keeps them, and chunks follow their pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from apportion.corpus.sample import build_sample
from assets.asking import retrievals
from assets.chunking import chunks
from assets.provenance import pinned_versions
from assets.reading import retrieved_pages
from assets.resources import Answering, Warehouse
from orchestration.commands.looking import vacuum
from warehouse.contracts import TABLES
from warehouse.store import Store


def _write_pages(store: Store, mark: str) -> int:
    """The sample's pages, each with a mark at its end, as another reader would have read them."""
    corpus = build_sample(filers=2, years=1)
    pages = corpus.pages.with_columns(pl.col("text") + mark, filing_batch=pl.lit("b"))
    filings = corpus.filings.with_columns(filing_batch=pl.lit("b"))
    store.write_slice("filings", TABLES["filings"].arrange(filings), {"filing_batch": "b"})
    return store.write_slice("pages", TABLES["pages"].arrange(pages), {"filing_batch": "b"}).version


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    monkeypatch.setenv("APPORTION_WAREHOUSE", str(tmp_path))
    store = Store()
    asked = build_sample(filers=2, years=1).questions.with_columns(outcome_set=pl.lit("s"))
    store.write_slice("questions", TABLES["questions"].arrange(asked), {"outcome_set": "s"})
    return store


def _materialise(asset: dg.AssetsDefinition, partitions: str, key: str, answering: Answering) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        instance.add_dynamic_partitions(partitions, [key])
        done = dg.materialize(
            [asset],
            partition_key=key,
            instance=instance,
            resources={"warehouse": Warehouse(), "answering": answering},
        )
    assert done.success


def test_vacuum_keeps_the_pages_of_every_ranking(store: Store) -> None:
    versions = []
    for retriever, mark in (("tfidf", " first"), ("fulltext", " second")):
        versions.append(_write_pages(store, mark))
        _materialise(retrievals, "outcome_sets", "s", Answering(retriever=retriever, refresh=True))
    unread = _write_pages(store, " third")
    _write_pages(store, " fourth")
    assert pinned_versions(store, "pages") == versions
    vacuum(0)
    for retriever, mark in (("tfidf", " first"), ("fulltext", " second")):
        ranked = store.read("retrievals", {"outcome_set": "s", "retriever": retriever})
        read = retrieved_pages(store, "s", ranked)
        assert read.height == ranked.select("filing_id", "page_number").n_unique()
        assert read["text"].str.ends_with(mark).all()
    with pytest.raises(FileNotFoundError):
        store.read("pages", version=unread)


def test_chunks_follow_pages_that_another_reader_read(store: Store) -> None:
    committed = []
    for mark in (" first", " first", " second"):
        _write_pages(store, mark)
        _materialise(chunks, "filing_batches", "b", Answering())
        committed.append(store.version("chunks"))
        last = store.read("chunks").group_by("filing_id").agg(pl.col("text").last())
        assert last["text"].str.ends_with(mark).all()
    assert committed[0] == committed[1] != committed[2]

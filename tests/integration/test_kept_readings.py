"""What models read of a set's questions is kept when pages are ranked, or other routes answer, by rules."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
import routing_server
import tiny
from commandline import CommandLine

from assets.provenance import last_commit
from warehouse.store import Store

KEYS = {"OPENAI_API_KEY": "test"}


def router(store: Store) -> str | None:
    """Who read the set's questions last."""
    made = last_commit(store, "resolutions", "kept")
    assert made is not None
    return made["arguments"]["router"]


@pytest.fixture(scope="module")
def read(
    shared_apportion: Callable[[str], CommandLine], tmp_path_factory: pytest.TempPathFactory
) -> CommandLine:
    """A set whose questions a model read for its systems, and which other routes answered afterwards."""
    apportion = shared_apportion("kept")
    folder = tiny.write(tmp_path_factory.mktemp("kept-source"), tiny.rows(3))
    apportion.ok("ingest", str(folder), "--set", "kept", "--batch", "kept")
    with routing_server.running() as server:
        settings = ("--set", "kept", "--model", "openai/fake", "--api-base", server.url, "--yes")
        apportion.ok("run", *settings, "--routes", "cbr_context,hdrr", env=KEYS)
        asked = server.count("route")
        apportion.ok("run", *settings, "--routes", "direct,top1", env=KEYS)
        assert server.count("route") == asked > 0
    assert router(Store(apportion.warehouse)) == "openai/fake"
    return apportion


def test_rules_do_not_replace_what_a_model_found(read: CommandLine) -> None:
    store = Store(read.warehouse)
    by_chunk = pl.col("chunk_number").is_not_null()
    before = store.read("resolutions"), store.read("retrievals").filter(by_chunk)
    said = read("retrieve", "--set", "kept", "--retriever", "cbr_context,hdrr")
    assert said.status == 0
    assert said.err.count("kept as found with openai/fake") == 2
    assert store.read("resolutions").equals(before[0])
    assert store.read("retrievals").filter(by_chunk).equals(before[1])
    assert router(store) == "openai/fake"
    # Without a reading of a model to keep, rules rank as ever.
    read.ok("retrieve", "--set", "kept", "--retriever", "cbr")
    assert "cbr" in store.slices("retrievals", "retriever")


def test_another_snapshot_is_read_anew(read: CommandLine, apportion: CommandLine, tmp_path: Path) -> None:
    """A reading of other questions or pages isn't kept: it might name what is no longer there."""
    shutil.copytree(read.warehouse, apportion.warehouse)
    store = Store(apportion.warehouse)
    assert router(store) == "openai/fake"
    more = tiny.write(tmp_path / "more", tiny.rows(4))
    apportion.ok("ingest", str(more), "--set", "kept", "--batch", "more")
    said = apportion("retrieve", "--set", "kept", "--retriever", "hdrr", "--refresh")
    assert said.status == 0
    assert "kept as found" not in said.err
    assert store.read("resolutions").height == store.read("questions").height == 8
    assert router(store) is None

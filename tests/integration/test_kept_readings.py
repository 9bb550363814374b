"""What models read of a set's questions is kept when pages are ranked, or other routes answer, by rules."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import polars as pl
import routing_server
import tiny
from commandline import CommandLine

from assets.provenance import last_commit
from warehouse.store import Store

KEYS = {"OPENAI_API_KEY": "test"}


def test_rules_do_not_replace_what_a_model_found(
    shared_apportion: Callable[[str], CommandLine], tmp_path: Path
) -> None:
    apportion = shared_apportion("kept")
    apportion.ok(
        "ingest", str(tiny.write(tmp_path / "set", tiny.rows(3))), "--set", "kept", "--batch", "kept"
    )
    with routing_server.running() as server:
        settings = ("--set", "kept", "--model", "openai/fake", "--api-base", server.url, "--yes")
        apportion.ok("run", *settings, "--routes", "cbr_context,hdrr", env=KEYS)
        store = Store(str(apportion.warehouse))
        before = {name: store.read(name) for name in ("resolutions", "retrievals")}
        asked = server.count("route")
        apportion.ok("run", *settings, "--routes", "direct,top1", env=KEYS)
        assert server.count("route") == asked > 0
    said = apportion("retrieve", "--set", "kept", "--retriever", "cbr_context,hdrr")
    assert said.status == 0
    assert said.err.count("kept as found with openai/fake") == 2
    assert store.read("resolutions").equals(before["resolutions"])
    by_chunk = pl.col("chunk_number").is_not_null()
    assert store.read("retrievals").filter(by_chunk).equals(before["retrievals"].filter(by_chunk))
    made = last_commit(store, "resolutions", "kept")
    assert made is not None
    assert made["arguments"]["router"] == "openai/fake"
    # Without a reading of a model to keep, rules rank as ever.
    apportion.ok("retrieve", "--set", "kept", "--retriever", "cbr")
    assert "cbr" in store.slices("retrievals", "retriever")


def test_another_snapshot_is_read_anew(
    tmp_path: Path, shared_apportion: Callable[[str], CommandLine]
) -> None:
    """A reading of other questions or pages isn't kept: it might name what is no longer there."""
    apportion = shared_apportion("kept")
    more = tiny.write(tmp_path / "more", tiny.rows(4))
    apportion.ok("ingest", str(more), "--set", "kept", "--batch", "more")
    apportion.ok("retrieve", "--set", "kept", "--retriever", "hdrr", "--refresh")
    store = Store(str(apportion.warehouse))
    assert store.read("resolutions").height == store.read("questions").height == 8
    made = last_commit(store, "resolutions", "kept")
    assert made is not None
    assert made["arguments"]["router"] is None

"""Many batches at once, each in processes of its own: every row there once, the catalogue always readable."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from commandline import ROOT
from making_pdfs import make_pdf

from orchestration.instance import open_instance
from warehouse import catalog
from warehouse.store import Store

BATCHES = int(os.environ.get("APPORTION_BATCHES_AT_ONCE", "4"))
"""Batches to try, all of them at the same time; more when somebody asks for more."""


@pytest.mark.slow
def test_many_batches_at_once(warehouse_folder: Path, tmp_path: Path) -> None:
    common = make_pdf(["a page that every batch brings"])
    names = [f"batch-{i:02d}" for i in range(BATCHES)]
    for i, name in enumerate(names):
        folder = tmp_path / name
        folder.mkdir()
        (folder / f"own-{i}.pdf").write_bytes(make_pdf([f"filing {i}", f"page two of {i}"]))
        (folder / "common.pdf").write_bytes(common)
    with open_instance() as instance:
        instance.add_dynamic_partitions("filing_batches", names)
    stop = threading.Event()
    seen: list[int] = []

    def read() -> None:
        store = Store(warehouse_folder)
        while not stop.wait(0.5):
            counted = catalog.query(
                store, "SELECT count(*) AS n, count(DISTINCT (filing_id, page_number)) AS keys FROM pages"
            )
            assert counted["n"][0] == counted["keys"][0]
            seen.append(counted["n"][0])

    def run(name: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "filing_defs", name, str(tmp_path / name)],
            cwd=ROOT,
            env={**os.environ, "PYTHONPATH": str(ROOT / "tests" / "support")},
            capture_output=True,
            text=True,
            check=False,
        )
        return "" if done.returncode == 0 else done.stderr[-2_000:]

    reader = ThreadPoolExecutor(1).submit(read)
    try:
        with ThreadPoolExecutor(BATCHES) as pool:
            assert list(pool.map(run, names)) == [""] * BATCHES
    finally:
        stop.set()
    reader.result()
    store = Store(warehouse_folder)
    filings, pages = store.read("filings"), store.read("pages")
    assert filings.height == filings["filing_id"].n_unique() == BATCHES + 1
    assert filings["filing_batch"].n_unique() == BATCHES
    assert filings["status_reason"].drop_nulls().to_list() == []
    assert pages.height == pages.unique(["filing_id", "page_number"]).height == 2 * BATCHES + 1
    assert seen
    assert seen == sorted(seen)

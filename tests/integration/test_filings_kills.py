"""Killed while it takes files in: the same command again leaves what an undisturbed one leaves."""

from __future__ import annotations

import os
import random
import shutil
import time
from pathlib import Path

import polars as pl
import pytest
import tiny
from commandline import CommandLine
from making_pdfs import make_pdf

from warehouse.store import Store

MOMENTS = int(os.environ.get("APPORTION_KILL_MOMENTS", "4"))
"""Kills to try, spread over the run; more of them when somebody asks for more."""


def tables(apportion: CommandLine) -> list[pl.DataFrame]:
    store = Store(apportion.warehouse)
    return [store.read(name) for name in ("filings", "pages")]


@pytest.mark.slow
def test_a_killed_ingest_is_resumed(tmp_path: Path) -> None:
    bench = tiny.write(tmp_path / "bench")
    drop = bench / "pdfs"
    drop.mkdir()
    listed = {row["doc_name"]: row for row in tiny.rows()}
    for name in list(listed)[:6]:
        pages: list[str | None] = [
            f"page {i} of {name}\n" + "Net revenue 1,234 1,100\n" * 60 for i in range(150)
        ]
        (drop / f"{name}.pdf").write_bytes(make_pdf(pages))
    (drop / "damaged.pdf").write_bytes(b"%PDF-1.4 and no more")

    def fresh(name: str) -> CommandLine:
        folder = tmp_path / name
        folder.mkdir()
        return CommandLine(folder / "warehouse", folder)

    ingest = ("ingest", str(drop), "--as", "filings", "--batch", "whole")
    start = fresh("start")
    start.ok("ingest", str(bench), "--as", "financebench", "--batch", "bench", "--set", "tiny")
    undisturbed = fresh("undisturbed")
    shutil.copytree(start.warehouse, undisturbed.warehouse)
    began = time.monotonic()
    undisturbed.ok(*ingest)
    length = time.monotonic() - began
    expected = tables(undisturbed)
    assert expected[1].filter(pl.col("filing_batch") == "whole").height == 900
    chance = random.Random(3)
    for moment in range(MOMENTS):
        apportion = fresh(f"killed-{moment}")
        shutil.copytree(start.warehouse, apportion.warehouse)
        process = apportion.start(*ingest)
        # The first seconds are imports; the later the moment, the more there is to interrupt.
        time.sleep(length * (0.2 + 0.8 * (moment + chance.random()) / MOMENTS))
        process.kill()
        process.communicate()
        apportion.ok(*ingest)
        for found, wanted in zip(tables(apportion), expected, strict=True):
            assert found.equals(wanted), f"killed at moment {moment}"
        assert not list((apportion.warehouse / "staging").iterdir())

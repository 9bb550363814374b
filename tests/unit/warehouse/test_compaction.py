"""Small files are joined and nothing else changes: rows, history, slices that are written meanwhile."""

from __future__ import annotations

import threading
from pathlib import Path

import polars as pl
import pytest

from warehouse.compaction import compact
from warehouse.contracts import TABLES
from warehouse.store import Store

PAGES = TABLES["pages"]
BATCHES = 12


def pages(batch: str, count: int = 4, text: str = "assets") -> pl.DataFrame:
    return PAGES.arrange(
        pl.DataFrame(
            {
                "filing_batch": [batch] * count,
                "filing_id": [f"filing-{batch}"] * count,
                "page_number": range(count),
                "text": [f"{text} {i}" for i in range(count)],
                "token_count": [2] * count,
                "has_text": [True] * count,
            }
        )
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    store = Store(tmp_path / "tables")
    for i in range(BATCHES):
        store.write_slice("pages", pages(f"b{i:02d}"), {"filing_batch": f"b{i:02d}"}, {"run_id": str(i)})
    return store


def test_rows_and_history_stay_and_files_are_fewer(store: Store) -> None:
    before, history = store.read("pages"), store.history("pages")
    version = store.version("pages")
    assert len(store.files("pages")) == BATCHES
    assert compact(store, "pages") == (BATCHES, 1)
    assert len(store.files("pages")) == 1
    assert store.read("pages").equals(before)
    assert store.read("pages", version=version).equals(before)
    assert store.history("pages")[1:] == history
    assert compact(store, "pages") == (0, 0)
    assert store.vacuum("pages", 0)
    assert store.read("pages").equals(before)


def test_a_slice_of_a_joined_file_is_replaced_alone(store: Store) -> None:
    before = store.read("pages")
    compact(store, "pages")
    assert not store.write_slice("pages", pages("b03"), {"filing_batch": "b03"}).changed
    store.write_slice("pages", iter([pages("b03", 7, "liabilities")]), {"filing_batch": "b03"})
    after = store.read("pages")
    others = pl.col("filing_batch") != "b03"
    assert after.filter(others).equals(before.filter(others))
    assert (
        after.filter(~others)["text"].str.starts_with("liabilities").sum() == after.height - before.height + 4
    )


def test_a_table_that_is_not_there_is_nothing_to_join(tmp_path: Path) -> None:
    assert compact(Store(tmp_path), "pages") == (0, 0)


def test_writers_and_readers_go_on_meanwhile(store: Store) -> None:
    failed: list[BaseException] = []
    done = threading.Event()

    def write() -> None:
        try:
            own = Store(store.root)
            for turn in range(8):
                own.write_slice("pages", pages("b05", 3 + turn), {"filing_batch": "b05"})
        except BaseException as error:
            failed.append(error)
        finally:
            done.set()

    writer = threading.Thread(target=write)
    writer.start()
    while not done.is_set():
        compact(store, "pages")
        assert store.read("pages").filter(pl.col("filing_batch") != "b05").height == 4 * (BATCHES - 1)
    writer.join()
    assert not failed
    assert store.read("pages", {"filing_batch": "b05"}).height == 10

"""SQL over the current snapshots: read-only, closed to files, and the same in a person's own shell."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import duckdb
import polars as pl
import pytest

from warehouse import catalog
from warehouse.contracts import TABLES
from warehouse.store import Store


@pytest.fixture
def store(warehouse_folder: Path) -> Store:
    store = Store()
    rows = pl.DataFrame(
        {
            "outcome_set": ["s"] * 2,
            "question_id": ["1", "2"],
            "text": ["what?", "<b>why</b>'; DROP"],
            "evidence": [[{"filing_id": "f", "page_number": 0}], []],
        }
    )
    store.write_slice("questions", TABLES["questions"].arrange(rows), {"outcome_set": "s"}, {"run_id": "r"})
    return store


def test_every_table_is_there_with_the_contract_s_types(store: Store) -> None:
    shown = catalog.query(store, "SELECT table_name, column_name, data_type FROM information_schema.columns")
    for table in TABLES.values():
        named = shown.filter(pl.col("table_name") == table.name)
        assert named["column_name"].to_list() == list(table.schema)


def test_columns_carry_the_contract_s_words(store: Store) -> None:
    said = catalog.query(
        store,
        "SELECT comment FROM duckdb_columns() WHERE table_name = 'questions' AND column_name = 'evidence'",
    )
    assert said.item() == TABLES["questions"].by_name["evidence"].doc


def test_nested_columns_come_back(store: Store) -> None:
    rows = catalog.query(store, "SELECT evidence[1].page_number AS page FROM questions ORDER BY question_id")
    assert rows["page"].to_list() == [0, None]


@pytest.mark.parametrize(
    "statement",
    [
        "DROP VIEW questions",
        "CREATE TABLE x AS SELECT 1",
        "SELECT 1; SELECT 2",
        "COPY questions TO 'stolen.csv'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "SET memory_limit = '1GB'",
        "ATTACH 'other.duckdb'",
        "INSTALL httpfs",
        "PRAGMA database_list",
        "SELECT * FROM nowhere",
        "SELEC 1",
        "",
    ],
)
def test_only_a_single_reading_statement_is_taken(store: Store, statement: str, tmp_path: Path) -> None:
    with pytest.raises(catalog.SqlError) as caught:
        catalog.query(store, statement)
    assert "\n" not in str(caught.value)
    assert not list(tmp_path.glob("**/stolen.csv"))


@pytest.mark.parametrize(
    "statement", ["DESCRIBE questions", "SUMMARIZE questions", "SHOW TABLES", "EXPLAIN SELECT 1"]
)
def test_looking_around_is_allowed(store: Store, statement: str) -> None:
    assert catalog.query(store, statement).height > 0


def test_a_candidate_stands_in_its_table_s_place(store: Store) -> None:
    candidate = TABLES["questions"].empty()
    assert catalog.query(store, "SELECT count(*) FROM questions", {"questions": candidate}).item() == 0
    assert catalog.query(store, "SELECT count(*) FROM questions").item() == 2


def test_a_person_s_shell_sees_the_same_and_blocks_nobody(store: Store) -> None:
    path = catalog.publish(store)
    shell = duckdb.connect(str(path))
    assert shell.sql("SELECT count(*) FROM questions").fetchall() == [(2,)]
    more = TABLES["questions"].arrange(
        pl.DataFrame({"outcome_set": ["t"], "question_id": ["1"], "text": ["x"], "evidence": [[]]})
    )
    store.write_slice("questions", more, {"outcome_set": "t"})
    catalog.publish(store)
    # The open shell keeps its snapshot; one opened afterwards, in a process of its own, sees the newest.
    assert shell.sql("SELECT count(*) FROM questions").fetchall() == [(2,)]
    statement = "SELECT (SELECT count(*) FROM questions), (SELECT count(*) >= 2 FROM runs)"
    asked = f"import duckdb, sys; print(duckdb.connect(sys.argv[1]).sql({statement!r}).fetchall())"
    fresh = subprocess.run(
        [sys.executable, "-c", asked, str(path)], capture_output=True, text=True, check=True
    )
    assert fresh.stdout.strip() == "[(3, True)]"
    shell.close()


def test_a_log_left_by_a_dead_shell_is_removed(store: Store) -> None:
    path = catalog.publish(store)
    Path(f"{path}.wal").write_bytes(b"left behind")
    catalog.publish(store)
    assert not Path(f"{path}.wal").exists()


def test_runs_tell_what_made_each_version(store: Store) -> None:
    runs = catalog.runs(store)
    assert runs.filter(pl.col("operation") == "WRITE")["run_id"].to_list() == ["r"]

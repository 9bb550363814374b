"""Slices go in, snapshots come out: one commit a change, none where nothing changed, nothing half-written."""

from __future__ import annotations

import multiprocessing as mp
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import polars as pl
import pytest

from warehouse import catalog
from warehouse.contracts import TABLES
from warehouse.schema import ContractError
from warehouse.store import Store, StoreError

QUESTIONS = TABLES["questions"]


def questions(outcome_set: str, count: int = 3, text: str = "why?") -> pl.DataFrame:
    page = [{"filing_id": "f", "page_number": 1}]
    return QUESTIONS.arrange(
        pl.DataFrame(
            {
                "outcome_set": [outcome_set] * count,
                "question_id": [f"q{i:03d}" for i in range(count)],
                "text": [text] * count,
                "evidence": [page] * count,
            }
        )
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "tables of mine é")


def test_what_is_written_is_read(store: Store) -> None:
    rows = questions("a")
    receipt = store.write_slice("questions", rows, {"outcome_set": "a"}, {"run_id": "1"})
    assert receipt.changed
    assert receipt.rows == 3
    assert store.read("questions").equals(rows)
    assert store.history("questions")[0]["run_id"] == "1"


def test_equal_rows_commit_nothing(store: Store) -> None:
    store.write_slice("questions", questions("a"), {"outcome_set": "a"})
    version = store.version("questions")
    assert not store.write_slice("questions", questions("a"), {"outcome_set": "a"}, {"run_id": "2"}).changed
    assert store.version("questions") == version
    assert store.write_slice(
        "questions", questions("a"), {"outcome_set": "a"}, {"run_id": "3"}, force=True
    ).changed


def test_a_write_replaces_its_own_slice_only(store: Store) -> None:
    store.write_slice("questions", questions("a", 4), {"outcome_set": "a"})
    store.write_slice("questions", questions("b", 2), {"outcome_set": "b"})
    store.write_slice("questions", questions("a", 1), {"outcome_set": "a"})
    assert store.read("questions", {"outcome_set": "a"}).height == 1
    assert store.read("questions", {"outcome_set": "b"}).height == 2
    store.write_slice("questions", QUESTIONS.empty(), {"outcome_set": "b"})
    assert store.slices("questions", "outcome_set") == ["a"]


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda rows: rows.reverse(), "out of order"),
        (lambda rows: rows.with_columns(text=pl.lit(None, dtype=pl.String)), "text is None"),
        (
            lambda rows: rows.with_columns(outcome_set=pl.lit("b")),
            "outcome_set is 'b' in a write of the slice",
        ),
        (lambda rows: rows.drop("family"), "columns differ"),
        (lambda rows: pl.concat([rows[:2], rows[1:]]), "stands twice"),
    ],
)
def test_a_refused_write_commits_nothing(store: Store, spoil: object, said: str, streamed: bool) -> None:
    store.write_slice("questions", questions("a"), {"outcome_set": "a"})
    version = store.version("questions")
    rows = spoil(questions("a", 5))  # type: ignore[operator]
    with pytest.raises(ContractError, match=said):
        store.write_slice("questions", iter([rows]) if streamed else rows, {"outcome_set": "a"})
    assert store.version("questions") == version
    assert store.read("questions").equals(questions("a"))


def test_a_table_from_before_a_column_was_added_stays_readable_and_gains_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    earlier = replace(QUESTIONS, columns=tuple(c for c in QUESTIONS.columns if c.name != "family"))
    with monkeypatch.context() as older:
        older.setitem(TABLES, "questions", earlier)
        store.write_slice("questions", questions("old", 1).drop("family"), {"outcome_set": "old"})
    statement = "SELECT outcome_set, family FROM questions ORDER BY ALL"
    assert store.read("questions")["family"].to_list() == [None]
    assert catalog.query(store, statement).rows() == [("old", None)]
    now = questions("new", 1).with_columns(family=pl.lit("metrics"))
    store.write_slice("questions", now, {"outcome_set": "new"})
    assert catalog.query(store, statement).rows() == [("new", "metrics"), ("old", None)]
    assert store.read("questions", {"outcome_set": "new"}).equals(now)


def test_a_stream_is_one_commit(store: Store) -> None:
    rows = questions("a", 200)

    def frames() -> Iterator[pl.DataFrame]:
        for start in range(0, 200, 7):
            yield rows[start : start + 7]

    receipt = store.write_slice("questions", frames(), {"outcome_set": "a"})
    assert receipt.rows == 200
    assert store.version("questions") == 1
    assert store.read("questions").equals(rows)


def test_earlier_snapshots_stay_readable(store: Store) -> None:
    store.write_slice("questions", questions("a", 3, "old"), {"outcome_set": "a"})
    version = store.version("questions")
    store.write_slice("questions", questions("a", 3, "new"), {"outcome_set": "a"})
    assert store.read("questions", version=version)["text"].unique().to_list() == ["old"]
    assert store.read("questions")["text"].unique().to_list() == ["new"]


@pytest.mark.parametrize("name", ["", "../etc", "a b", "a'; DROP TABLE questions; --", "x" * 101, "é"])
def test_a_set_is_never_a_path_or_a_statement(store: Store, name: str) -> None:
    with pytest.raises(ValueError, match="is not a name"):
        store.write_slice("questions", questions("a"), {"outcome_set": name})


def test_awkward_values_in_a_slice_stay_apart(store: Store) -> None:
    """Judges and retrievers are model names: quotes and slashes in them are data."""
    table = TABLES["rubric_scores"]
    for judge in ("o'brien/judge", "o''brien/judge", "a/b:c"):
        rows = table.arrange(
            pl.DataFrame(
                {
                    "outcome_set": ["s"],
                    "question_id": ["q"],
                    "route": ["r"],
                    "judge": [judge],
                    "status": ["unjudged"],
                }
            )
        )
        store.write_slice("rubric_scores", rows, {"outcome_set": "s", "judge": judge})
        store.write_slice(
            "rubric_scores", rows.with_columns(reason=pl.lit("again")), {"outcome_set": "s", "judge": judge}
        )
    assert store.read("rubric_scores").height == 3


def test_an_unknown_table_is_refused_with_the_nearest_name(store: Store) -> None:
    with pytest.raises(ValueError, match="did you mean questions"):
        store.read("question")


def test_an_unwritable_place_says_so(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("not a folder")
    with pytest.raises(StoreError, match="APPORTION_WAREHOUSE"):
        Store(tmp_path / "file" / "inside").write_slice("questions", questions("a"), {"outcome_set": "a"})


@pytest.mark.parametrize("name", ["100%20", "[x]", "#1", "why?"])
def test_a_path_that_would_be_misread_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(StoreError, match="another folder"):
        Store(tmp_path / name)


def _write_own(root: str, number: int) -> int:
    store = Store(root)
    for version in range(5):
        store.write_slice(
            "questions", questions(f"set-{number}", 20, f"v{version}"), {"outcome_set": f"set-{number}"}
        )
    return number


def test_eight_processes_write_their_own_slices_at_once(tmp_path: Path) -> None:
    with mp.get_context("spawn").Pool(8) as pool:
        done = pool.starmap(_write_own, [(str(tmp_path), number) for number in range(8)])
    assert done == list(range(8))
    rows = Store(tmp_path).read("questions")
    assert rows.height == 160
    assert rows["text"].unique().to_list() == ["v4"]


def test_vacuum_keeps_what_is_needed(store: Store) -> None:
    for text in ("first", "second", "third"):
        store.write_slice("questions", questions("a", 3, text), {"outcome_set": "a"})
    pinned = 1
    assert store.read("questions", version=pinned)["text"][0] == "first"
    dropped = store.vacuum("questions", 0, [pinned])
    assert len(dropped) == 1
    assert store.read("questions", version=pinned)["text"][0] == "first"
    assert store.read("questions")["text"][0] == "third"
    with pytest.raises(Exception, match=r"No such file|not found"):
        store.read("questions", version=2)

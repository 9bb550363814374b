"""Contracts state every table once, and refuse what breaks them by name, row and value."""

from __future__ import annotations

from datetime import UTC, datetime

import polars as pl
import pytest

from warehouse.contracts import TABLES
from warehouse.schema import Column, ContractError, Table, sql_type, text, whole

TABLE = Table(
    "things",
    "one thing",
    (
        text("set", "set"),
        text("id", "id"),
        whole("count", "count", high=9),
        text("kind", "kind", nullable=True, values=("a", "b")),
    ),
    key=("set", "id"),
    slices=("set",),
)


def things(**columns: list[object]) -> pl.DataFrame:
    base: dict[str, list[object]] = {
        "set": ["s", "s"],
        "id": ["1", "2"],
        "count": [1, 2],
        "kind": ["a", None],
    }
    return pl.DataFrame({**base, **columns}, schema=TABLE.schema)


@pytest.mark.parametrize("name", sorted(TABLES))
def test_every_contract_is_whole(name: str) -> None:
    table = TABLES[name]
    assert table.name == name
    assert table.key
    assert set(table.slices) <= set(table.key) | {"outcome_set", "filing_batch"}
    assert table.validate(table.empty()) is None
    for column in table.columns:
        assert sql_type(column.dtype)
        assert column.doc
    for column in table.key:
        assert not table.by_name[column].nullable


def test_rows_that_keep_the_contract_pass() -> None:
    assert TABLE.validate(things()) == ("s", "2")


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"count": [1, None]}, r"row 1 \(set='s', id='2'\): count is None"),
        ({"count": [1, 12]}, "count is 12 .* 0 to 9"),
        ({"count": [-1, 2]}, r"row 0 .* count is -1"),
        ({"kind": ["a", "z"]}, "kind is 'z' .* one of a, b"),
        ({"id": ["1", "1"]}, "row 1 .* stands twice"),
        ({"id": ["2", "1"]}, "out of order; sort by set, id"),
    ],
)
def test_a_violation_names_table_row_and_value(columns: dict[str, list[object]], said: str) -> None:
    with pytest.raises(ContractError, match=said) as caught:
        TABLE.validate(things(**columns))
    assert "table things" in str(caught.value)


def test_not_a_number_is_refused() -> None:
    table = Table("t", "g", (text("id", "id"), Column("x", pl.Float64, "x")), key=("id",), slices=("id",))
    with pytest.raises(ContractError, match="x is nan"):
        table.validate(pl.DataFrame({"id": ["a"], "x": [float("nan")]}))


def test_a_stream_is_checked_across_its_batches() -> None:
    last = TABLE.validate(things())
    with pytest.raises(ContractError, match="stands twice"):
        TABLE.validate(things(id=["2", "3"]), after=last)
    with pytest.raises(ContractError, match="out of order"):
        TABLE.validate(things(id=["0", "3"]), after=last)
    assert TABLE.validate(things(id=["3", "4"]), after=last) == ("s", "4")


def test_arrange_sorts_casts_and_fills_what_may_be_null() -> None:
    rows = pl.DataFrame(
        {"id": ["2", "1"], "set": ["s", "s"], "count": [2, 1]}, schema_overrides={"count": pl.Int8}
    )
    arranged = TABLE.arrange(rows)
    assert arranged.columns == ["set", "id", "count", "kind"]
    assert arranged["id"].to_list() == ["1", "2"]
    assert arranged.schema == pl.Schema(TABLE.schema)


def test_arrange_refuses_what_the_contract_does_not_know() -> None:
    with pytest.raises(ContractError, match="unknown column 'colour'"):
        TABLE.arrange(things().with_columns(colour=pl.lit("red")))
    with pytest.raises(ContractError, match="column 'count' is missing"):
        TABLE.arrange(things().drop("count"))


def test_times_have_their_zone_in_sql() -> None:
    assert sql_type(TABLES["calls"].schema["created_at"]) == "TIMESTAMP WITH TIME ZONE"
    assert TABLES["calls"].empty()["created_at"].dtype == pl.Series([datetime.now(UTC)]).dtype

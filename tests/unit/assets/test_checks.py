"""A table of record is checked before it is committed: what must block does, and a warning doesn't."""

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from assets.checks import run_checks, shown, specs, sql_checks
from assets.expectations import SUITES
from assets.publishing import preview, publish
from assets.streams import publish_stream
from warehouse.contracts import TABLES
from warehouse.store import Store

HOUSES = TABLES["questions"]


def questions(texts: list[str], cited: int = 0) -> pl.DataFrame:
    return pl.DataFrame(
        {
            "outcome_set": "s",
            "question_id": [f"q{i}" for i in range(len(texts))],
            "text": texts,
            "evidence": [[{"filing_id": "f", "page_number": cited}]] * len(texts),
        }
    )


@pytest.fixture
def store(warehouse_folder: Path) -> Store:
    store = Store()
    page = TABLES["pages"].arrange(
        pl.DataFrame(
            {
                "filing_id": ["f"],
                "page_number": [0],
                "filing_batch": ["b"],
                "text": ["x"],
                "token_count": [1],
                "has_text": [True],
            }
        )
    )
    store.write_slice("pages", page, {"filing_batch": "b"})
    return store


def publishing(store: Store, rows: pl.DataFrame) -> dg.ExecuteInProcessResult:
    partitions = dg.StaticPartitionsDefinition(["s"])

    @dg.asset(name="questions", partitions_def=partitions, check_specs=specs("questions"))
    def asset(context: dg.AssetExecutionContext) -> object:
        yield from publish(context, store, "questions", rows, {"outcome_set": "s"}, inputs={})

    with dg.DagsterInstance.ephemeral() as instance:
        return dg.materialize([asset], partition_key="s", instance=instance, raise_on_error=False)


def evaluations(result: dg.ExecuteInProcessResult) -> dict[str, bool]:
    return {e.check_name: e.passed for e in result.get_asset_check_evaluations()}


@pytest.mark.filterwarnings("ignore")
def test_what_passes_is_committed(store: Store) -> None:
    result = publishing(store, questions(["a", "b"]))
    assert result.success
    assert store.read("questions").height == 2
    assert all(evaluations(result).values())


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("rows", "check"),
    [
        (pl.concat([questions(["a"]), questions(["b"])]), "contract"),
        (questions(["a"], cited=7), "evidence_in_corpus"),
        (questions([]), "expectations"),
    ],
)
def test_a_blocking_check_keeps_the_table_as_it_was(store: Store, rows: pl.DataFrame, check: str) -> None:
    assert publishing(store, questions(["old"])).success
    version = store.version("questions")
    result = publishing(store, rows)
    assert not result.success
    assert evaluations(result)[check] is False
    assert store.version("questions") == version
    assert store.read("questions")["text"].to_list() == ["old"]


@pytest.mark.filterwarnings("ignore")
def test_a_stream_is_refused_as_a_frame_is(store: Store) -> None:
    before = store.read("pages")
    broken = before.with_columns(page_number=pl.lit(-1, dtype=pl.Int64), text=pl.lit(""))
    partitions = dg.StaticPartitionsDefinition(["b"])

    @dg.asset(name="pages", partitions_def=partitions, check_specs=specs("pages"))
    def asset(context: dg.AssetExecutionContext) -> object:
        yield from publish_stream(
            context,
            store,
            "pages",
            broken,
            lambda: [broken],
            {"filing_batch": "b"},
            arguments={"content": "new"},
        )

    with dg.DagsterInstance.ephemeral() as instance:
        result = dg.materialize([asset], partition_key="b", instance=instance, raise_on_error=False)
    assert not result.success
    assert evaluations(result)["contract"] is False
    assert "page_number" in str(result.failure_data_for_node("pages"))
    assert store.read("pages").equals(before)


def test_a_warning_does_not_block(store: Store) -> None:
    candidate = TABLES["route_outcomes"].arrange(
        pl.DataFrame(
            {
                "outcome_set": ["s"],
                "question_id": ["q0"],
                "route": ["top1"],
                "model": ["m"],
                "answer": ["x"],
                "input_tokens": [3],
                "output_tokens": [4],
                "total_tokens": [7],
                "usage_source": ["provider"],
                "calls_made": [1],
                "status": ["ok"],
                "context": [[]],
                "quotes": [[]],
            },
            schema_overrides={"quotes": pl.List(pl.String)},
        )
    )
    rows = HOUSES.arrange(questions(["a", "b"]))
    store.write_slice("questions", rows, {"outcome_set": "s"})
    findings = {f.name: f for f in run_checks(store, "route_outcomes", candidate)}
    missing = findings["every_question_on_every_route"]
    assert not missing.passed
    assert not missing.blocking
    assert all(f.passed for f in findings.values() if f.blocking)
    assert "q1" in str(missing.metadata["first"])


def test_every_sql_check_runs_and_finds_nothing_in_nothing(store: Store) -> None:
    from warehouse import catalog

    for table, listed in sql_checks().items():
        for check in listed:
            candidate = shown(table, TABLES[table].empty())
            assert catalog.query(store, check.statement, candidate).is_empty(), check.name


@pytest.mark.parametrize("table", sorted(SUITES))
def test_every_suite_s_asset_lists_it(table: str) -> None:
    assert "expectations" in {spec.name for spec in specs(table)}


def test_a_preview_is_text_whatever_stands_in_the_rows() -> None:
    shown = preview(
        pl.DataFrame({"x": ["<script>alert(1)</script>", "a|b\nc", "![i](http://x)", None], "y": [1.0] * 4})
    )
    assert "<script>" not in shown
    assert "&lt;script&gt;" in shown
    assert "![i]" not in shown
    assert shown.count("\n") == 5

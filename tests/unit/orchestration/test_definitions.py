"""Everything Dagster sees: assets, their groups and lineage, and jobs that can be resolved."""

from __future__ import annotations

import dagster as dg
import pytest

from orchestration.definitions import defs
from orchestration.jobs import jobs
from warehouse.contracts import TABLES
from warehouse.contracts.corpus import RETRIEVAL
from warehouse.contracts.published import PUBLISHED
from warehouse.contracts.routing import ROUTING
from warehouse.contracts.systems import SYSTEMS
from warehouse.schema import Table

NOT_TABLES = {
    "benefit_model",
    "cost_model",
    "report",
    "imported_log",
    "edgar_index",
    "page_index",
    "chunk_index",
}
BEFORE_PUBLISHING = ("features", "predictions", "orders", "selections")


def nodes() -> dict[str, dg.AssetKey]:
    graph = defs.resolve_asset_graph()
    return {key.to_user_string(): key for key in graph.get_all_asset_keys()}


def test_an_asset_is_the_name_of_its_table() -> None:
    assert set(nodes()) - set(TABLES) == NOT_TABLES


def test_data_flows_one_way() -> None:
    graph = defs.resolve_asset_graph()
    for name in BEFORE_PUBLISHING:
        upstream = {key.to_user_string() for key in graph.upstream_key_iterator(nodes()[name])}
        assert "policy_summary" not in upstream
    published = {key.to_user_string() for key in graph.upstream_key_iterator(nodes()["policy_summary"])}
    assert {"selections", "predictions", "features", "route_quality", "questions"} <= published
    live = {key.to_user_string() for key in graph.upstream_key_iterator(nodes()["final_answers"])}
    assert {"features", "predictions", "route_outcomes"} <= live
    assert "final_answers" not in {
        key.to_user_string() for key in graph.upstream_key_iterator(nodes()["predictions"])
    }


def test_every_table_s_asset_shows_its_columns_and_checks() -> None:
    graph = defs.resolve_asset_graph()
    for name, key in nodes().items():
        if name in TABLES:
            assert "dagster/column_schema" in graph.get(key).metadata, name
            assert graph.get(key).check_keys, name


@pytest.mark.parametrize(
    ("job", "contracts", "others"),
    [
        ("publish", PUBLISHED, set()),
        ("routing", ROUTING, {"laboratory_queries", "laboratory_summary"}),
        ("compare_systems", SYSTEMS, set()),
        ("retrieve", RETRIEVAL, set()),
    ],
)
def test_a_stage_s_job_makes_every_table_of_the_stage(
    job: str, contracts: tuple[Table, ...], others: set[str]
) -> None:
    made = {key.to_user_string() for key in defs.resolve_job_def(job).asset_layer.executable_asset_keys}
    assert {table.name for table in contracts} - others <= made


@pytest.mark.parametrize("job", [job.name for job in jobs])
def test_jobs_resolve(job: str) -> None:
    assert defs.resolve_job_def(job).name == job


def test_a_code_location_can_be_made_of_it() -> None:
    """Jobs and steps share one space of names there; the commands alone would never notice a clash."""
    dg.Definitions.validate_loadable(defs)

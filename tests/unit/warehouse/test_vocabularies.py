"""What the library calls things is what the contracts let in. Neither imports the other: this holds them together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

import pytest

from apportion.allocation.policies import POLICIES, REFUSAL
from apportion.corpus.page_kinds import PAGE_KINDS
from apportion.evaluation import coverage, policy_tables, systems
from apportion.importing import generic
from apportion.llm.requests import OUTCOMES, PURPOSES, Purpose, Status, UsageSource
from apportion.report import routing_plots
from apportion.retrieval.accounting.signals import COLUMNS, SIGNALS
from apportion.retrieval.chunk_search import FusedScore
from apportion.retrieval.latent import LatentVectors
from apportion.retrieval.resolver import resolver
from apportion.routing import laboratory, routers
from assets.resources import Answering
from warehouse.contracts import TABLES, shared


def allowed(table: str, column: str) -> tuple[str, ...]:
    return TABLES[table].by_name[column].values


@pytest.mark.parametrize(
    ("library", "contract"),
    [
        (POLICIES, shared.POLICIES),
        (POLICIES, allowed("policy_summary", "policy")),
        (PURPOSES, shared.PURPOSES),
        (get_args(Purpose), shared.PURPOSES),
        (OUTCOMES, shared.CALL_STATUSES),
        (OUTCOMES, allowed("route_outcomes", "status")),
        ((*OUTCOMES, "left_out"), get_args(Status)),
        ((*OUTCOMES, "pending", "abandoned"), allowed("calls", "status")),
        (get_args(UsageSource), shared.USAGE_SOURCES),
        (resolver.STATUSES, shared.RESOLUTION_STATUSES),
        ((*resolver.STATUSES, "all"), allowed("resolver_summary", "status")),
        (PAGE_KINDS, shared.PAGE_KINDS),
        (SIGNALS, tuple(shared.ACCOUNTING_SIGNALS)),
        (tuple(COLUMNS.items()), tuple(shared.SIGNAL_COLUMNS.items())),
        (tuple(routing_plots.STAGES), shared.STAGES),
        (laboratory.ARMS, allowed("laboratory_queries", "arm")),
        (laboratory.CLASSES, allowed("laboratory_queries", "query_class")),
        (coverage.STAGES, allowed("coverage_summary", "stage")),
        (policy_tables.METRICS, allowed("policy_comparison", "metric")),
        (systems.METRICS, allowed("system_comparison", "metric")),
        (routers.ROUTERS, allowed("router_calibration", "router")),
        ((*routers.ROUTERS, "certified"), allowed("router_summary", "router")),
    ],
)
def test_the_library_and_the_contracts_name_the_same(
    library: Sequence[object], contract: Sequence[object]
) -> None:
    assert sorted(map(str, library)) == sorted(map(str, contract))


def test_what_is_one_of_a_vocabulary_stands_in_it() -> None:
    assert REFUSAL in POLICIES
    assert generic.JUDGED_BY in shared.JUDGED_BY
    assert set(generic.SUCCESS.values()) <= set(OUTCOMES)


def test_the_settings_begin_with_what_needs_no_model() -> None:
    settings = Answering()
    assert (settings.embedder, settings.reranker) == (LatentVectors.name, FusedScore.name)

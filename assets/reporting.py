"""The HTML report as an asset: every evaluated set's tables and plots in one offline page."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl

from apportion.report.page import Section, render
from apportion.report.retrieval import retrieval_section
from apportion.report.routing_section import routing_section
from apportion.report.sections import escalation_section, many_section
from apportion.report.systems_section import systems_section
from assets.published import PUBLISHED_TABLES
from assets.resources import Warehouse
from assets.routing import ROUTING_TABLES
from assets.several import MANY, MANY_TABLES
from assets.systems_published import SYSTEM_TABLES
from warehouse.store import Store

RETRIEVAL_SHOWN = ("questions", "retrieval_summary", "retrieval_shares", "retrieval_reasons")

POOLS_SHOWN = ("filing", "evidence", "corpus")
"""The pool of which pages are explained is the first of these that there is."""

SYSTEMS_SHOWN = (*SYSTEM_TABLES, "resolver_summary")


def sections(store: Store) -> list[Section]:
    """A section for each set and pair of routes that is evaluated."""
    pairs = (
        store.read("policy_summary")
        .select("outcome_set", "cheap_route", "deep_route")
        .unique(maintain_order=True)
    )
    made = []
    for outcome_set, cheap, deep in pairs.iter_rows():
        where = {"outcome_set": outcome_set, "cheap_route": cheap, "deep_route": deep}
        if deep == MANY:
            shown = {name: store.read(name, where) for name in ("selections", *MANY_TABLES)}
            made.append(many_section(outcome_set, cheap, shown))
            continue
        tables = {
            name: store.read(name, {"outcome_set": outcome_set} if name == "route_summary" else where)
            for name in PUBLISHED_TABLES
        }
        made.append(escalation_section(outcome_set, cheap, deep, tables))
    return made + routing_sections(store)


def routing_sections(store: Store) -> list[Section]:
    """A section for each choice of routes that routing was measured among."""
    chosen = store.read("routing_gap").select("outcome_set", "routes").unique(maintain_order=True)
    return [
        routing_section(
            outcome_set,
            routes,
            {
                name: store.read(name, {"outcome_set": outcome_set, "routes": routes})
                for name in ROUTING_TABLES
            },
        )
        for outcome_set, routes in chosen.iter_rows()
    ]


def system_sections(store: Store) -> list[Section]:
    """A section for each set and judge that scored its systems."""
    scored = store.read("system_summary").select("outcome_set", "judge").unique(maintain_order=True)
    made = []
    for outcome_set, judge in scored.iter_rows():
        tables = {name: store.read(name, {"outcome_set": outcome_set}) for name in SYSTEMS_SHOWN}
        by_judge = {
            name: rows.filter(pl.col("judge") == judge) if "judge" in rows.columns else rows
            for name, rows in tables.items()
        }
        made.append(systems_section(outcome_set, judge, by_judge))
    return made


def retrieval_sections(store: Store) -> list[Section]:
    """A section for each set whose pages were ranked, with reasons where knowledge of accounting ranked them."""
    made = []
    for outcome_set in store.slices("retrieval_summary", "outcome_set"):
        tables = {name: store.read(name, {"outcome_set": outcome_set}) for name in RETRIEVAL_SHOWN}
        reasons = tables["retrieval_reasons"]
        if not reasons.is_empty():
            pool = min(reasons["pool"].unique(), key=POOLS_SHOWN.index)
            for name in ("retrieval_reasons", "retrieval_shares"):
                tables[name] = tables[name].filter(pl.col("pool") == pool)
        made.append(
            retrieval_section(
                outcome_set,
                tables["questions"],
                tables["retrieval_summary"],
                tables["retrieval_shares"],
                tables["retrieval_reasons"],
            )
        )
    return made


def write_report(store: Store, folder: Path) -> Path:
    """Write the report into a folder and return its path; nobody ever reads half of it.

    Raises:
        ValueError: nothing is evaluated yet.
    """
    found = [*sections(store), *system_sections(store), *retrieval_sections(store)]
    if not found:
        raise ValueError("nothing is evaluated yet; `apportion run` or `apportion demo` comes first")
    page = render(
        found, "Published tables and plots of every evaluated set, with filing-clustered intervals."
    )
    target = folder / "report.html"
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=folder, prefix=".report-", suffix=".html", delete=False
    ) as handle:
        handle.write(page)
    Path(handle.name).chmod(0o644)
    os.replace(handle.name, target)  # noqa: PTH105 - replaces in one step
    return target


@dg.asset(
    group_name="published",
    deps=[
        dg.AssetDep(name, partition_mapping=dg.AllPartitionMapping())
        for name in (*PUBLISHED_TABLES, *ROUTING_TABLES, *SYSTEMS_SHOWN, *RETRIEVAL_SHOWN)
    ],
    kinds={"html"},
)
def report(warehouse: Warehouse) -> Iterator[Any]:
    """One HTML file over every evaluated set."""
    path = write_report(warehouse.store(), warehouse.local_folder())
    yield dg.MaterializeResult(
        metadata={"path": dg.MetadataValue.path(str(path)), "bytes": path.stat().st_size}
    )

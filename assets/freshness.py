"""What there is of each batch and set, and what is stale: computed from rows that have changed since."""

from __future__ import annotations

import json
from typing import Any

import polars as pl

from warehouse.contracts import TABLES
from warehouse.store import Store

Commits = dict[str, dict[str, list[dict[str, Any]]]]
"""The newest commit of each slice, by table and set, newest first."""

BY_SET = tuple(name for name, table in TABLES.items() if table.slices[0] == "outcome_set" and name != "calls")


def batch_rows(store: Store) -> list[dict[str, Any]]:
    """One row a filing batch."""
    grouped = (
        store.scan("filings")
        .group_by("filing_batch")
        .agg(
            pl.len().alias("filings"),
            pl.col("page_count").sum().alias("pages"),
            (pl.col("status") == "failed").sum().alias("failed"),
            (pl.col("status") == "no_text").sum().alias("no_text"),
        )
        .sort("filing_batch")
        .collect()
    )
    return grouped.to_dicts()


def set_rows(store: Store) -> list[dict[str, Any]]:
    """One row an outcome set: questions, routes answered, what is published, what is stale."""
    commits = {name: _by_partition(store, name) for name in BY_SET}
    rows = []
    for outcome_set in store.slices("questions", "outcome_set"):
        outcomes = store.scan("route_outcomes", {"outcome_set": outcome_set})
        routes = outcomes.select(pl.col("route").unique().sort()).collect()["route"].to_list()
        failed = outcomes.filter(pl.col("status") != "ok").select(pl.len()).collect().item()
        rows.append(
            {
                "outcome_set": outcome_set,
                "questions": store.read("questions", {"outcome_set": outcome_set}).height,
                "routes": ", ".join(routes),
                "failed_answers": failed,
                "published": outcome_set in commits["policy_summary"],
                "stale": ", ".join(stale_tables(commits, outcome_set)),
            }
        )
    return rows


def stale_tables(commits: Commits, outcome_set: str) -> list[str]:
    """Tables of a set that were computed before one of their inputs last changed."""
    stale = []
    for name, by_set in commits.items():
        if any(_is_stale(commit, commits, outcome_set) for commit in by_set.get(outcome_set, [])):
            stale.append(name)
    return stale


def _is_stale(commit: dict[str, Any], commits: Commits, outcome_set: str) -> bool:
    """Whether an input of a slice changed after the slice was computed.

    Of an input only slices that agree with this one where both name a column count: another pair's features, another
    judge's grades or another retriever's ranking were not read.
    """
    own = commit.get("slice") or {}
    for table, version in commit.get("inputs", {}).items():
        for newer in commits.get(table, {}).get(outcome_set, []):
            theirs = newer.get("slice") or {}
            shared = all(theirs[name] == value for name, value in own.items() if name in theirs)
            if shared and version is not None and newer["version"] > version:
                return True
    return False


def _by_partition(store: Store, table: str) -> dict[str, list[dict[str, Any]]]:
    """The newest commit of each slice of each set, newest first, by set."""
    newest: dict[str, list[dict[str, Any]]] = {}
    seen: set[str] = set()
    for entry in store.history(table):
        slice_name = json.dumps([entry.get("asset_partition"), entry.get("slice")], sort_keys=True)
        if slice_name not in seen:
            seen.add(slice_name)
            newest.setdefault(str(entry.get("asset_partition")), []).append(entry)
    return newest

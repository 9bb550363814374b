"""What made a slice of a table: run, code, versions, arguments and input versions, kept as commit metadata."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping
from functools import lru_cache
from importlib.metadata import version
from typing import Any

from warehouse.contracts import TABLES
from warehouse.paths import PROJECT_ROOT
from warehouse.store import Store

PACKAGES = ("apportion", "dagster", "deltalake", "duckdb", "litellm", "numpy", "polars", "scikit-learn")


@lru_cache(maxsize=1)
def code_state() -> tuple[str | None, bool | None]:
    """The checkout's commit and whether it was changed since; unknown outside a checkout."""
    try:
        head = _git("rev-parse", "HEAD")
        return head, bool(_git("status", "--porcelain", "--untracked-files=no"))
    except (OSError, subprocess.SubprocessError):
        return None, None


def _git(*arguments: str) -> str:
    done = subprocess.run(  # noqa: S603 - fixed program and arguments
        ("git", "-C", str(PROJECT_ROOT), *arguments),  # noqa: S607
        capture_output=True,
        text=True,
        check=True,
        timeout=20,
    )
    return done.stdout.strip()


@lru_cache(maxsize=1)
def package_versions() -> dict[str, str]:
    """Versions of the packages whose results could differ between releases."""
    return {name: version(name) for name in PACKAGES}


def provenance(
    store: Store,
    run_id: str,
    partition: str | None,
    inputs: Mapping[str, int | None],
    arguments: Mapping[str, Any],
    where: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The metadata of one commit.

    Args:
        store: where the tables are.
        run_id: Dagster's run.
        partition: the batch or set.
        inputs: tables read, with the version where it was fixed; None stands for the current one, which is that
            of the partition's own last commit where the table is written by partition.
        arguments: settings that the rows depend on.
        where: the slice that is written.
    """
    commit, dirty = code_state()
    return {
        "asset_partition": partition,
        "slice": dict(where or {}),
        "run_id": run_id,
        "commit": commit,
        "dirty": dirty,
        "versions": package_versions(),
        "arguments": dict(arguments),
        "inputs": {
            name: current_version(store, name, partition) if fixed is None else fixed
            for name, fixed in inputs.items()
        },
    }


def current_version(store: Store, table: str, partition: str | None) -> int | None:
    """The version that holds what a partition reads of a table: its own last commit, else the newest of all."""
    own = None if partition is None else last_commit(store, table, partition)
    return store.version(table) if own is None else int(own["version"])


def last_commit(
    store: Store, table: str, partition: str, where: Mapping[str, str] | None = None
) -> dict[str, Any] | None:
    """The newest commit that wrote this partition of a table, or the slice of it that is named."""
    for entry in store.history(table):
        written = entry.get("slice", {})
        if entry.get("asset_partition") == partition and all(
            written.get(n) == v for n, v in (where or {}).items()
        ):
            return entry
    return None


def pinned_versions(store: Store, table: str) -> list[int]:
    """Versions of a table that the newest commit of some slice was computed from and that may be read again.

    A partition's slices can keep to different versions: one retriever's ranking is of other pages than another's.
    """
    pinned = set()
    for reader in TABLES:
        seen = set()
        for entry in store.history(reader):
            if "inputs" not in entry:  # a compaction: it was computed from nothing
                continue
            written = (entry.get("asset_partition"), *sorted(entry.get("slice", {}).items()))
            if written not in seen:
                seen.add(written)
                version = entry["inputs"].get(table)
                if version is not None:
                    pinned.add(int(version))
    return sorted(pinned)

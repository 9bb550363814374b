"""Keeping the catalogue that people open in their own shells up to date."""

from __future__ import annotations

from filelock import FileLock

from warehouse import catalog
from warehouse.paths import local_root
from warehouse.store import Store


def refresh_catalogue() -> None:
    """Write ``catalog.duckdb`` and ``catalog.sql`` over the current snapshots, one process at a time."""
    local_root().mkdir(parents=True, exist_ok=True)
    with FileLock(local_root() / ".catalog.lock"):
        catalog.publish(Store())

"""Where things lie. Every path starts from the project root, whatever folder a command is run in."""

from __future__ import annotations

import os
from pathlib import Path

PROJECT_ROOT = Path(__file__).resolve().parent.parent
WAREHOUSE_VARIABLE = "APPORTION_WAREHOUSE"


def warehouse_root() -> str:
    """Root of the tables: a folder, or the address of an object store (``s3://...``)."""
    given = os.environ.get(WAREHOUSE_VARIABLE)
    if not given:
        return str(PROJECT_ROOT / "warehouse" / "data")
    if "://" in given:
        return given.rstrip("/")
    return str(Path(given).expanduser().resolve())


def local_root() -> Path:
    """Root of what is always a local file: ledger, indices, run history, catalogue."""
    root = warehouse_root()
    if "://" in root:
        return PROJECT_ROOT / "warehouse" / "data"
    return Path(root)


def sql_folder(kind: str) -> Path:
    """The folder of SQL files of one kind: ``views``, ``queries`` or ``checks``."""
    return PROJECT_ROOT / "sql" / kind

"""The command line as a process of its own."""

from __future__ import annotations

import csv
import io
import os
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


@dataclass(frozen=True)
class Shown:
    """What a command printed and how it ended."""

    status: int
    out: str
    err: str

    @property
    def error_lines(self) -> list[str]:
        """Lines on standard error."""
        return [line for line in self.err.splitlines() if line.strip()]


class CommandLine:
    """Runs `apportion` as a process of its own over one warehouse."""

    def __init__(self, warehouse: Path, folder: Path) -> None:
        self.warehouse = warehouse
        self.folder = folder

    @property
    def environment(self) -> dict[str, str]:
        """The environment of the process."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("APPORTION_", "DAGSTER_"))
        }
        return {**kept, "APPORTION_WAREHOUSE": str(self.warehouse), "COLUMNS": "200"}

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[str]:
        """Start a command and don't wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "orchestration", *arguments],
            cwd=self.folder,
            env={**self.environment, **options.pop("env", {})},  # type: ignore[dict-item]
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,  # type: ignore[call-overload]
        )

    def __call__(self, *arguments: str, env: dict[str, str] | None = None, timeout: float = 300) -> Shown:
        """Run a command to its end."""
        process = self.start(*arguments, env=env or {})
        out, err = process.communicate(timeout=timeout)
        return Shown(process.returncode, out, err)

    def ok(self, *arguments: str, **options: object) -> str:
        """Run a command that must succeed; returns what it printed."""
        shown = self(*arguments, **options)  # type: ignore[arg-type]
        assert shown.status == 0, f"{arguments}: {shown.err}"
        return shown.out

    def rows(self, statement: str) -> list[dict[str, str]]:
        """What a statement returns, as the cells of a CSV file; read in this process, which is faster."""
        from orchestration.output import flat
        from warehouse import catalog
        from warehouse.store import Store

        store = Store(self.warehouse)
        extra = {"runs": catalog.runs(store)} if " runs" in statement else {}
        answer = flat(catalog.query(store, statement, extra)).write_csv()
        return list(csv.DictReader(io.StringIO(answer)))

"""The command line over a warehouse of a test's own: as a process, or called in this one."""

from __future__ import annotations

import contextlib
import csv
import io
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
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


SET_ONCE = ("TIKTOKEN_CACHE_DIR",)
"""What LiteLLM says in the environment as it is imported, which happens once a process: where its tokenisers lie."""


class CommandLine:
    """Runs `apportion` over one warehouse.

    Calling it runs the command's own entry point in this process, under the environment, folder and streams that a
    process would have: the libraries behind a command take ten seconds to import, once. What is about processes
    (starting, killing, several at once) uses `process` and `start`.
    """

    def __init__(self, warehouse: Path, folder: Path) -> None:
        self.warehouse = warehouse
        self.folder = folder

    @property
    def environment(self) -> dict[str, str]:
        """The environment of a command."""
        kept = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("APPORTION_", "DAGSTER_"))
        }
        return {**kept, "APPORTION_WAREHOUSE": str(self.warehouse), "COLUMNS": "200"}

    def start(self, *arguments: str, **options: object) -> subprocess.Popen[str]:
        """Start a command as a process and don't wait for it."""
        return subprocess.Popen(
            [sys.executable, "-m", "orchestration", *arguments],
            cwd=self.folder,
            env={**self.environment, **options.pop("env", {})},  # type: ignore[dict-item]
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,  # type: ignore[call-overload]
        )

    def process(self, *arguments: str, env: dict[str, str] | None = None, timeout: float = 300) -> Shown:
        """Run a command as a process to its end."""
        process = self.start(*arguments, env=env or {})
        out, err = process.communicate(timeout=timeout)
        return Shown(process.returncode, out, err)

    def __call__(self, *arguments: str, env: Mapping[str, str] | None = None) -> Shown:
        """Run a command in this process to its end."""
        from orchestration import cli

        out, err = io.StringIO(), io.StringIO()
        with (
            _as_a_process_of(self.folder, {**self.environment, **(env or {})}, ["apportion", *arguments]),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            status = 0
            try:
                cli.main()
            except SystemExit as end:
                status = end.code if isinstance(end.code, int) else int(end.code is not None)
            finally:
                cli.Settings.debug = False
        return Shown(status, out.getvalue(), err.getvalue())

    def ok(self, *arguments: str, env: Mapping[str, str] | None = None) -> str:
        """Run a command that must succeed; returns what it printed."""
        shown = self(*arguments, env=env)
        assert shown.status == 0, f"{arguments}: {shown.err}"
        return shown.out

    def rows(self, statement: str) -> list[dict[str, str]]:
        """What a statement returns, as the cells of a CSV file."""
        from orchestration.output import flat
        from warehouse import catalog
        from warehouse.store import Store

        store = Store(self.warehouse)
        extra = {"runs": catalog.runs(store)} if " runs" in statement else {}
        answer = flat(catalog.query(store, statement, extra)).write_csv()
        return list(csv.DictReader(io.StringIO(answer)))


@contextlib.contextmanager
def _as_a_process_of(folder: Path, environment: Mapping[str, str], arguments: list[str]) -> Iterator[None]:
    """Environment, folder and arguments of a process, put back afterwards; libraries' warnings are its own."""
    before, place, called = dict(os.environ), Path.cwd(), sys.argv
    try:
        os.environ.clear()
        os.environ.update(environment)
        os.chdir(folder)
        sys.argv = arguments
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        kept = {name: os.environ[name] for name in SET_ONCE if name in os.environ}
        os.environ.clear()
        os.environ.update({**before, **kept})
        os.chdir(place)
        sys.argv = called

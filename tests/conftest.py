"""Fixtures that every kind of test shares: a warehouse of its own, the command line as a process, real data."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "support"))

DATA_VARIABLE = "APPORTION_TEST_DATA"


@pytest.fixture
def warehouse_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty warehouse, which the code under test finds as a user's."""
    folder = tmp_path / "warehouse"
    monkeypatch.setenv("APPORTION_WAREHOUSE", str(folder))
    return folder


@pytest.fixture(scope="session")
def test_data() -> Path:
    """The folder of real data; tests that need it skip where there is none."""
    given = os.environ.get(DATA_VARIABLE)
    if not given or not Path(given).is_dir():
        pytest.skip(f"{DATA_VARIABLE} names no folder of real data")
    return Path(given)


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


@pytest.fixture
def apportion(tmp_path: Path) -> CommandLine:
    """The command line over a warehouse of the test's own, run in an empty folder."""
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    return CommandLine(tmp_path / "warehouse", folder)


@pytest.fixture(scope="session")
def shared_apportion(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str], CommandLine]:
    """Command lines by name, each over a warehouse that lives as long as the session."""
    made: dict[str, CommandLine] = {}

    def get(name: str) -> CommandLine:
        if name not in made:
            folder = tmp_path_factory.mktemp(name)
            (folder / "elsewhere").mkdir()
            made[name] = CommandLine(folder / "warehouse", folder / "elsewhere")
        return made[name]

    return get

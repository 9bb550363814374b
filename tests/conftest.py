"""Fixtures that every kind of test shares: a warehouse of its own, the command line as a process, real data."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny
from commandline import CommandLine
from filelock import FileLock

DATA_VARIABLE = "APPORTION_TEST_DATA"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """What takes longest goes first: of two workers neither is left alone with the longest."""
    items.sort(key=lambda item: "integration" not in item.path.parts)


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


@pytest.fixture(scope="session")
def tiny_run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[CommandLine], CommandLine]:
    """Gives a command line a copy of a warehouse with the tiny set ingested and run, made once for all workers."""
    base = tmp_path_factory.getbasetemp()
    shared = (base.parent if os.environ.get("PYTEST_XDIST_WORKER") else base) / "tiny-run"

    def give(command: CommandLine) -> CommandLine:
        with FileLock(f"{shared}.lock"):
            if not (shared / "finished").exists():
                shutil.rmtree(shared, ignore_errors=True)
                (shared / "elsewhere").mkdir(parents=True)
                first = CommandLine(shared / "warehouse", shared / "elsewhere")
                first.ok("ingest", str(tiny.write(shared / "source")), "--set", "tiny", "--batch", "tiny")
                first.ok("run", "--set", "tiny")
                (shared / "finished").touch()
        shutil.copytree(shared / "warehouse", command.warehouse)
        return command

    return give

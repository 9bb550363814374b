"""A run that comes to nothing says so: every answer failed, or somebody interrupted it."""

from __future__ import annotations

import signal
import socket
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import tiny
from commandline import CommandLine

FILERS = 3
KEYS = {"OPENAI_API_KEY": "test"}
MODEL = ("--set", "asked", "--model", "openai/my-model", "--yes")


@pytest.fixture(scope="module")
def asked(
    shared_apportion: Callable[[str], CommandLine], tmp_path_factory: pytest.TempPathFactory
) -> CommandLine:
    """A warehouse with a set that nobody has answered."""
    apportion = shared_apportion("failing")
    folder = tiny.write(tmp_path_factory.mktemp("failing"), tiny.rows(FILERS))
    apportion.ok("ingest", str(folder), "--set", "asked", "--batch", "asked")
    return apportion


@pytest.fixture
def silent() -> Iterator[socket.socket]:
    """A port of 127.0.0.1 that is held and refuses, until its test listens on it."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        yield held


def base(held: socket.socket) -> tuple[str, str]:
    return "--api-base", f"http://127.0.0.1:{held.getsockname()[1]}/v1"


def test_an_interrupted_run_is_told_in_one_line(
    asked: CommandLine, silent: socket.socket, tmp_path: Path
) -> None:
    silent.listen()
    running = asked.start("run", *MODEL, *base(silent), env=KEYS, start_new_session=True)
    silent.settimeout(120)
    connection, _ = silent.accept()
    running.send_signal(signal.SIGINT)
    _, said = running.communicate(timeout=120)
    connection.close()
    assert running.returncode == 130, said
    lines = [line for line in said.splitlines() if line.startswith("apportion: ")]
    assert lines == [
        "apportion: interrupted; what was committed stays, and the same command goes on from there"
    ]
    assert "Traceback" not in said


def test_a_run_whose_answers_all_fail_ends_in_failure(asked: CommandLine, silent: socket.socket) -> None:
    shown = asked("run", *MODEL, *base(silent), env=KEYS)
    assert shown.status == 1, shown.err
    assert shown.out == ""
    (told,) = [line for line in shown.error_lines if " answers failed (" in line]
    count, _, cause = told.partition(" answers failed (failed): ")
    n, _, of = count.partition(" of ")
    assert n == of
    assert int(n) % (2 * FILERS) == 0
    assert "Connection error" in cause
    assert shown.error_lines[-1].startswith("apportion: set asked: no answer on ")
    assert asked.rows("SELECT DISTINCT status, total_tokens FROM route_outcomes") == [
        {"status": "failed", "total_tokens": "0"}
    ]

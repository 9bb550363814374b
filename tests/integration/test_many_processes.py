"""Many processes over one warehouse: at once, one reading while another writes, killed at any moment."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import duckdb
import pytest
import tiny
from commandline import CommandLine

MOMENTS = int(os.environ.get("APPORTION_KILL_MOMENTS", "3"))
"""Kills of a run to try; more of them when somebody asks for more."""

AT_ONCE = int(os.environ.get("APPORTION_PROCESSES_AT_ONCE", "6"))
"""Processes to start together; more of them when somebody asks for more."""


@pytest.fixture(scope="module")
def finished(
    shared_apportion: Callable[[str], CommandLine], tiny_run: Callable[[CommandLine], CommandLine]
) -> CommandLine:
    """A warehouse with the tiny set ingested and run."""
    return tiny_run(shared_apportion("written"))


def test_sql_reads_while_a_run_writes(finished: CommandLine, tmp_path: Path) -> None:
    folder = tiny.write(tmp_path / "other", tiny.rows(6))
    shell = duckdb.connect(
        str(finished.warehouse / "catalog.duckdb")
    )  # read-write, as a careless person would
    finished.ok("ingest", str(folder), "--set", "other", "--batch", "other")
    writing = finished.start("run", "--set", "other")
    seen = 0
    while writing.poll() is None:
        answer = finished.rows(
            "SELECT outcome_set, count(*) AS n FROM policy_summary GROUP BY ALL ORDER BY ALL"
        )
        assert {"outcome_set": "tiny", "n": "72"} in answer
        assert shell.sql("SELECT count(*) FROM policy_summary WHERE outcome_set = 'tiny'").fetchall() == [
            (72,)
        ]
        seen += 1
    writing.communicate()
    shell.close()
    assert writing.returncode == 0
    assert seen > 1
    # The filings were known: they stay with the batch that brought them first.
    assert finished.rows("SELECT DISTINCT filing_batch FROM filings") == [{"filing_batch": "tiny"}]


@pytest.mark.slow
def test_many_processes_start_at_once_on_a_fresh_home(apportion: CommandLine, tmp_path: Path) -> None:
    folders = [tiny.write(tmp_path / f"s{i}", tiny.rows(2)) for i in range(AT_ONCE)]

    def ingest(i: int) -> int:
        return apportion.process(
            "ingest", str(folders[i]), "--set", f"s{i}", "--batch", f"b{i}", timeout=500
        ).status

    with ThreadPoolExecutor(AT_ONCE) as pool:
        assert list(pool.map(ingest, range(AT_ONCE))) == [0] * AT_ONCE
    assert apportion.rows("SELECT count(DISTINCT outcome_set) AS sets, count(*) AS n FROM questions") == [
        {"sets": str(AT_ONCE), "n": str(4 * AT_ONCE)}
    ]
    assert apportion.rows("SELECT count(*) AS n FROM filings") == [{"n": "2"}]


@pytest.mark.slow
def test_a_run_killed_at_any_moment_finishes_when_started_again(
    apportion: CommandLine, finished: CommandLine, tmp_path: Path
) -> None:
    import random

    folder = tiny.write(tmp_path / "t")
    moments = random.Random(7)
    began = time.monotonic()
    assert apportion.process("ingest", str(folder), "--set", "tiny", "--batch", "tiny").status == 0
    clean = 3 * (time.monotonic() - began)
    for kill in range(MOMENTS):
        # The later kills fall on runs that have everything in the ledger, the earlier ones on the first answers.
        running = apportion.start("run", "--set", "tiny", start_new_session=True)
        try:
            running.communicate(timeout=moments.uniform(0.3, clean))
        except subprocess.TimeoutExpired:
            os.killpg(running.pid, signal.SIGKILL)
            running.communicate()
        else:
            assert running.returncode == 0, kill
    apportion.ok("run", "--set", "tiny")
    states = {
        row["last_run"]
        for row in json.loads(apportion.ok("status", "--format", "json"))
        if row["kind"] == "set"
    }
    assert states == {"success"}
    for table in (
        "route_outcomes",
        "judgements",
        "route_quality",
        "features",
        "predictions",
        "selections",
        "policy_summary",
    ):
        columns = "* EXCLUDE (latency_ms)" if table == "route_outcomes" else "*"
        statement = f"SELECT {columns} FROM {table} WHERE outcome_set = 'tiny' ORDER BY ALL"
        assert apportion.rows(statement) == finished.rows(statement), table

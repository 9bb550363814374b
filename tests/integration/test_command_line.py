"""The command line as people meet it: real processes over a real warehouse."""

from __future__ import annotations

import csv
import io
import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import tiny
from commandline import ROOT, CommandLine

HEAVY = ("dagster", "litellm", "sklearn", "pandas", "great_expectations", "polars", "duckdb")


@pytest.fixture(scope="module")
def finished(
    shared_apportion: Callable[[str], CommandLine], tiny_run: Callable[[CommandLine], CommandLine]
) -> CommandLine:
    """A warehouse with the tiny set ingested and run."""
    return tiny_run(shared_apportion("finished"))


def test_help_imports_nothing_heavy(apportion: CommandLine) -> None:
    script = f"import sys, orchestration.cli; print([m for m in {HEAVY!r} if m in sys.modules])"
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "[]"
    shown = apportion("--help")
    assert shown.status == 0
    for command in ("ingest", "run", "evaluate", "sql", "status", "ui", "demo"):
        assert command in shown.out


def test_the_whole_path_leaves_its_tables(finished: CommandLine) -> None:
    counted = finished.rows(
        "SELECT (SELECT count(*) FROM filings) AS filings, (SELECT count(*) FROM pages) AS pages,"
        " (SELECT count(*) FROM questions) AS questions, (SELECT count(*) FROM route_outcomes) AS outcomes,"
        " (SELECT count(*) FROM judgements) AS judgements, (SELECT count(*) FROM policy_summary) AS policies",
    )
    assert counted == [
        {
            "filings": "12",
            "pages": "24",
            "questions": "24",
            "outcomes": "96",
            "judgements": "288",
            "policies": "72",
        }
    ]


def test_a_second_run_calls_nothing_commits_nothing_and_prints_the_same(finished: CommandLine) -> None:
    versions = finished.rows('SELECT "table", max(version) AS version FROM runs GROUP BY ALL ORDER BY ALL')
    first = finished.ok("run", "--set", "tiny", "--format", "csv")
    shown = finished.process("run", "--set", "tiny", "--format", "csv")
    assert shown.out == first
    assert "0 model calls made; no table changed" in shown.err
    assert (
        finished.rows('SELECT "table", max(version) AS version FROM runs GROUP BY ALL ORDER BY ALL')
        == versions
    )


def test_formats_agree(finished: CommandLine) -> None:
    statement = "SELECT policy, budget_fraction, quality FROM policy_summary ORDER BY ALL"
    as_csv = list(csv.DictReader(io.StringIO(finished.ok("sql", statement, "--format", "csv"))))
    as_json = json.loads(finished.ok("sql", statement, "--format", "json"))
    assert [row["policy"] for row in as_csv] == [row["policy"] for row in as_json]
    assert [float(row["quality"]) for row in as_csv] == [row["quality"] for row in as_json]


def test_a_shell_on_the_catalogue_shows_what_sql_shows(finished: CommandLine) -> None:
    statement = "SELECT policy, budget_fraction, accuracy, quality FROM policy_summary ORDER BY ALL"
    script = f"import duckdb, sys; print(duckdb.connect(sys.argv[1]).sql({statement!r}).fetchall())"
    catalogue = str(finished.warehouse / "catalog.duckdb")
    shell = subprocess.run(
        [sys.executable, "-c", script, catalogue], capture_output=True, text=True, check=True
    )
    expected = [tuple(row.values()) for row in json.loads(finished.ok("sql", statement, "--format", "json"))]
    assert shell.stdout.strip() == repr(expected)


def test_status_tells_sets_batches_and_spending(finished: CommandLine) -> None:
    listed = json.loads(finished.ok("status", "--format", "json"))
    (made,) = [row for row in listed if row["kind"] == "set" and row["outcome_set"] == "tiny"]
    assert made["questions"] == 24
    assert made["stale"] == ""
    assert made["published"] is True
    assert made["last_run"] == "success"
    assert {row["purpose"] for row in listed if row["kind"] == "spending"} == {"answer", "judge"}


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (("run", "--set", "tinny"), 2, "did you mean tiny?"),
        (("run", "--set", "../etc"), 2, "is not a name"),
        (("run", "--set", "tiny", "--routes", "top1,top3"), 2, "there is no route 'top3'"),
        (("run", "--set", "tiny", "--model", "embedded/oracle"), 2, "embedded models: embedded/reader"),
        (("run", "--set", "tiny", "--model", "nobody-makes-this"), 2, "name it as LiteLLM does"),
        (("run", "--set", "tiny", "--model", "openai/gpt-4o-mini"), 1, "under another name"),
        (("run", "--set", "tiny", "--pool", "ocean"), 2, "pools: evidence, filing, corpus"),
        (("evaluate", "--set", "tiny", "--gain-model", "oracle"), 2, "no such benefit model"),
        (("ingest", "a", "b", "--as", "questions"), 2, "one path at a time"),
        (("ingest", "a", "--as", "filings", "--set", "x"), 2, "filings have none"),
        (("evaluate", "--set", "tiny", "--cheap", "top5", "--deep", "top5"), 2, "a pair has two routes"),
        (("evaluate", "--set", "tiny", "--budgets", "0.1,2"), 2, "between 0 and 1"),
        (
            ("evaluate", "--set", "tiny", "--deep", "top9"),
            2,
            "no outcome on route 'top9'; did you mean top5?",
        ),
        (("evaluate", "--set", "tiny", "--routes", "top1"), 2, "two or more, each once, the cheap one first"),
        (("evaluate", "--set", "tiny", "--routes", "top1,top9"), 2, "no outcome on route 'top9'"),
        (("evaluate", "--set", "tiny", "--routes", "top1,top2", "--cheap", "top1"), 2, "leave --cheap and"),
        (("evaluate", "--set", "tiny", "--judge", "embedded/juge"), 2, "did you mean embedded/judge?"),
        (("resources", "--set", "tiny", "--judge", "embedded/juge"), 2, "did you mean embedded/judge?"),
        (("routing", "--set", "tiny", "--judge", "embedded/juge"), 2, "did you mean embedded/judge?"),
        (("routing", "--set", "tiny", "--routes", "top1,top9"), 2, "did you mean top5?"),
        (("run", "--set", "tiny", "--deep", "top55", "--max-usd", "5"), 2, "did you mean top5?"),
        (("plan", "--set", "tiny", "--budget", "0.1", "--deep", "top9"), 2, "did you mean top5?"),
        (
            ("escalate", "--set", "tiny", "--budget", "0.1", "--policy", "gain_onyl"),
            2,
            "did you mean gain_only?",
        ),
        (("ingest", "."), 2, "say --as filings, questions or financebench"),
        (("sql", "DROP VIEW questions"), 2, "read-only"),
        (("sql", "SELECT * FROM question"), 2, "does not exist"),
        (("ingest", "nowhere.jsonl", "--as", "financebench"), 2, "there is nothing here"),
        (("ingest", ".", "--as", "magic"), 2, "no such kind"),
        (("ingest", ".", "--as", "financebench"), 1, "no financebench_open_source.jsonl"),
    ],
)
def test_a_wrong_call_is_one_line(
    finished: CommandLine, arguments: tuple[str, ...], status: int, said: str
) -> None:
    shown = finished(*arguments)
    assert shown.status == status, shown.err
    (line,) = [line for line in shown.error_lines if line.startswith("apportion:")]
    assert said in line
    assert "Traceback" not in shown.err
    assert not shown.out
    # What is refused leaves nothing behind.
    assert finished.rows("SELECT DISTINCT deep_route FROM features") == [{"deep_route": "top5"}]


def test_a_file_with_bad_rows_goes_on_with_the_good_ones(apportion: CommandLine, tmp_path: Path) -> None:
    listed = tiny.rows(4)
    listed[2]["question"] = ""
    listed[3]["evidence"][0]["evidence_page_num"] = -4
    folder = tiny.write(tmp_path / "mixed", listed)
    with (folder / "financebench_open_source.jsonl").open("a") as handle:
        handle.write('{"broken": \n')
    shown = apportion("ingest", str(folder))
    assert shown.status == 0
    said = [line for line in shown.error_lines if "financebench_open_source.jsonl, line" in line]
    assert len(said) == 3
    assert "set financebench: 6 questions" in shown.err


def test_an_empty_file_is_a_failure(apportion: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "financebench_open_source.jsonl").write_text("")
    shown = apportion("ingest", str(tmp_path))
    assert shown.status == 1
    assert "no usable question" in shown.err
    assert not apportion.rows("SELECT * FROM filings")


def test_one_filing_cannot_be_held_out(apportion: CommandLine, tmp_path: Path) -> None:
    apportion.ok("ingest", str(tiny.write(tmp_path / "one", tiny.rows(1))), "--set", "one")
    shown = apportion("run", "--set", "one")
    assert shown.status == 0
    (line,) = [line for line in shown.error_lines if "not evaluated" in line]
    assert "held-out predictions need at least two" in line
    assert "Answers, set one" in shown.out
    assert apportion.rows("SELECT count(*) AS n FROM route_outcomes") == [{"n": "8"}]
    refused = apportion("evaluate", "--set", "one")
    assert refused.status == 1
    assert "held-out predictions need at least two" in refused.error_lines[-1]


def test_fewer_filings_than_folds_still_evaluate(apportion: CommandLine, tmp_path: Path) -> None:
    apportion.ok("ingest", str(tiny.write(tmp_path / "three", tiny.rows(3))), "--set", "three")
    apportion.ok("run", "--set", "three")
    assert apportion.rows("SELECT max(fold) AS last FROM predictions") == [{"last": "2"}]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes where nobody else may")
def test_an_unwritable_folder_is_one_line(apportion: CommandLine, tmp_path: Path) -> None:
    apportion.warehouse.mkdir()
    apportion.warehouse.chmod(stat.S_IREAD | stat.S_IEXEC)
    shown = apportion("ingest", str(tiny.write(tmp_path / "t")))
    assert shown.status == 1
    assert len(shown.error_lines) == 1


def test_a_warehouse_that_cannot_be_made_is_one_line(apportion: CommandLine, tmp_path: Path) -> None:
    apportion.warehouse.write_text("a file where the folder should be")
    shown = apportion("ingest", str(tiny.write(tmp_path / "t")))
    assert shown.status == 1
    assert len(shown.error_lines) == 1
    assert str(apportion.warehouse) in shown.err


def test_folders_of_our_names_elsewhere_are_not_taken_for_ours(
    apportion: CommandLine, tmp_path: Path
) -> None:
    for name in ("assets", "sql", "warehouse", "orchestration", "apportion"):
        decoy = apportion.folder / name
        decoy.mkdir()
        (decoy / "__init__.py").write_text("raise RuntimeError('the wrong one')\n")
    script = Path(sys.executable).parent / "apportion"
    if not script.exists():
        pytest.skip("the project is not installed in this environment")
    folder = tiny.write(tmp_path / "t", tiny.rows(2))
    done = subprocess.run(
        [str(script), "ingest", str(folder)],
        cwd=apportion.folder,
        env=apportion.environment,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr


NO_NETWORK = """
import socket, os
def _refuse(address):
    host = address[0] if isinstance(address, tuple) else address
    if isinstance(host, str) and host not in ("127.0.0.1", "::1", "localhost") and not str(host).startswith("/"):
        with open(os.environ["NETWORK_LOG"], "a") as log:
            log.write(repr(address) + "\\n")
        raise OSError("no network here")
_connect, _lookup = socket.socket.connect, socket.getaddrinfo
def connect(self, address):
    if self.family in (socket.AF_INET, socket.AF_INET6):
        _refuse(address)
    return _connect(self, address)
def getaddrinfo(host, *rest, **named):
    _refuse((host,))
    return _lookup(host, *rest, **named)
socket.socket.connect, socket.getaddrinfo = connect, getaddrinfo
"""


def test_nothing_tries_to_reach_a_network(apportion: CommandLine, tmp_path: Path) -> None:
    watch = tmp_path / "watch"
    watch.mkdir()
    (watch / "sitecustomize.py").write_text(NO_NETWORK)
    log = tmp_path / "network.log"
    log.write_text("")
    env = {"PYTHONPATH": str(watch), "NETWORK_LOG": str(log)}
    probe = subprocess.run(
        [sys.executable, "-c", "import socket; socket.create_connection(('192.0.2.1', 80), 1)"],
        env={**os.environ, **env},
        capture_output=True,
    )
    assert probe.returncode != 0
    assert "192.0.2.1" in log.read_text()
    log.write_text("")
    folder = tiny.write(tmp_path / "t", tiny.rows(3))
    assert apportion.process("ingest", str(folder), "--set", "tiny", env=env).status == 0
    assert apportion.process("run", "--set", "tiny", env=env).status == 0
    assert log.read_text() == ""

"""The one way into Dagster: home, run history and the repair of what a killed run left behind."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from apportion.llm.liveness import ProcessName, is_alive, this_process
from warehouse.paths import PROJECT_ROOT, local_root

if TYPE_CHECKING:
    import dagster as dg

PROCESS_TAG = "apportion/process"


def prepare_home() -> Path:
    """Point Dagster at the project, whatever the environment says, and return the folder of its history."""
    runs = local_root() / "dagster"
    runs.mkdir(parents=True, exist_ok=True)
    os.environ["DAGSTER_HOME"] = str(PROJECT_ROOT)
    os.environ["APPORTION_RUNS"] = str(runs)
    return runs


@contextmanager
def open_instance() -> Iterator[dg.DagsterInstance]:
    """The project's instance. Its databases are made, and dead runs closed, by one process at a time."""
    import dagster as dg
    from filelock import FileLock

    runs = prepare_home()
    with FileLock(runs / ".starting.lock"):
        instance = dg.DagsterInstance.get()
        # Touching each store makes its schema now, while nobody else can.
        instance.get_runs_count()
        instance.all_asset_keys()
        close_dead_runs(instance)
    try:
        yield instance
    finally:
        instance.dispose()


def run_tags() -> dict[str, str]:
    """Tags by which a later process can tell whether this one still lives."""
    import json
    from dataclasses import asdict

    return {PROCESS_TAG: json.dumps(asdict(this_process()), sort_keys=True)}


def close_dead_runs(instance: dg.DagsterInstance) -> int:
    """Mark runs failed whose process is gone; returns how many."""
    import json

    import dagster as dg

    unfinished = dg.RunsFilter(
        statuses=[
            dg.DagsterRunStatus.STARTED,
            dg.DagsterRunStatus.STARTING,
            dg.DagsterRunStatus.NOT_STARTED,
            dg.DagsterRunStatus.CANCELING,
        ]
    )
    closed = 0
    here = this_process()
    for run in instance.get_runs(unfinished):
        tag = run.tags.get(PROCESS_TAG)
        if tag is None:
            continue
        process = ProcessName(**json.loads(tag))
        # History is a local file, so another host's name means this machine before a restart.
        if process.host == here.host and is_alive(process, silent_for_s=0.0):
            continue
        instance.report_run_failed(
            run, "its process is gone; start it again and it goes on from what was committed"
        )
        closed += 1
    return closed


def run_states(instance: dg.DagsterInstance) -> dict[str, str]:
    """The state of the newest run of each partition."""
    states: dict[str, str] = {}
    for run in instance.get_runs(limit=1000):
        partition = run.tags.get("dagster/partition")
        if partition is not None:
            states.setdefault(partition, run.status.value.lower())
    return states

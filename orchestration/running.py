"""Running a job for a command: in this process, with its settings, and an error that fits one line."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from orchestration.instance import run_tags

if TYPE_CHECKING:
    import dagster as dg


class WorkFailedError(RuntimeError):
    """A run failed; the message says what was wrong and what to do."""

    def __init__(self, message: str, trace: str = "") -> None:
        super().__init__(message)
        self.trace = trace


WRAPPERS = ("DagsterExecutionStepExecutionError", "DagsterUserCodeExecutionError")
"""What Dagster puts around the error of a step."""

INTERRUPTIONS = ("DagsterExecutionInterruptedError", "KeyboardInterrupt")
"""What a step ends in on Ctrl-C or SIGTERM."""


DIMENSIONS: dict[str, str | None] = {
    "ingest_filings": "filing_batches",
    "index_pages": "filing_batches",
    "list_edgar": None,
}
"""The dynamic partitions that a job runs on, where they aren't sets; None for calendar days."""


@dataclass(frozen=True)
class Finished:
    """What a run left: metadata of each materialised table, and when it began (seconds of Unix time)."""

    metadata: Mapping[str, Mapping[str, Any]]
    began: float

    @property
    def problems(self) -> list[str]:
        """Inputs that were refused, a line each."""
        return [line for shown in self.metadata.values() for line in shown.get("problems", [])]

    @property
    def committed(self) -> list[str]:
        """Tables that changed."""
        return [table for table, shown in self.metadata.items() if shown.get("committed")]

    @property
    def model_calls(self) -> int:
        """Calls sent since the run began, for whatever purpose; those served from the ledger don't count."""
        from apportion.llm.ledger import Ledger
        from assets.resources import Warehouse

        path = Warehouse().ledger_path()
        if not path.exists():
            return 0
        ledger = Ledger(path)
        try:
            return ledger.sent_since(self.began)
        finally:
            ledger.close()


def run_job(
    instance: dg.DagsterInstance,
    job: str,
    partition: str | None,
    settings: Mapping[str, Mapping[str, Any]],
    selection: list[str] | None = None,
) -> Finished:
    """Run a job for one partition in this process.

    Args:
        instance: Dagster's.
        job: its name.
        partition: the batch or set, registered if it is new; None for a job that has none.
        settings: fields of the resources, by resource.
        selection: only these assets of the job.

    Raises:
        WorkFailedError: a step failed. Tables committed before it stay.
        KeyboardInterrupt: the run was interrupted in a step, which Dagster tells as that step's failure.
    """
    from orchestration.definitions import defs

    dimension = DIMENSIONS.get(job, "outcome_sets")
    if (
        partition is not None
        and dimension is not None
        and not instance.has_dynamic_partition(dimension, partition)
    ):
        instance.add_dynamic_partitions(dimension, [partition])
    definition = defs.resolve_job_def(job)
    wanted = {name: fields for name, fields in settings.items() if name in definition.resource_defs}
    import dagster as dg

    began = time.time()
    result = definition.execute_in_process(
        instance=instance,
        partition_key=partition,
        run_config={
            "resources": {name: {"config": dict(fields)} for name, fields in wanted.items() if fields},
            "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
        },
        asset_selection=[dg.AssetKey(name) for name in selection] if selection else None,
        tags=run_tags(),
        raise_on_error=False,
    )
    if not result.success:
        if _interrupted(result):
            raise KeyboardInterrupt
        raise _failure(result)
    metadata: dict[str, dict[str, Any]] = {}
    for event in result.get_asset_materialization_events():
        materialised = event.step_materialization_data.materialization
        metadata[materialised.asset_key.to_user_string()] = {
            name: value.value for name, value in materialised.metadata.items()
        }
    return Finished(metadata, began)


def _interrupted(result: Any) -> bool:
    for event in result.all_events:
        error = event.step_failure_data.error if event.is_step_failure else None
        while error is not None:
            if error.cls_name in INTERRUPTIONS:
                return True
            error = error.cause
    return False


def _failure(result: Any) -> WorkFailedError:
    for event in result.all_events:
        if event.is_step_failure:
            data = event.step_failure_data
            asset = event.step_key
            said = data.user_failure_data.description if data.user_failure_data else None
            error = data.error
            while error is not None and error.cause is not None and error.cls_name in WRAPPERS:
                error = error.cause
            message = said or (error.message if error else "unknown failure")
            # Dagster puts the class in front and a newline behind.
            first = " ".join(message.split())
            if error is not None and error.cls_name:
                first = first.removeprefix(f"{error.cls_name}: ").removeprefix(f"dagster.{error.cls_name}: ")
            return WorkFailedError(f"{asset}: {first}", data.error.to_string() if data.error else "")
    return WorkFailedError("the run failed before its first step; see it in `apportion ui`")


def quiet() -> None:
    """Keep libraries' chatter off standard error; what matters comes as an error or a progress bar."""
    import logging
    import warnings

    for name in ("dagster", "LiteLLM", "great_expectations", "alembic"):
        logging.getLogger(name).setLevel(logging.ERROR)
    if not sys.warnoptions:
        warnings.simplefilter("ignore")

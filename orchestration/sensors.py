"""Sensors: a day of EDGAR that was listed is ingested; so is what is dropped into the inbox."""

import json
import os
import time
from collections.abc import Iterator
from pathlib import Path

import dagster as dg

from apportion.corpus.edgar import batch_of
from apportion.corpus.inbox import look
from assets.partitions import filing_batches
from orchestration.jobs import ingest_filings
from warehouse.paths import local_root
from warehouse.store import Store

INBOX_VARIABLE = "APPORTION_INBOX"


def inbox_folder() -> Path:
    """The folder that files are dropped into: APPORTION_INBOX, or ``inbox`` beside the tables."""
    given = os.environ.get(INBOX_VARIABLE)
    return Path(given).expanduser() if given else local_root() / "inbox"


@dg.sensor(job=ingest_filings, minimum_interval_seconds=30)
def inbox(context: dg.SensorEvaluationContext) -> dg.SensorResult:
    """Files dropped into the inbox, by content: the same bytes run once, changed bytes run again."""
    seen = json.loads(context.cursor) if context.cursor else {}
    known = set(Store().scan("filings").select("sha256").collect()["sha256"])
    drop = look(inbox_folder(), seen, known, time.time())
    if not drop.paths:
        return dg.SensorResult(skip_reason="nothing new", cursor=json.dumps(drop.seen, sort_keys=True))
    request = dg.RunRequest(
        run_key=drop.batch,
        partition_key=drop.batch,
        run_config={
            "resources": {"filing_files": {"config": {"paths": [str(path.resolve()) for path in drop.paths]}}}
        },
    )
    # Dagster keeps the cursor only of a tick whose requests it has taken.
    return dg.SensorResult(
        run_requests=[request],
        dynamic_partitions_requests=[filing_batches.build_add_request([drop.batch])],
        cursor=json.dumps(drop.seen, sort_keys=True),
    )


@dg.asset_sensor(asset_key=dg.AssetKey("edgar_index"), job=ingest_filings, minimum_interval_seconds=30)
def listed_days(context: dg.SensorEvaluationContext, event: dg.EventLogEntry) -> Iterator[dg.RunRequest]:
    """A day whose index was read is ingested."""
    from datetime import date

    materialised = event.asset_materialization
    if materialised is not None and materialised.partition is not None:
        batch = batch_of(date.fromisoformat(materialised.partition))
        yield dg.RunRequest(run_key=f"{batch}@{event.run_id}", partition_key=batch)


sensors = [inbox, listed_days]

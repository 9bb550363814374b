"""Runs of the corpus through Dagster's multiprocess executor: ``python -m filing_defs BATCH FOLDER``."""

from __future__ import annotations

import sys

import dagster as dg

from assets.corpus import corpus
from assets.edgar import Edgar
from assets.filings import FilingFiles
from assets.resources import defaults

defs = dg.Definitions(
    assets=[corpus],
    resources={**defaults(), "filing_files": FilingFiles(), "edgar": Edgar()},
    jobs=[dg.define_asset_job("ingest_filings", dg.AssetSelection.assets("filings", "pages"))],
    executor=dg.multiprocess_executor.configured({"start_method": {"forkserver": {}}}),
)


def ingest_job() -> dg.JobDefinition:
    """The job, as another process can find it."""
    return defs.resolve_job_def("ingest_filings")


def main(batch: str, folder: str) -> int:
    """Ingest a folder as a batch; returns the exit status."""
    from orchestration.instance import open_instance

    with (
        open_instance() as instance,
        dg.execute_job(
            dg.reconstructable(ingest_job),
            instance=instance,
            tags={"dagster/partition": batch},
            run_config={
                "resources": {"filing_files": {"config": {"paths": [folder]}}},
                "loggers": {"console": {"config": {"log_level": "CRITICAL"}}},
            },
        ) as result,
    ):
        return 0 if result.success else 1


if __name__ == "__main__":
    # The job is looked up by its module's name, which must not be __main__.
    from filing_defs import main as run

    sys.exit(run(*sys.argv[1:]))

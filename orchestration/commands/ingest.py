"""`apportion ingest`: filings, and the questions that come with them."""

from __future__ import annotations

from pathlib import Path

from assets.sources import KINDS, SAMPLE, WITHOUT_FILINGS
from orchestration.cli import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.instance import open_instance
from orchestration.output import say
from orchestration.running import Finished, quiet, run_job
from warehouse.schema import PARTITION_KEY


def ingest_source(path: Path | None, kind: str, *, batch: str, outcome_set: str) -> None:
    """Take in one source as a filing batch and its questions as an outcome set.

    Raises:
        CallError: the kind or a name is not one, or nothing is at the path.
        WorkFailedError: the source could not be taken in.
    """
    if kind not in KINDS or (kind == SAMPLE and path is not None):
        raise CallError(
            f"--as {kind}: there is no such kind of source; kinds: {', '.join(set(KINDS) - {SAMPLE})}"
        )
    for name in (batch, outcome_set):
        check_name(name)
    if path is not None and not path.exists():
        raise CallError(f"{path}: there is nothing here")
    quiet()
    source = {"source": {"kind": kind} if path is None else {"kind": kind, "path": str(path.resolve())}}
    done: list[Finished] = []
    with open_instance() as instance:
        if kind not in WITHOUT_FILINGS:
            done.append(run_job(instance, "ingest_filings", batch, source))
        done.append(run_job(instance, "ingest_questions", outcome_set, source))
    for line in dict.fromkeys(line for finished in done for line in finished.problems):
        say(line)
    rows = {
        table: shown["dagster/row_count"] for finished in done for table, shown in finished.metadata.items()
    }
    brought = (
        f"batch {batch}: {rows['filings']} filings, {rows['pages']} pages; " if "filings" in rows else ""
    )
    new = "" if any(finished.committed for finished in done) else "; nothing was new"
    say(f"{brought}set {outcome_set}: {rows['questions']} questions{new}")
    refresh_catalogue()


def check_name(name: str) -> None:
    """Refuse what can't name a set or a batch.

    Raises:
        CallError: it can't.
    """
    if not PARTITION_KEY.fullmatch(name):
        raise CallError(f"{name!r} is not a name: use 1 to 100 letters, digits, '.', '_', ':' or '-'")

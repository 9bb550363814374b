"""`apportion ingest edgar`: days of EDGAR as filing batches; a failed day doesn't stop the others."""

from __future__ import annotations

import os
from datetime import date, timedelta

from apportion.corpus.edgar import EdgarError, batch_of
from apportion.corpus.edgar_client import check_user_agent
from apportion.progress import listen
from assets.edgar import FIRST_DAY, USER_AGENT_VARIABLE
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import names
from orchestration.commands.telling import tell_batch
from orchestration.instance import open_instance
from orchestration.output import ProgressBar, say
from orchestration.running import WorkFailedError, quiet, run_job


def ingest_days(first: str, last: str | None, forms: str | None, filers: str | None) -> None:
    """Take in the filings of some days.

    Raises:
        CallError: a day is none, or nobody is named to EDGAR.
        WorkFailedError: days failed; the others are in.
    """
    days = _days(first, last or first)
    try:
        check_user_agent(os.environ.get(USER_AGENT_VARIABLE))
    except EdgarError as error:
        raise CallError(str(error)) from error
    settings = {"edgar": {"forms": names(forms or ""), "filers": names(filers or "")}}
    quiet()
    failed: list[str] = []
    traces: list[str] = []
    with open_instance() as instance, listen(ProgressBar()):
        for day in days:
            try:
                run_job(instance, "list_edgar", day.isoformat(), {})
                tell_batch(batch_of(day), run_job(instance, "ingest_filings", batch_of(day), settings))
            except WorkFailedError as error:
                say(f"{day}: {error}")
                failed.append(day.isoformat())
                traces.append(error.trace)
    refresh_catalogue()
    if failed:
        raise WorkFailedError(
            f"{len(failed)} of {len(days)} days failed ({', '.join(failed)}); the same command goes on with them",
            "\n".join(traces),
        )


def _days(first: str, last: str) -> list[date]:
    try:
        start, end = date.fromisoformat(first), date.fromisoformat(last)
    except ValueError:
        raise CallError(f"--from {first} --to {last}: give days such as 2026-11-27") from None
    if end < start or start < date.fromisoformat(FIRST_DAY):
        raise CallError(f"--from {first} --to {last}: days run forward and begin at {FIRST_DAY}")
    return [start + timedelta(days=ahead) for ahead in range((end - start).days + 1)]

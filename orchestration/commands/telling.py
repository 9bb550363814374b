"""What a batch of filings brought, in words."""

from __future__ import annotations

from orchestration.output import say
from orchestration.running import Finished, WorkFailedError


def tell_batch(batch: str, finished: Finished) -> None:
    """Say what a batch brought.

    Raises:
        WorkFailedError: files were there and not one could be read.
    """
    for line in dict.fromkeys(finished.problems):
        say(line)
    shown = finished.metadata["filings"]
    filings, failed, known = (
        int(shown[name]) for name in ("dagster/row_count", "failed", "known_from_other_batches")
    )
    pages = finished.metadata["pages"]["dagster/row_count"]
    say(
        f"batch {batch}: {filings - failed} filings, {pages} pages"
        + (f"; {failed} could not be read" if failed else "")
        + (f"; {known} known from other batches" if known else "")
        + ("" if finished.committed else "; nothing was new")
    )
    if failed and failed == int(shown["files"]):
        raise WorkFailedError(f"not one of {failed} files could be read; the lines above say why")

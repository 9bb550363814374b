"""What went wrong with a run's answers: a line for each kind of failure, with what the provider or client said."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from orchestration.running import Finished, WorkFailedError
from warehouse.store import Store


def failure_lines(outcome_set: str, routes: Sequence[str]) -> tuple[list[str], bool]:
    """Answers of some routes that came to nothing, by status.

    Returns:
        A line per status, and whether there are answers and not one is good.
    """
    rows = (
        Store()
        .read("route_outcomes", {"outcome_set": outcome_set})
        .filter(pl.col("route").is_in(list(routes)))
    )
    counts = rows.filter(pl.col("status") != "ok").group_by("status").len("n").sort("status")
    lines = []
    for status, n in counts.iter_rows():
        error = _first_error(outcome_set, routes, status)
        lines.append(f"{n} of {rows.height} answers failed ({status})" + (f": {error}" if error else ""))
    return lines, bool(counts["n"].sum()) and counts["n"].sum() == rows.height


def all_failed(outcome_set: str, routes: Sequence[str]) -> WorkFailedError:
    """The end of a run that has no good answer."""
    return WorkFailedError(
        f"set {outcome_set}: no answer on {', '.join(routes)} is good; its tables hold failures, no result; "
        "once the cause is mended the same command asks again"
    )


def left_out_line(finished: Finished) -> str | None:
    """How many answers a run's cap had no room for; None where it left none out."""
    left_out = finished.metadata.get("route_outcomes", {}).get("left_out_for_budget", 0)
    return f"{left_out} answers left out: the cap has no room for them" if left_out else None


def _first_error(outcome_set: str, routes: Sequence[str], status: str) -> str | None:
    """What the earliest of the newest calls of those answers ended with, in one line."""
    from apportion.llm.ledger import Ledger
    from assets.resources import Warehouse

    path = Warehouse().ledger_path()
    if not path.exists():
        return None
    marks = ",".join("?" * len(routes))
    ledger = Ledger(path)
    try:
        found = ledger.query(
            "SELECT error FROM calls WHERE error IS NOT NULL AND status = ? AND call_id IN ("  # noqa: S608
            "SELECT call_id FROM call_uses WHERE use_id IN (SELECT max(use_id) FROM call_uses"
            f" WHERE outcome_set = ? AND purpose = 'answer' AND route IN ({marks}) GROUP BY question_id, route))"
            " ORDER BY created_at, call_id LIMIT 1",
            [status, outcome_set, *routes],
        )
    finally:
        ledger.close()
    return " ".join(str(found[0]["error"]).split()) if found else None

"""`apportion report`: one HTML file over every evaluated set."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path

from apportion.report.page import Section, render
from apportion.report.sections import escalation_section
from orchestration.cli import CallError
from orchestration.jobs import PUBLISHED
from warehouse.paths import local_root
from warehouse.store import Store


def write_report() -> Path:
    """Write the report beside the tables and return its path.

    Raises:
        CallError: nothing is evaluated yet.
    """
    store = Store()
    sections: list[Section] = []
    pairs = (
        store.read("policy_summary")
        .select("outcome_set", "cheap_route", "deep_route")
        .unique(maintain_order=True)
    )
    for outcome_set, cheap, deep in pairs.iter_rows():
        where = {"outcome_set": outcome_set, "cheap_route": cheap, "deep_route": deep}
        tables = {
            name: store.read(name, {"outcome_set": outcome_set} if name == "route_summary" else where)
            for name in PUBLISHED
        }
        sections.append(escalation_section(outcome_set, cheap, deep, tables))
    if not sections:
        raise CallError("nothing is evaluated yet; `apportion run` or `apportion demo` comes first")
    return save(
        render(
            sections, "Published tables and plots of every evaluated set, with filing-clustered intervals."
        )
    )


def save(page: str) -> Path:
    """Write the page and swap it in, so that nobody reads half of it."""
    target = local_root() / "report.html"
    with tempfile.NamedTemporaryFile(
        "w", encoding="utf-8", dir=target.parent, prefix=".report-", suffix=".html", delete=False
    ) as handle:
        handle.write(page)
    Path(handle.name).chmod(0o644)
    os.replace(handle.name, target)  # noqa: PTH105 - replaces in one step
    return target

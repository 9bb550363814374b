"""Reading a batch's source, the one it was given or the one it came from before."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from apportion.corpus.financebench import read_financebench
from apportion.corpus.questions import read_questions
from apportion.corpus.records import Corpus
from assets.provenance import last_commit
from assets.resources import Source
from warehouse.store import Store

SAMPLE = "sample"
FINANCEBENCH = "financebench"
QUESTIONS = "questions"
COMPANIES = "sample-companies"
"""The built-in questions on several of the sample's filers each."""
KINDS = (FINANCEBENCH, QUESTIONS, SAMPLE, COMPANIES)
BUILT_IN = (SAMPLE, COMPANIES)
WITHOUT_FILINGS = (QUESTIONS, COMPANIES)
"""Kinds that bring questions only, over filings that are there."""


def read_source(store: Store, source: Source, table: str, partition: str) -> tuple[Corpus, dict[str, Any]]:
    """A batch's filings, pages and questions, and the arguments to record with them.

    Raises:
        ValueError: nothing says where the batch comes from, or its kind is unknown.
    """
    arguments = source_arguments(store, source, table, partition)
    if arguments["kind"] == SAMPLE:
        from apportion.corpus.sample import build_sample

        return build_sample(), arguments
    if arguments["kind"] == COMPANIES:
        from apportion.corpus.sample import build_company_questions

        return build_company_questions(), arguments
    if arguments["kind"] == FINANCEBENCH:
        return read_financebench(Path(arguments["path"])), arguments
    if arguments["kind"] == QUESTIONS:
        return read_questions(Path(arguments["path"])), arguments
    raise ValueError(f"unknown kind of source {arguments['kind']!r}; kinds: {', '.join(KINDS)}")


def source_arguments(store: Store, source: Source, table: str, partition: str) -> dict[str, Any]:
    """Path and kind of a batch's source: as given, else as recorded by the commit that last wrote it."""
    if source.path is not None and source.kind is not None:
        return {"kind": source.kind, "path": source.path}
    if source.kind in BUILT_IN or (source.kind is None and partition in BUILT_IN):
        return {"kind": source.kind or partition}
    before = last_commit(store, table, partition)
    recorded: Mapping[str, Any] = (before or {}).get("arguments", {})
    if "kind" not in recorded:
        raise ValueError(
            f"nothing says where {partition!r} comes from; bring it in with `apportion ingest PATH --as {FINANCEBENCH}`"
        )
    return {name: recorded[name] for name in ("kind", "path") if name in recorded}

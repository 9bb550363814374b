"""Files as a filing batch: read in workers, checked, and streamed into the tables a file at a time."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
from filelock import FileLock

from apportion.corpus.gathering import FoundFile, gather
from apportion.corpus.metadata import Facts, document_list
from apportion.corpus.placing import Placed, place_files
from apportion.corpus.readers import READER_VERSION
from apportion.corpus.reading import TIME_LIMIT_S, WORKERS, Reading, Task, page_batches, read_files
from apportion.corpus.records import Problem, safe_name
from assets.provenance import last_commit, provenance
from assets.publishing import publish
from assets.resources import Warehouse
from assets.streams import publish_stream
from warehouse.contracts import TABLES
from warehouse.store import Store

PAGE_TYPES = {
    name: TABLES["pages"].schema[name]
    for name in ("item", "item_titles", "page_kind", "fiscal_years", "units")
}
"""Types of columns of which a whole batch may be null."""

STAGING_LOCKS = 64

FILINGS = "filings"
"""The kind of source that a drop of files is."""


class FilingFiles(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Files and folders of a batch, and how they are read.

    A file that takes longer than ``time_limit_s`` seconds is given up. ``workers`` of 0 stands for one a processor.
    """

    paths: list[str] = []  # noqa: RUF012 - pydantic copies it for each resource
    time_limit_s: float = TIME_LIMIT_S
    workers: int = 0


def store_files(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    files: FilingFiles,
    paths: Sequence[str],
    given: Mapping[str, Facts] | None = None,
    arguments: Mapping[str, Any] | None = None,
    source: str = "files",
    otherwise: Mapping[str, Facts] | None = None,
    unreadable: Sequence[FoundFile] = (),
) -> Iterator[Any]:
    """Read what is new below some paths and store it as the batch's filings and pages.

    Args:
        context: the asset's.
        warehouse: the tables.
        files: how to read.
        paths: files and folders.
        given: facts by document name that stand before what documents say of themselves.
        arguments: where the batch came from, to record with it.
        source: of the filings.
        otherwise: facts by document name that stand where documents say nothing.
        unreadable: documents that should be there and aren't; they are shown as failed.
    """
    # The same batch twice at once would tidy each other's staging folder away. A few locks serve any number of batches.
    bucket = int(hashlib.sha256(context.partition_key.encode()).hexdigest(), 16) % STAGING_LOCKS
    with FileLock(warehouse.lock_path(f"staging-{bucket:02d}")):
        yield from _store_files(
            context, warehouse, files, paths, given, arguments, source, otherwise, unreadable
        )


def _store_files(
    context: dg.AssetExecutionContext,
    warehouse: Warehouse,
    files: FilingFiles,
    paths: Sequence[str],
    given: Mapping[str, Facts] | None,
    arguments: Mapping[str, Any] | None,
    source: str,
    otherwise: Mapping[str, Facts] | None,
    unreadable: Sequence[FoundFile],
) -> Iterator[Any]:
    store, batch = warehouse.store(), context.partition_key
    gathered, problems = gather([Path(path) for path in paths])
    found = [*gathered, *unreadable]
    staging = warehouse.local_folder() / "staging" / safe_name(batch)
    staging.mkdir(parents=True, exist_ok=True)
    # Interrupted or not, what was read stays in the staging folder until it is committed.
    fresh = _unknown(found, _other_filings(store, batch))
    readings = _read(fresh, staging, files)
    _warm_up()
    recorded = {**(arguments or {"kind": FILINGS, "paths": [str(path) for path in paths]})}
    with FileLock(warehouse.lock_path("corpus")):
        others = _other_filings(store, batch)
        placed, _ = place_files(
            [(_name(one, reading), one.sha256, reading.status != "failed") for one, reading in readings],
            others,
        )
        kept = [
            (where, one, reading)
            for where, (one, reading) in zip(placed, readings, strict=True)
            if where is not None
        ]
        kept.sort(key=lambda entry: entry[0].filing_id)
        rows = _rows(kept, given or _listed(found), otherwise or {}, source, others)
        content = _content(rows)
        recorded["content"] = content
        _take_over(context, store, [where for where, _, _ in kept], batch)
        failed = [
            Problem(str(one.path), None, "file", one.path.name, reading.reason or "failed")
            for _, one, reading in kept
            if reading.status == "failed"
        ]
        yield from publish(
            context,
            store,
            "filings",
            rows.with_columns(filing_batch=pl.lit(batch)),
            {"filing_batch": batch},
            inputs={},
            arguments=recorded,
            problems=[*problems, *failed],
            metadata={
                "files": len(found),
                "failed": len(failed),
                "known_from_other_batches": len(found) - len(kept),
            },
        )
        yield from publish_stream(
            context,
            store,
            "pages",
            _slim(kept, batch),
            lambda: _page_frames(kept, batch),
            {"filing_batch": batch},
            arguments=recorded,
        )
    shutil.rmtree(staging, ignore_errors=True)


def _other_filings(store: Store, batch: str) -> pl.DataFrame:
    return store.scan("filings").filter(pl.col("filing_batch") != batch).collect()


def _unknown(found: Sequence[FoundFile], others: pl.DataFrame) -> list[FoundFile]:
    """Files whose bytes no other batch has brought."""
    known = set(others.filter(pl.col("status") != "failed")["sha256"])
    return [one for one in found if one.sha256 not in known]


def _read(found: Sequence[FoundFile], staging: Path, files: FilingFiles) -> list[tuple[FoundFile, Reading]]:
    tasks = [Task(one.path, staging / f"{one.sha256}-{READER_VERSION}.parquet") for one in found]
    readable = [task for one, task in zip(found, tasks, strict=True) if one.reason is None]
    read = read_files(readable, workers=files.workers or WORKERS, time_limit_s=files.time_limit_s)
    by_path = {reading.path: reading for reading in read}
    return [(one, by_path.get(one.path) or _unreadable(one)) for one in found]


def _unreadable(one: FoundFile) -> Reading:
    return Reading(one.path, "failed", one.reason, 0, Facts(), None)


def _name(one: FoundFile, reading: Reading) -> str:
    return reading.facts.accession or one.name


def _listed(found: Sequence[FoundFile]) -> dict[str, Facts]:
    """Facts from the document lists beside the files."""
    facts: dict[str, Facts] = {}
    for folder in sorted({one.path.parent for one in found}):
        facts = {**document_list(folder), **facts}
    return facts


def _rows(
    kept: Sequence[tuple[Placed, FoundFile, Reading]],
    given: Mapping[str, Facts],
    otherwise: Mapping[str, Facts],
    source: str,
    others: pl.DataFrame,
) -> pl.DataFrame:
    """Rows of `filings`, amendments linked to what they amend."""
    rows = []
    for where, one, reading in kept:
        facts = replace(given.get(one.name, Facts()))
        facts.fill(reading.facts)
        facts.fill(otherwise.get(one.name, Facts()))
        facts.settle()
        rows.append(
            {
                "filing_id": where.filing_id,
                "source": source,
                "company": facts.company,
                "ticker": facts.ticker,
                "cik": facts.cik,
                "form": facts.form,
                "fiscal_year": facts.fiscal_year,
                "period_end": facts.period_end,
                "filed_at": facts.filed_at,
                "amends": None,
                "page_count": reading.page_count,
                "coverage": "whole",
                "sha256": where.sha256,
                "status": reading.status,
                "status_reason": reading.reason,
            }
        )
    schema = {name: dtype for name, dtype in TABLES["filings"].schema.items() if name != "filing_batch"}
    frame = pl.DataFrame(rows, schema=schema)
    return _linked(frame, pl.concat([frame, others.select(frame.columns)]))


def _linked(rows: pl.DataFrame, known: pl.DataFrame) -> pl.DataFrame:
    """Rows whose amendments name the filing of the same filer, form and period that they amend, where it is known."""
    originals = (
        known.filter(~pl.col("form").str.ends_with("/A"), pl.col("cik").is_not_null())
        .sort("filing_id")
        .unique(["cik", "form", "period_end"], keep="first", maintain_order=True)
        .select("cik", pl.col("form").alias("amended"), "period_end", pl.col("filing_id").alias("original"))
    )
    return (
        rows.with_columns(
            amended=pl.when(pl.col("form").str.ends_with("/A")).then(pl.col("form").str.head(-2))
        )
        .join(originals, on=["cik", "amended", "period_end"], how="left", maintain_order="left")
        .with_columns(amends=pl.col("original"))
        .drop("amended", "original")
    )


def _content(rows: pl.DataFrame) -> str:
    """Names the batch's content: equal content is written once."""
    told = json.dumps([READER_VERSION, rows.to_dicts()], default=str, sort_keys=True)
    return "sha256:" + hashlib.sha256(told.encode()).hexdigest()


def _take_over(context: dg.AssetExecutionContext, store: Store, placed: Sequence[Placed], batch: str) -> None:
    """Take filings that this batch makes whole out of the batches that had their cited pages only.

    Pages leave first: whatever is interrupted, the row of `filings` still says what is to be taken over.
    """
    leaving: dict[str, list[str]] = {}
    for where in placed:
        if where.replaces is not None:
            leaving.setdefault(where.replaces, []).append(where.filing_id)
    for other, ids in sorted(leaving.items()):
        for table in ("pages", "filings"):
            before = last_commit(store, table, other) or {}
            arguments = {
                name: value for name, value in before.get("arguments", {}).items() if name != "content"
            }
            left = store.read(table, {"filing_batch": other}).filter(~pl.col("filing_id").is_in(ids))
            made_by = provenance(store, context.run.run_id, other, {}, {**arguments, "made_whole_by": batch})
            store.write_slice(table, left, {"filing_batch": other}, made_by)
        context.log.info(f"{len(ids)} filings of batch {other} are whole now and belong to {batch}")


def _slim(kept: Sequence[tuple[Placed, FoundFile, Reading]], batch: str) -> pl.DataFrame:
    """The batch's pages without their text, which checks on them don't need."""
    frames = [TABLES["pages"].empty()]
    for where, _, reading in kept:
        if reading.out is not None:
            read = pl.read_parquet(reading.out, columns=["page_number", "token_count", "has_text"])
            frames.append(_arranged(read.with_columns(text=pl.lit(""), **_told(reading)), where, batch))
    return pl.concat(frames)


def _page_frames(kept: Sequence[tuple[Placed, FoundFile, Reading]], batch: str) -> Iterator[pl.DataFrame]:
    for where, _, reading in kept:
        for columns in page_batches(reading):
            yield _arranged(pl.DataFrame(columns, schema_overrides=PAGE_TYPES), where, batch)


def _told(reading: Reading) -> dict[str, pl.Series]:
    return {name: pl.Series(values, dtype=PAGE_TYPES[name]) for name, values in reading.columns.items()}


def _arranged(frame: pl.DataFrame, where: Placed, batch: str) -> pl.DataFrame:
    return TABLES["pages"].arrange(
        frame.with_columns(filing_id=pl.lit(where.filing_id), filing_batch=pl.lit(batch))
    )


def _warm_up() -> None:
    """Import what the checks need before others have to wait for it."""
    import great_expectations  # noqa: F401

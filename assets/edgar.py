"""EDGAR by the day: an index that registers a day's batch, and the batch's filings."""

import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any

import dagster as dg
import polars as pl

from apportion.corpus.edgar import FORMS, IndexEntry, batch_of, ciks_of, select
from apportion.corpus.edgar_client import FIRST_WAIT_S, SITE, EdgarClient, Politeness
from apportion.corpus.filers import Filer
from apportion.corpus.gathering import missing_file
from apportion.corpus.metadata import Facts
from assets.filings import FilingFiles, store_files
from assets.partitions import filing_batches
from assets.provenance import last_commit
from assets.resources import Warehouse

ZONE = "America/New_York"
FIRST_DAY = "2001-01-01"
USER_AGENT_VARIABLE = "APPORTION_EDGAR_USER_AGENT"
SITE_VARIABLE = "APPORTION_EDGAR_SITE"
EDGAR = "edgar"
"""The kind of source that a day of EDGAR is."""

edgar_days = dg.DailyPartitionsDefinition(start_date=FIRST_DAY, timezone=ZONE)


class Edgar(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Which filings of a day are taken, and who asks for them.

    ``filers`` are tickers or CIKs; none stand for all. Forms bring their amendments. Without a ``user_agent``, or a
    ``site``, those of the environment hold: APPORTION_EDGAR_USER_AGENT, APPORTION_EDGAR_SITE.
    """

    user_agent: str = ""
    site: str = ""
    forms: list[str] = []  # noqa: RUF012 - pydantic copies it for each resource
    filers: list[str] = []  # noqa: RUF012
    first_wait_s: float = FIRST_WAIT_S

    def client(self, warehouse: Warehouse) -> EdgarClient:
        """The client, over the archive beside the tables."""
        return EdgarClient(
            warehouse.local_folder() / "archive",
            self.user_agent or os.environ.get(USER_AGENT_VARIABLE),
            self.site or os.environ.get(SITE_VARIABLE) or SITE,
            Politeness(first_wait_s=self.first_wait_s),
        )


@dg.asset(group_name="corpus", partitions_def=edgar_days, kinds={"edgar"})
def edgar_index(
    context: dg.AssetExecutionContext, warehouse: Warehouse, edgar: Edgar
) -> dg.MaterializeResult[Any]:
    """The filings of a day, as EDGAR lists them; registers the day as a filing batch."""
    day = date.fromisoformat(context.partition_key)
    entries = edgar.client(warehouse).daily_index(day)
    context.instance.add_dynamic_partitions(str(filing_batches.name), [batch_of(day)])
    forms = (
        pl.Series([entry.form for entry in entries], dtype=pl.String)
        .value_counts()
        .sort("count", descending=True)
    )
    return dg.MaterializeResult(
        metadata={
            "batch": batch_of(day),
            "filings": len(entries),
            "forms": {row[0] or "all": row[1] for row in forms.head(20).iter_rows()},
        }
    )


def store_day(
    context: dg.AssetExecutionContext, warehouse: Warehouse, files: FilingFiles, edgar: Edgar, day: date
) -> Iterator[Any]:
    """Fetch a day's filings that are wanted and store them as its batch. What the batch has stays."""
    store = warehouse.store()
    client = edgar.client(warehouse)
    before = (last_commit(store, "filings", context.partition_key) or {}).get("arguments", {})
    forms = edgar.forms or before.get("forms") or list(FORMS)
    filers = edgar.filers or ([] if edgar.forms else before.get("filers", []))
    ciks = ciks_of(filers, client.tickers() if any(not name.isdigit() for name in filers) else {})
    there = store.scan("filings", {"filing_batch": context.partition_key}).select("filing_id").collect()
    entries = _wanted(client.daily_index(day), forms, ciks, set(there["filing_id"]))
    fetched = list(client.documents(entries))
    new = {entry.cik for entry in entries if entry.accession not in there["filing_id"]}
    known = client.filers((entry.cik for entry in entries), fresh=new)
    for cik in sorted({entry.cik for entry in entries} - set(known)):
        context.log.warning(
            f"EDGAR tells nothing readable of filer {cik}; its documents speak for themselves"
        )
    yield from store_files(
        context,
        warehouse,
        files,
        [str(kept.path) for _, kept in fetched if kept is not None],
        given={entry.accession: _given(entry, known) for entry, _ in fetched},
        otherwise={entry.accession: known[entry.cik].facts for entry, _ in fetched if entry.cik in known},
        arguments={"kind": EDGAR, "forms": forms, "filers": filers},
        source=EDGAR,
        unreadable=[
            missing_file(entry.accession, f"EDGAR lists it but has no document at {entry.path}")
            for entry, kept in fetched
            if kept is None
        ],
    )


def _given(entry: IndexEntry, known: Mapping[str, Filer]) -> Facts:
    """What the index says, with the filer's name on that day as the filer writes it."""
    filer = known.get(entry.cik)
    named = None if filer is None else filer.name_on(entry.filed_at)
    return entry.facts if named is None else replace(entry.facts, company=named)


def _wanted(
    entries: Sequence[IndexEntry], forms: Sequence[str], ciks: Sequence[str], there: set[str]
) -> list[IndexEntry]:
    """The filings asked for, and those that the batch has already."""
    chosen = {entry.accession for entry in select(entries, forms, ciks)} | there
    return [entry for entry in entries if entry.accession in chosen]

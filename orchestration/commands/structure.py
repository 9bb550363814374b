"""`apportion structure`: can the corpus be routed by names, and does it need to be?"""

from __future__ import annotations

from pathlib import Path

import polars as pl

from apportion.evaluation.homogeneity import structural_homogeneity
from apportion.retrieval.latent import LatentVectors
from apportion.retrieval.resolver.schema import naming_regularity, read_schema
from assets.chunking import plain_index
from assets.resources import Warehouse
from orchestration.app import CallError
from orchestration.output import Format, show
from warehouse.store import Store


def report_structure(key: list[str], schema: Path | None, layout: Format) -> None:
    """Print naming regularity and structural homogeneity of every filing that is ingested.

    Raises:
        CallError: nothing is ingested, or the key isn't made of columns of `filings`.
    """
    store = Store()
    filings = store.read("filings").filter(pl.col("status") == "ok").sort("filing_id")
    if filings.is_empty():
        raise CallError("no filing is ingested; `apportion ingest` brings some in")
    if schema is not None:
        try:
            given = read_schema(schema)
        except ValueError as error:
            raise CallError(f"--schema: {error}") from error
        named = [given.read_name(name) or {} for name in filings["filing_id"]]
        keys = [tuple(values.get(field) for field in given.key) for values in named]
    else:
        unknown = [name for name in key if name not in filings.columns]
        if unknown:
            raise CallError(
                f"--key {unknown[0]}: not a column of filings; columns: {', '.join(filings.columns)}"
            )
        keys = list(filings.select(key).iter_rows())
    index, _, _ = plain_index(Warehouse(root=store.root), store, filings["filing_id"].to_list())
    vectors = LatentVectors(index)
    authors = {
        row["filing_id"]: row["cik"] or row["ticker"] or row["company"] or row["filing_id"]
        for row in filings.iter_rows(named=True)
    }
    measured = {
        **naming_regularity(keys),
        **structural_homogeneity({name: vectors.of_filing(name) for name in index.filings}, authors),
    }
    rows = pl.DataFrame({"measure": list(measured), "value": [float(value) for value in measured.values()]})
    show(rows, layout, title="Structure of the corpus")

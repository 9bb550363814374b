"""The two dynamic partition sets that carry everything."""

from __future__ import annotations

import dagster as dg

filing_batches = dg.DynamicPartitionsDefinition(name="filing_batches")
"""A drop of filings: a day of EDGAR, an import, the built-in sample."""

outcome_sets = dg.DynamicPartitionsDefinition(name="outcome_sets")
"""A batch of questions and all that follows from it, or an imported log."""


def every_batch(table: str) -> dg.AssetDep:
    """Lineage from a table of the corpus: any batch may hold the filing that a set asks about."""
    return dg.AssetDep(table, partition_mapping=dg.AllPartitionMapping())

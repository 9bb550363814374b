"""What assets read of the corpus and of a set: the pages of a snapshot, a batch's filings, a set's questions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from apportion.retrieval.ranking import Scope
from assets.provenance import last_commit
from warehouse.store import Slice, Store

DEPTH = 20
"""Pages kept of each ranking."""

PAGES_AT_ONCE = 2_000
"""Pages whose texts are held together; a longer filing is held whole all the same."""


def batch_filings(store: Store, batch: str) -> list[str]:
    """The filings that a batch has pages of, in order."""
    return _filings(store.scan("pages", {"filing_batch": batch}))


def held_filings(store: Store, version: int | None) -> list[str]:
    """The filings of a snapshot of `pages`, in order."""
    return _filings(store.scan("pages", version=version))


def _filings(pages: pl.LazyFrame) -> list[str]:
    return pages.select(pl.col("filing_id").unique().sort()).collect()["filing_id"].to_list()


def groups_of_pages(
    store: Store, filings: Sequence[str], version: int | None = None
) -> Iterator[pl.DataFrame]:
    """The pages of some filings with their texts, whole filings at a time, in the filings' order.

    Args:
        store: the tables.
        filings: their ids.
        version: of `pages`.

    Yields:
        Columns ``filing_id``, ``page_number`` and ``text``: `PAGES_AT_ONCE` rows at most, more where one filing has.
    """
    pages = store.scan("pages", version=version).select("filing_id", "page_number", "text")
    counted = (
        pages.filter(pl.col("filing_id").is_in(list(filings)))
        .group_by("filing_id")
        .len()
        .sort("filing_id")
        .collect()
    )
    for group in _groups(counted.rows()):
        yield pages.filter(pl.col("filing_id").is_in(group)).collect()


def _groups(counted: Sequence[tuple[str, int]]) -> Iterator[list[str]]:
    group: list[str] = []
    size = 0
    for filing, pages in counted:
        if group and size + pages > PAGES_AT_ONCE:
            yield group
            group, size = [], 0
        group.append(filing)
        size += pages
    if group:
        yield group


def set_questions(store: Store, outcome_set: str) -> pl.DataFrame:
    """A set's questions.

    Raises:
        ValueError: there is no such set, or it has no question.
    """
    asked = store.read("questions", {"outcome_set": outcome_set})
    if asked.is_empty():
        known = (
            ", ".join(store.slices("questions", "outcome_set"))
            or "none yet; `apportion ingest` brings one in"
        )
        raise ValueError(f"there is no set {outcome_set!r} with questions; sets: {known}")
    return asked


def pages_version(store: Store, outcome_set: str, where: Slice | None = None) -> int | None:
    """The snapshot of `pages` that a set keeps to, or that one of its rankings was made over.

    Args:
        store: the tables.
        outcome_set: the set.
        where: the ranking: its retriever, and pool; without them the newest of the set's.
    """
    made = last_commit(store, "retrievals", outcome_set, where)
    return None if made is None else made["inputs"].get("pages")


def corpus_version(store: Store, outcome_set: str, asked: pl.DataFrame, *, refresh: bool) -> int | None:
    """The snapshot of `pages` that a set keeps to: the one it was first answered over, unless refreshed.

    A set whose questions have come to ask about filings that the snapshot lacks moves to the newest.
    """
    newest = store.version("pages")
    pinned = None if refresh else pages_version(store, outcome_set)
    if pinned is None or pinned == newest:
        return newest
    wanted = asked["filing_id"].drop_nulls().unique()
    there = (
        store.scan("pages", version=pinned)
        .filter(pl.col("filing_id").is_in(wanted.to_list()))
        .select(pl.col("filing_id").n_unique())
        .collect()
        .item()
    )
    return int(pinned) if there == len(wanted) else newest


def pool_scope(store: Store, asked: pl.DataFrame, pool: str, version: int | None) -> Scope:
    """The pages that retrieval searches, of one snapshot."""
    if pool == "evidence":
        cited = asked.select(pl.col("evidence").explode()).drop_nulls().unnest("evidence").unique()
        there = (
            store.scan("pages", version=version)
            .select("filing_id", "page_number")
            .join(cited.lazy(), on=["filing_id", "page_number"], how="semi")
            .collect()
            .sort("filing_id", "page_number")
        )
        return {
            part["filing_id"][0]: part["page_number"].to_list()
            for part in there.partition_by("filing_id", maintain_order=True)
        }
    filings = held_filings(store, version)
    if pool == "filing":
        asked_about = set(asked["filing_id"].drop_nulls())
        return {name: None for name in filings if name in asked_about}
    return dict.fromkeys(filings)


def filing_coverage(store: Store, outcome_set: str, filings: list[str]) -> dict[str, str]:
    """Whether the snapshot that a set keeps to holds filings whole or their cited pages only."""
    held = store.scan("pages", version=pages_version(store, outcome_set))
    held = held.group_by("filing_id").agg(pl.len().alias("held"))
    known = (
        store.scan("filings")
        .filter(pl.col("filing_id").is_in(filings))
        .join(held, on="filing_id", how="left")
    )
    return {
        row["filing_id"]: "whole"
        if row["coverage"] == "whole" and row["held"] == row["page_count"]
        else "evidence"
        for row in known.select("filing_id", "coverage", "page_count", "held").collect().iter_rows(named=True)
    }


def retrieved_pages(store: Store, outcome_set: str, ranked: pl.DataFrame) -> pl.DataFrame:
    """The ranked pages with their text, of the snapshot that ranked them."""
    made = ranked.select("retriever", "pool").unique()
    where = dict(zip(made.columns, made.row(0), strict=True)) if made.height == 1 else None
    wanted = ranked.select("filing_id", "page_number").unique()
    return (
        store.scan("pages", version=pages_version(store, outcome_set, where))
        .join(wanted.lazy(), on=["filing_id", "page_number"], how="semi")
        .collect()
    )

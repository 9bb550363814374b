"""Which filing a document is: one filing once, whatever batch brings it, and no two under one name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

import polars as pl

from apportion.corpus.records import Corpus


def place(corpus: Corpus, known: pl.DataFrame) -> Corpus:
    """Give the documents of a batch the ids they have, or will have, in the warehouse.

    The same bytes keep the id they were first given. Other bytes under a name that is taken get eight hex digits of
    their SHA-256 behind it, except where cited pages meet the whole filing of that name: they are that filing.

    Args:
        corpus: a source's frames, with ids made from document names.
        known: rows of `filings` of the other batches, in which ids are unique.
    """
    if "coverage" in corpus.filings.columns and "coverage" in known.columns:
        cited = corpus.filings.filter(pl.col("coverage") == "evidence").select("filing_id")
        whole = (pl.col("coverage") == "whole") & pl.col("filing_id").is_in(cited["filing_id"].to_list())
        known = known.filter(~whole)
    taken = dict(known.select("filing_id", "sha256").iter_rows())
    renamed = {
        name: f"{name}-{sha256[:8]}"
        for name, sha256 in corpus.filings.select("filing_id", "sha256").iter_rows()
        if taken.get(name, sha256) != sha256
    }
    if not renamed:
        return corpus
    new_id = pl.col("filing_id").replace(renamed)
    references = pl.element().struct.with_fields(pl.field("filing_id").replace(renamed))
    return replace(
        corpus,
        filings=corpus.filings.with_columns(new_id),
        pages=corpus.pages.with_columns(new_id),
        questions=corpus.questions.with_columns(new_id, pl.col("evidence").list.eval(references)),
    )


@dataclass(frozen=True)
class Placed:
    """A document of a drop with its id; ``replaces`` names the batch whose filing of that id it takes over."""

    filing_id: str
    sha256: str
    replaces: str | None = None


def place_files(
    files: Iterable[tuple[str, str, bool]], known: pl.DataFrame
) -> tuple[list[Placed | None], list[str]]:
    """Give the documents of a drop their ids.

    Args:
        files: name, SHA-256, and whether it could be read, of each document.
        known: rows of `filings` of the other batches.

    Returns:
        For each document where it goes, or None where another batch has brought its bytes; and the ids under which
        the others have them. A document that could be read takes over a filing of its name of which only cited pages,
        or nothing, were there.
    """
    ids = {row["filing_id"]: row for row in known.iter_rows(named=True)}
    contents = {row["sha256"]: row["filing_id"] for row in ids.values() if row["status"] != "failed"}
    used: set[str] = set()
    placed: list[Placed | None] = []
    repeated: list[str] = []
    for name, sha256, readable in files:
        if sha256 in contents:
            placed.append(None)
            repeated.append(contents[sha256])
            continue
        before = ids.get(name)
        gives_way = before is not None and (before["coverage"] == "evidence" or before["status"] == "failed")
        taken = name in used or (before is not None and not (gives_way and readable))
        filing_id = f"{name}-{sha256[:8]}" if taken else name
        # Two documents of one name and eight equal digits: as unlikely as it is, none is lost.
        if filing_id in used or (taken and filing_id in ids and ids[filing_id]["sha256"] != sha256):
            filing_id = f"{name}-{sha256}"
        used.add(filing_id)
        earlier = ids.get(filing_id)
        placed.append(Placed(filing_id, sha256, None if earlier is None else earlier["filing_batch"]))
    return placed, repeated


def new_filings(corpus: Corpus, known: pl.DataFrame) -> Corpus:
    """The filings, with their pages, that no other batch has brought."""
    there = known.select("filing_id")
    return replace(
        corpus,
        filings=corpus.filings.join(there, on="filing_id", how="anti"),
        pages=corpus.pages.join(there, on="filing_id", how="anti"),
    )

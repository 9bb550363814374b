"""Which filing a document is: one filing once, whatever batch brings it, and no two under one name."""

from __future__ import annotations

from dataclasses import replace

import polars as pl

from apportion.corpus.records import Corpus


def place(corpus: Corpus, known: pl.DataFrame) -> Corpus:
    """Give the documents of a batch the ids they have, or will have, in the warehouse.

    The same bytes keep the id they were first given. Other bytes under a name that is taken get eight hex digits of
    their SHA-256 behind it.

    Args:
        corpus: a source's frames, with ids made from document names.
        known: rows of `filings` of the other batches, in which ids are unique.
    """
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


def new_filings(corpus: Corpus, known: pl.DataFrame) -> Corpus:
    """The filings, with their pages, that no other batch has brought."""
    there = known.select("filing_id")
    return replace(
        corpus,
        filings=corpus.filings.join(there, on="filing_id", how="anti"),
        pages=corpus.pages.join(there, on="filing_id", how="anti"),
    )

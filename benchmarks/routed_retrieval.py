"""What naming the filing first buys: cited pages among the first chunks, over all FinanceBench filings together.

``python -m benchmarks.routed_retrieval FOLDER`` reads FinanceBench's files and the PDFs below the folder; no model is
called. Two pools are searched: ``cited``, every filing's cited pages alone, and ``whole``, the whole filing where its
PDF is there and the cited pages of the others. A chunk counts for the page on which it begins. Prints for each pool
how often each system has a cited page first, in the first five and in the first twenty chunks, and the right filing
first; then ``hdrr``'s share of the first five as a multiple of ``cbr``'s, with its interval over filings.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from apportion.bootstrap import mean_interval, ratio_interval
from apportion.corpus.financebench import read_financebench
from apportion.corpus.pdf import read_pdf
from apportion.corpus.records import safe_name
from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.chunk_search import ChunkSearch, Search
from apportion.retrieval.chunking import chunk_rows
from apportion.retrieval.latent import LatentVectors
from apportion.retrieval.queries import lexical_query
from apportion.retrieval.ranking import Ranked
from apportion.retrieval.resolver.resolver import Resolver
from apportion.routes.describing import SEPARATOR, description, tag
from apportion.routes.systems import DESCRIBED, PLAIN, TAGGED
from apportion.routes.verifying import anchored, mostly_of

DEPTHS = (1, 5, 20)
RETRIES = 2
Question = Mapping[str, Any]
Found = Sequence[Sequence[Ranked]]


class Pool:
    """One pool of pages, cut and indexed, and the searches of the systems over it."""

    def __init__(self, folder: Path, pages: pl.DataFrame, filings: pl.DataFrame, asked: Sequence[Question]):
        self.chunks = chunk_rows(pages)
        self._folder = folder
        self._asked = asked
        self._filings = {row["filing_id"]: row for row in filings.iter_rows(named=True)}
        self._resolver = Resolver(self._filings.values())
        self._resolved = [self._resolver.resolve(row["text"]) for row in asked]
        self._plain = self._search(PLAIN, lambda filing: "")
        self._every = tuple(self._plain.filings)
        self._wide = [Search(lexical_query(row["text"]), self._every) for row in asked]

    def systems(self) -> dict[str, Callable[[], Found]]:
        """What each system finds, by its name."""
        tickers = self._resolver.tickers()

        def tagged(filing: str) -> str:
            return tag(self._filings[filing], tickers.get(filing)) + "\n"

        def described(filing: str) -> str:
            return description(self._filings[filing], tickers.get(filing), None) + SEPARATOR

        return {
            "cbr": lambda: self._plain.find(self._wide),
            "cbr_meta": lambda: self._search(TAGGED, tagged).find(self._wide),
            "cbr_context": lambda: self._search(DESCRIBED, described).find(self._wide),
            "agentic": self._agentic,
            "hdrr": self._routed,
        }

    def _search(self, name: str, before: Callable[[str], str]) -> ChunkSearch:
        index = ChunkIndex(self._folder / name)
        texts = [
            before(filing) + text for filing, text in self.chunks.select("filing_id", "text").iter_rows()
        ]
        index.add(self.chunks.with_columns(text=pl.Series(texts)))
        return ChunkSearch(index, LatentVectors(index))

    def _routed(self) -> Found:
        return self._plain.find(
            [
                Search(wide.query, one.scope() or self._every, apart=len(one.filing_ids) > 1)
                for wide, one in zip(self._wide, self._resolved, strict=True)
            ]
        )

    def _agentic(self) -> Found:
        """Searched again, anchored to the company, where most chunks are another's."""
        found = list(self._plain.find(self._wide))
        for place, one in enumerate(self._resolved):
            wanted = self._resolver.filings_of(one.tickers[:1])
            for _ in range(RETRIES if one.tickers else 0):
                if mostly_of([chunk.filing_id for chunk in found[place]], wanted):
                    break
                query = anchored(self._wide[place].query, one.tickers[0])
                [found[place]] = self._plain.find([Search(query, self._every)])
        return found


def hits(pool: Pool, asked: Sequence[Question], found: Found) -> np.ndarray:
    """A row a question: a cited page within each depth, and the right filing first."""
    starts = {
        (filing, number): page
        for filing, number, page in pool.chunks.select("filing_id", "chunk_number", "page_number").iter_rows()
    }
    rows = []
    for question, chunks in zip(asked, found, strict=True):
        cited = {(page["filing_id"], page["page_number"]) for page in question["evidence"]}
        read = [(c.filing_id, starts[c.filing_id, c.number]) for c in chunks]
        right = bool(chunks) and chunks[0].filing_id == question["filing_id"]
        rows.append([*(bool(cited & set(read[:depth])) for depth in DEPTHS), right])
    return np.array(rows, dtype=np.float64)


def show(name: str, which: str, scored: Mapping[str, np.ndarray], groups: Sequence[str]) -> None:
    """Print a pool's figures."""
    rows = []
    for system, figures in scored.items():
        five = mean_interval(figures[:, 1], groups)
        sums = figures.sum(axis=0).astype(int)
        rows.append(
            {
                "system": system,
                **{f"in {depth}": int(sums[i]) for i, depth in enumerate(DEPTHS)},
                "share in 5": f"{five.estimate:.1%} [{five.low:.0%}, {five.high:.0%}]",
                "right filing first": int(sums[-1]),
            }
        )
    times = ratio_interval(scored["hdrr"][:, 1], scored["cbr"][:, 1], groups)
    print(f"\npool {name}, {len(groups)} questions {which}\n{pl.DataFrame(rows)}")
    print(f"hdrr / cbr, cited page in the first 5: {times.estimate:.2f} [{times.low:.2f}, {times.high:.2f}]")


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder
    pl.Config(tbl_cols=8, tbl_width_chars=140, tbl_hide_dataframe_shape=True, tbl_hide_column_data_types=True)
    corpus = read_financebench(folder)
    cited = corpus.pages.select("filing_id", "page_number", "text")
    known = set(cited["filing_id"])
    parts = []
    for path in sorted(folder.rglob("*.pdf")):
        if (name := safe_name(path.stem)) in known:
            texts = list(read_pdf(path))
            parts.append(pl.DataFrame({"filing_id": name, "page_number": range(len(texts)), "text": texts}))
    whole = pl.concat([cited.clear(), *parts], how="vertical_relaxed")
    there = set(whole["filing_id"])
    pools = {"cited": cited}
    if there:
        pools["whole"] = pl.concat([whole, cited.filter(~pl.col("filing_id").is_in(list(there)))])
    asked = list(corpus.questions.iter_rows(named=True))
    for name, pages in pools.items():
        start = time.process_time()
        with tempfile.TemporaryDirectory() as scratch:
            pool = Pool(Path(scratch), pages, corpus.filings, asked)
            scored = {system: hits(pool, asked, find()) for system, find in pool.systems().items()}
        for which in ("in all", "on whole filings"):
            of = np.array([which == "in all" or row["filing_id"] in there for row in asked])
            if of.any() and (name, which) != ("cited", "on whole filings"):
                groups = [row["filing_id"] for row, kept in zip(asked, of, strict=True) if kept]
                show(name, which, {system: figures[of] for system, figures in scored.items()}, groups)
        print(
            f"{pages.height:,} pages, {pool.chunks.height:,} chunks, {time.process_time() - start:.0f} CPU seconds"
        )


if __name__ == "__main__":
    main()

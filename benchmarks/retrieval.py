"""The page index beside scikit-learn's vectorisers, SQLite's own ranking, and a rebuild.

``build``: terms of pages beside `TfidfVectorizer` for words and characters over the same pages. ``add``: one filing to
those that are indexed, beside indexing all again. ``scoped``: questions within their filing, read from shards, beside a
`HybridTfidf` that is built and asked.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl

from apportion.corpus.sample import stream_pages
from apportion.retrieval.retrievers import rank_within_filings
from apportion.retrieval.shards import IndexFolder, TermShard
from apportion.retrieval.tfidf import HybridTfidf
from benchmarks.harness import Row, arguments, row, show

PAGE_CHARACTERS = 4_000
SIZES = (500, 2_000, 4_000)
QUESTION = "What was the company's net revenue, and what drove the change in operating margin?"


def sample(size: int) -> pl.DataFrame:
    """About so many pages of the sample, whole filings."""
    frames: list[pl.DataFrame] = []
    for frame in stream_pages(size // 20 + 1, page_characters=PAGE_CHARACTERS):
        if frames and sum(map(len, frames)) + frame.height > size:
            break
        frames.append(frame.select("filing_id", "page_number", "text"))
    return pl.concat(frames)


def pages_of(folder: Path, size: int) -> pl.DataFrame:
    """Pages of PDFs in a folder, whole files, up to about so many."""
    from apportion.corpus.pdf import read_pdf

    rows: list[tuple[str, int, str]] = []
    for path in sorted(folder.glob("*.pdf")):
        if len(rows) >= size:
            break
        rows += [(path.stem, number, text) for number, text in enumerate(read_pdf(path))]
    return pl.DataFrame(rows, schema=["filing_id", "page_number", "text"], orient="row")


def timed(pages: pl.DataFrame) -> Iterator[Row]:
    """Time the cases over some pages."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    filings = pages.partition_by("filing_id", maintain_order=True)
    begin = time.perf_counter()
    for frame in filings:
        TermShard.build(frame["page_number"].to_list(), frame["text"].to_list())
    ours = time.perf_counter() - begin
    begin = time.perf_counter()
    texts = pages["text"].to_list()
    TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True).fit_transform(texts)
    TfidfVectorizer(analyzer="char_wb", ngram_range=(3, 5), sublinear_tf=True).fit_transform(texts)
    yield row("build", pages.height, ours, "scikit-learn", time.perf_counter() - begin)
    with tempfile.TemporaryDirectory() as scratch:
        index = IndexFolder(Path(scratch))
        begin = time.perf_counter()
        index.add(pages.filter(pl.col("filing_id") != filings[-1]["filing_id"][0]))
        rest = time.perf_counter() - begin
        begin = time.perf_counter()
        index.add(filings[-1])
        added = time.perf_counter() - begin
        yield row("add", pages.height, added, f"rebuild of {len(filings)} filings", rest + added)
        asked = index.filings
        begin = time.perf_counter()
        scope = dict.fromkeys(asked)
        rank_within_filings("tfidf", index, scope, [QUESTION] * len(asked), asked, 5)
        scoped = time.perf_counter() - begin
    begin = time.perf_counter()
    HybridTfidf(pages).rank([QUESTION] * len(asked), asked, 5)
    yield row("scoped", pages.height, scoped, "build and ask in memory", time.perf_counter() - begin)


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--pdfs", type=Path, help="folder of PDFs; the sample by default")
    given = parser.parse_args()
    rows: list[Row] = []
    for size in SIZES:
        if size <= given.max_n:
            rows += timed(sample(size) if given.pdfs is None else pages_of(given.pdfs, size))
    show(rows, given.format)


if __name__ == "__main__":
    main()

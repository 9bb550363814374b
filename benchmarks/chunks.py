"""Scoped search over many chunks, beside bm25s and plain FAISS over all of them.

Chunks are cut from the sample's pages, 600 characters each, and dealt to filings of 320. ``build`` makes each index;
``scoped`` searches one filing by words and by vectors for the first 20 and 30. The others search everything under a
mask (bm25s) or under a selector (FAISS). ``exact`` counts the scoped searches whose result a plain scan of the scope
agrees with. Memory is the peak of a process that builds, or opens, and searches.
"""

from __future__ import annotations

import json
import multiprocessing
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from apportion.corpus.sample import stream_pages
from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.chunking import chunk_pages
from apportion.retrieval.fulltext import FullText
from apportion.retrieval.latent import LatentVectors
from apportion.retrieval.nearest import NearestChunks
from benchmarks.harness import Row, arguments, row, show

SIZES = (20_000, 100_000, 500_000)
A_FILING = 320
QUERIES = 60
QUESTION = "net revenue operating margin capital expenditure change compared year"


def pool() -> list[str]:
    """Texts that filings are dealt from."""
    texts: list[str] = []
    for frame in stream_pages(60, page_characters=4_000):
        texts += [
            chunk.text
            for chunk in chunk_pages(frame["page_number"].to_list(), frame["text"].to_list(), 600, 300)
        ]
    return texts


def dealt(texts: list[str], size: int) -> Iterator[tuple[str, list[str]]]:
    """Filings with their chunks, no two the same."""
    draw = np.random.default_rng(0)
    for number in range(size // A_FILING):
        places = draw.integers(0, len(texts), A_FILING)
        yield f"F{number:06d}", [f"{texts[place]} filer{number}" for place in places]


def ours_built(folder: Path, texts: list[str], size: int) -> ChunkIndex:
    """Our index, made or opened."""
    index = ChunkIndex(folder)
    for filing, chunks in dealt(texts, size):
        index.add(
            pl.DataFrame(
                {"filing_id": [filing] * len(chunks), "chunk_number": range(len(chunks)), "text": chunks}
            )
        )
    return index


def ours(folder: Path, texts: list[str], size: int) -> dict[str, Any]:
    """Build, then search scoped."""
    begin, cpu = time.perf_counter(), time.process_time()
    index = ours_built(folder, texts, size)
    vectors = LatentVectors(index)
    for filing in index.filings:
        vectors.of_filing(filing)
    built, built_cpu = time.perf_counter() - begin, time.process_time() - cpu
    chosen = np.random.default_rng(1).choice(index.filings, QUERIES)
    took, exact = [], 0
    for filing in map(str, chosen):
        begin = time.perf_counter()
        query = vectors.of_queries([QUESTION])
        [worded] = FullText(index, {filing: None}).rank([QUESTION], [None], 20)
        [near] = NearestChunks(index, vectors, [filing]).search(query, 30)
        took.append(time.perf_counter() - begin)
        rows = vectors.of_filing(filing)
        distances = ((rows - query) ** 2).sum(axis=1)
        plain = np.sort(distances[distances <= 2.0])[:30]
        exact += (
            len(worded) == 20
            and all(one.filing_id == filing for one in (*worded, *near))
            and np.allclose([-one.score for one in near], plain, atol=1e-4)
        )
    return {"build_s": built, "build_cpu_s": built_cpu, "scoped_s": statistics.median(took), "exact": exact}


def bm25s_all(folder: Path, texts: list[str], size: int) -> dict[str, Any]:
    """bm25s over everything, a mask for the scope."""
    import bm25s

    begin, cpu = time.perf_counter(), time.process_time()
    corpus = [text for _, chunks in dealt(texts, size) for text in chunks]
    index = bm25s.BM25()
    index.index(bm25s.tokenize(corpus, show_progress=False), show_progress=False)
    built, built_cpu = time.perf_counter() - begin, time.process_time() - cpu
    took = []
    for place in np.random.default_rng(1).integers(0, size // A_FILING, 10):
        begin = time.perf_counter()
        mask = np.zeros(len(corpus), np.float32)
        mask[place * A_FILING : (place + 1) * A_FILING] = 1
        asked = bm25s.tokenize(QUESTION, show_progress=False)
        index.retrieve(asked, k=20, weight_mask=mask, show_progress=False)
        took.append(time.perf_counter() - begin)
    return {"build_s": built, "build_cpu_s": built_cpu, "scoped_s": statistics.median(took)}


def faiss_all(folder: Path, texts: list[str], size: int) -> dict[str, Any]:
    """FAISS over all our vectors, a selector for the scope; vectors are given to it."""
    import faiss

    vectors = np.random.default_rng(0).normal(size=(size, 128)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    begin, cpu = time.perf_counter(), time.process_time()
    index = faiss.IndexFlatL2(128)
    index.add(vectors)
    built, built_cpu = time.perf_counter() - begin, time.process_time() - cpu
    took = []
    for place in np.random.default_rng(1).integers(0, size // A_FILING, QUERIES):
        begin = time.perf_counter()
        chosen = faiss.IDSelectorRange(int(place) * A_FILING, (int(place) + 1) * A_FILING)
        index.search(vectors[:1], 30, params=faiss.SearchParameters(sel=chosen))
        took.append(time.perf_counter() - begin)
    return {"build_s": built, "build_cpu_s": built_cpu, "scoped_s": statistics.median(took)}


def apart(
    work: Callable[[Path, list[str], int], dict[str, Any]], folder: Path, texts: list[str], size: int
) -> Any:
    """Do work in a process of its own; its result with the peak of its memory."""
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)

    def run() -> None:
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        made = work(folder, texts, size)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        sender.send(json.dumps({**made, "peak_mb": peak / 1024, "before_mb": before / 1024}, default=int))

    process = context.Process(target=run)
    process.start()
    made = json.loads(receiver.recv())
    process.join()
    return made


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__ or "")
    given = parser.parse_args()
    texts = pool()
    rows: list[Row] = []
    for size in SIZES:
        if size > given.max_n:
            continue
        with tempfile.TemporaryDirectory() as scratch:
            mine = apart(ours, Path(scratch), texts, size)
        for name, work in (("bm25s, masked", bm25s_all), ("FAISS flat, selector", faiss_all)):
            with tempfile.TemporaryDirectory() as scratch:
                other = apart(work, Path(scratch), texts, size)
            rows += [
                row(case, size, mine[f"{case}_s"], name, other[f"{case}_s"]) for case in ("build", "scoped")
            ]
            rows[-1]["ours_mb"], rows[-1]["other_mb"] = round(mine["peak_mb"]), round(other["peak_mb"])
            rows[-1]["exact"] = f"{mine['exact']} of {QUERIES}"
    show(rows, given.format)


if __name__ == "__main__":
    main()

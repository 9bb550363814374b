"""Taking filings in, beside the least that it could cost.

``extract``: reading PDFs in killable workers, with token counts, items, facts and Parquet, beside bare pypdfium2 in one
process over the same files; a ratio of 1 is as fast. ``stream``: pages of the sample, about 4,000 characters each,
through the store and the index, with questions within one filing; the other is the time of the smallest size times the
number of pages, so that a ratio of 1 is linear. Peak memory is told on standard error.

    python -m benchmarks.ingest [--pdfs FOLDER] [--stream PAGES [--plot FILE.png]]

With ``--stream`` one run of that size tells time and memory on its way; ``--plot`` draws them.
"""

from __future__ import annotations

import itertools
import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.harness import Row, arguments, row, show

ROUNDS = 3
PAGE_CHARACTERS = 4_000
SIZES = (2_000, 20_000, 200_000, 1_000_000)
PAGES_A_FILER = 41
"""Of its two filings, about."""

MARKS = 20
"""How often a stream tells its time and memory."""


def extract(folder: Path | None, most: int) -> Iterator[Row]:
    """Time extraction, alternating with bare pypdfium2; the medians of a few rounds."""
    from statistics import median

    from apportion.corpus.reading import Task, read_files

    with tempfile.TemporaryDirectory() as scratch:
        paths = _pdfs(folder, Path(scratch), most)
        ours, others, pages = [], [], 0
        for turn in range(ROUNDS):
            begin = time.perf_counter()
            read = read_files([Task(path, Path(scratch) / f"{turn}-{path.stem}.parquet") for path in paths])
            ours.append(time.perf_counter() - begin)
            begin = time.perf_counter()
            pages = sum(_bare(path) for path in paths)
            others.append(time.perf_counter() - begin)
            if sum(reading.page_count for reading in read) != pages:
                raise RuntimeError("the two read different numbers of pages")
        yield row("extract", pages, median(ours), "bare pypdfium2", median(others))


def _pdfs(folder: Path | None, scratch: Path, most: int) -> list[Path]:
    if folder is not None:
        return sorted(folder.glob("*.pdf"))[:most]
    import importlib.util

    support = Path(__file__).parents[1] / "tests" / "support" / "making_pdfs.py"
    spec = importlib.util.spec_from_file_location("making_pdfs", support)
    if spec is None or spec.loader is None:
        raise RuntimeError(f"{support} cannot be loaded")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    paths = []
    for number in range(8):
        path = scratch / f"{number}.pdf"
        path.write_bytes(
            module.make_pdf([f"page {i}\n" + "Net revenue 1,234 1,100\n" * 55 for i in range(150)])
        )
        paths.append(path)
    return paths


def _bare(path: Path) -> int:
    import pypdfium2

    document = pypdfium2.PdfDocument(path)
    for page in document:
        text = page.get_textpage()
        text.get_text_bounded()
        text.close()
        page.close()
    count = len(document)
    document.close()
    return count


def stream(most: int) -> Iterator[Row]:
    """Time the stream at growing sizes, each in a process of its own."""
    per_page = 0.0
    for size in SIZES:
        if size > most:
            break
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.ingest", "--stream", str(size)],
            check=True,
            capture_output=True,
            text=True,
        )
        told = json.loads(done.stdout)
        told.pop("marks")
        print(f"stream {told}", file=sys.stderr)
        per_page = per_page or told["seconds"] / told["pages"]
        yield row(
            "stream", told["pages"], told["seconds"], "linear from the smallest", per_page * told["pages"]
        )


def stream_once(size: int) -> dict[str, Any]:
    """Stream about ``size`` pages.

    Returns:
        Pages, seconds by stage, CPU seconds, the peak of resident memory, and ``marks``: pages, CPU seconds and memory
        so far.
    """
    import polars as pl

    from apportion.corpus.sample import stream_pages
    from apportion.retrieval.retrievers import rank_within_filings
    from apportion.retrieval.shards import IndexFolder
    from warehouse.contracts import TABLES
    from warehouse.store import Store

    filers = max(1, size // PAGES_A_FILER)
    marks: list[tuple[int, float, int]] = []
    with tempfile.TemporaryDirectory() as scratch:
        store = Store(scratch)
        index = IndexFolder(Path(scratch) / "indices")
        indexed = made = 0.0

        def numbered() -> Iterator[pl.DataFrame]:
            nonlocal indexed, made
            frames = stream_pages(filers, page_characters=PAGE_CHARACTERS)
            done = 0
            for number in itertools.count():
                start = time.perf_counter()
                frame = next(frames, None)
                made += time.perf_counter() - start
                if frame is None:
                    return
                # A stream comes in the table's order: a number before its name puts each filing behind the last.
                ordered = frame.with_columns(
                    filing_id=pl.lit(f"{number:07d}-") + pl.col("filing_id"), filing_batch=pl.lit("stream")
                )
                start = time.perf_counter()
                index.add(ordered)
                indexed += time.perf_counter() - start
                yield TABLES["pages"].arrange(ordered)
                done += frame.height
                if done >= size * (len(marks) + 1) / MARKS:
                    marks.append((done, round(time.process_time() - cpu, 2), _peak_mb()))
                    print(f"{done:,} pages, {marks[-1][1]:,} CPU s, {marks[-1][2]:,} MB", file=sys.stderr)

        cpu = time.process_time()
        begin = time.perf_counter()
        pages = store.write_slice("pages", numbered(), {"filing_batch": "stream"}).rows
        taken = time.perf_counter() - begin
        asked = index.filings[:: max(1, len(index.filings) // 20)]
        scope = dict.fromkeys(index.filings)
        questions = ["What was net revenue, and what changed it?"] * len(asked)
        rankings = rank_within_filings("fusion", index, scope, questions, asked, 5)
        seconds = time.perf_counter() - begin
        if any(len(ranking) != 5 for ranking in rankings):
            raise RuntimeError("a question found fewer pages than its filing has")
        held = store.scan("pages").select(pl.len()).collect().item()
        if held != pages:
            raise RuntimeError(f"{held} pages are stored of {pages}")
    return {
        "pages": pages,
        "seconds": round(seconds, 2),
        "made_s": round(made, 2),
        "stored_s": round(taken - indexed - made, 2),
        "indexed_s": round(indexed, 2),
        "search_ms": round((seconds - taken) * 1000 / len(asked), 1),
        "cpu_s": round(time.process_time() - cpu, 2),
        "peak_mb": _peak_mb(),
        "marks": marks,
    }


def _peak_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


def plot(told: dict[str, Any], file: Path) -> None:
    """Draw time and memory of a stream against its pages, with the straight line through the whole run."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    pages, seconds, memory = zip(*told["marks"], strict=True)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    axes[0].plot([0, pages[-1]], [0, seconds[-1]], color="0.75", label="linear")
    axes[0].plot(pages, seconds, marker="o", markersize=3, label="measured")
    axes[0].legend()
    axes[1].plot(pages, memory, marker="o", markersize=3)
    axes[1].axhline(2_000, color="0.75", linestyle="--", label="2 GB")
    axes[1].legend()
    for axis, label in zip(axes, ("CPU seconds", "peak memory, MB"), strict=True):
        axis.set(xlabel="pages", ylabel=label, xlim=(0, None), ylim=(0, None))
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.locator_params(axis="x", nbins=5)
    figure.savefig(file, dpi=110, metadata={"Software": None})


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--pdfs", type=Path, help="folder of PDFs; by default made by hand")
    parser.add_argument("--files", type=int, default=1000, help="PDFs at most")
    parser.add_argument(
        "--stream", type=int, metavar="PAGES", help="stream so many pages, and time nothing else"
    )
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw the stream's time and memory")
    given = parser.parse_args()
    if given.stream is not None:
        told = stream_once(given.stream)
        if given.plot is not None:
            plot(told, given.plot)
        print(json.dumps(told))
        return
    folder = given.pdfs
    data = os.environ.get("APPORTION_TEST_DATA")
    if folder is None and data:
        folder = Path(data) / "financebench" / "pdfs"
    show([*extract(folder, given.files), *stream(given.max_n)], given.format)


if __name__ == "__main__":
    main()

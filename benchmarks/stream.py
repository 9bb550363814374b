"""A stream of filings, from files to answers of the index, a batch of a thousand filings after another.

The sample is written as files (about 4,000 characters a page); each folder of it is a batch, which `apportion ingest`'s
command and the asset `page_index` take in, in a process of its own, as a daily run does. Then questions are asked
within single filings. Linear is: a page costs the same however many pages are there already.

    python -m benchmarks.stream [--pages PAGES] [--plot FILE.png] [--whole]

With ``--whole`` all pages are one batch. CPU seconds are those of every process. Memory is the most that a batch's
process and its readers held together, shared pages counted once (Linux only: read from /proc four times a second).
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

PAGES = 20_000
QUESTIONS = 20
WATCH_S = 0.25


def stream(pages: int, scratch: Path, *, whole: bool = False) -> dict[str, Any]:
    """Write, ingest, index and ask.

    Returns:
        Pages and filings; CPU seconds of writing; ``batches``: for each, pages so far, CPU seconds so far of ingesting
        and indexing, and its memory in MB; milliseconds of a question.
    """
    from apportion.corpus.sample_files import write_filings

    begin = time.process_time()
    filings, written = write_filings(scratch / "files", pages)
    made = time.process_time() - begin
    folders = [scratch / "files"] if whole else sorted((scratch / "files").iterdir())
    environment = os.environ | {"APPORTION_WAREHOUSE": str(scratch / "warehouse")}
    batches: list[dict[str, Any]] = []
    for number, folder in enumerate(folders, start=1):
        told = _watched(
            [sys.executable, "-m", "benchmarks.stream", "--batch", str(folder), f"part-{number:04d}"],
            environment,
        )
        for name in ("pages", "ingest_s", "index_s"):
            told[name] = round(told[name] + (batches[-1][name] if batches else 0), 2)
        batches.append(told)
        print(told, file=sys.stderr)
    if batches[-1]["pages"] != written:
        raise RuntimeError(f"{batches[-1]['pages']} pages are stored of {written}")
    return {
        "filings": filings,
        "pages": written,
        "written_s": round(made, 2),
        "question_ms": round(_question_ms(scratch / "warehouse"), 1),
        "batches": batches,
    }


def take_in(folder: Path, batch: str) -> dict[str, Any]:
    """One batch, as its commands do it, in this process."""
    from assets.indices import index_folder  # noqa: F401 - imported before the clock of the index starts
    from orchestration.commands.ingest import ingest_files
    from orchestration.instance import open_instance
    from orchestration.running import run_job

    ingest_files([folder], batch)
    ingested = _cpu_s()
    with open_instance() as instance:
        finished = run_job(instance, "index_pages", batch, {})
    pages = finished.metadata["page_index"]["pages"]
    return {"pages": pages, "ingest_s": ingested, "index_s": _cpu_s() - ingested}


def _watched(command: list[str], environment: dict[str, str]) -> dict[str, Any]:
    """What a batch's process told, with the most memory that it and its children held."""
    peak = 0
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        while process.poll() is None:
            peak = max(peak, _held_kb(process.pid))
            time.sleep(WATCH_S)
        said = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise RuntimeError(f"a batch ended with status {process.returncode}")
    told: dict[str, Any] = json.loads(said.splitlines()[-1])
    return told | {"peak_mb": peak // 1024}


def _held_kb(pid: int) -> int:
    """Memory of a process and its children, what they share counted once; 0 where none of them is there."""
    try:
        held = re.search(r"^Pss:\s+(\d+)", Path(f"/proc/{pid}/smaps_rollup").read_text(), re.M)
        children = " ".join(path.read_text() for path in Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        return 0
    return (int(held[1]) if held else 0) + sum(_held_kb(int(child)) for child in children.split())


def _cpu_s() -> float:
    """CPU seconds of this process and of the children that it has waited for."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


def _question_ms(warehouse: Path) -> float:
    """Milliseconds of a question within one filing, ranked by both retrievers' fusion."""
    import polars as pl

    from apportion.retrieval.retrievers import rank_within_filings
    from apportion.retrieval.shards import IndexFolder
    from warehouse.store import Store

    store = Store(warehouse)
    listed = store.scan("filings").select(pl.col("filing_id").sort()).collect()["filing_id"].to_list()
    asked = listed[:: max(1, len(listed) // QUESTIONS)][:QUESTIONS]
    index = IndexFolder(warehouse / "indices" / "pages")
    # Names the shards; they are there already.
    if index.add(store.scan("pages").filter(pl.col("filing_id").is_in(asked)).collect()):
        raise RuntimeError("a filing was not indexed")
    begin = time.perf_counter()
    rankings = rank_within_filings(
        "fusion",
        index,
        dict.fromkeys(asked),
        ["What was net revenue, and what changed it?"] * len(asked),
        asked,
        5,
    )
    taken = time.perf_counter() - begin
    if any(len(ranking) != 5 for ranking in rankings):
        raise RuntimeError("a question found fewer pages than its filing has")
    return taken * 1000 / len(asked)


def plot(told: dict[str, Any], file: Path) -> None:
    """Draw time and memory against pages, with the straight line through the whole run."""
    import matplotlib as mpl

    mpl.use("Agg")
    from matplotlib import pyplot as plt

    batches = told["batches"]
    pages = [0, *(batch["pages"] for batch in batches)]
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), constrained_layout=True)
    ingest = [0, *(batch["ingest_s"] for batch in batches)]
    both = [0, *(batch["ingest_s"] + batch["index_s"] for batch in batches)]
    for seconds, label, colour in ((both, "ingested and indexed", "C0"), (ingest, "ingested", "C2")):
        axes[0].plot(
            [0, pages[-1]], [0, seconds[-1]], color="0.75", label="linear" if seconds is both else None
        )
        axes[0].plot(pages, seconds, color=colour, marker="o", markersize=3, label=label)
    axes[0].legend()
    axes[1].plot(
        pages[1:], [batch["peak_mb"] for batch in batches], marker="o", markersize=3, label="a batch"
    )
    axes[1].axhline(2_000, color="0.75", linestyle="--", label="2 GB")
    axes[1].legend()
    for axis, label in zip(axes, ("CPU seconds", "peak memory, MB"), strict=True):
        axis.set(xlabel="pages", ylabel=label, xlim=(0, None), ylim=(0, None))
        axis.xaxis.set_major_formatter("{x:,.0f}")
        axis.locator_params(axis="x", nbins=5)
    figure.savefig(file, dpi=110, metadata={"Software": None})


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--pages", type=int, default=PAGES, help="about how many")
    parser.add_argument("--whole", action="store_true", help="all pages as one batch")
    parser.add_argument("--plot", type=Path, metavar="FILE.png", help="draw time and memory")
    parser.add_argument("--batch", nargs=2, metavar=("FOLDER", "NAME"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.batch is not None:
        print(json.dumps(take_in(Path(given.batch[0]), given.batch[1])))
        return
    with tempfile.TemporaryDirectory() as scratch:
        told = stream(given.pages, Path(scratch), whole=given.whole)
    if given.plot is not None:
        plot(told, given.plot)
    print(json.dumps(told))


if __name__ == "__main__":
    main()

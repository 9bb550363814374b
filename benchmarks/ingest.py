"""Reading filings, beside the least that it could cost.

PDFs in killable workers, with token counts, items, facts and Parquet, beside bare pypdfium2 in one process over the
same files; a ratio of 1 is as fast. `benchmarks.stream` tells what a stream of filings costs.

    python -m benchmarks.ingest [--pdfs FOLDER]
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import Row, arguments, row, show

ROUNDS = 3


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


def main() -> None:
    """Run the benchmark."""
    parser = arguments(__doc__ or "")
    parser.add_argument("--pdfs", type=Path, help="folder of PDFs; by default made by hand")
    parser.add_argument("--files", type=int, default=1000, help="PDFs at most")
    given = parser.parse_args()
    folder = given.pdfs
    data = os.environ.get("APPORTION_TEST_DATA")
    if folder is None and data:
        folder = Path(data) / "financebench" / "pdfs"
    show(list(extract(folder, given.files)), given.format)


if __name__ == "__main__":
    main()

"""PDFs page by page: order, image-only pages, passwords, and files that are none."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest
from making_pdfs import make_pdf

from apportion.corpus.pdf import read_pdf
from apportion.corpus.reading import Task, read_files
from apportion.corpus.records import UnreadableError


def written(folder: Path, name: str, content: bytes) -> Path:
    path = folder / name
    path.write_bytes(content)
    return path


def test_pages_keep_their_order_and_an_image_only_page_its_number(tmp_path: Path) -> None:
    path = written(tmp_path, "a.pdf", make_pdf(["first page", None, "third\npage"]))
    assert list(read_pdf(path)) == ["first page", "", "third\npage"]


def test_an_empty_password_opens(tmp_path: Path) -> None:
    path = written(tmp_path, "a.pdf", make_pdf(["Net revenue 1,234"], password=""))
    assert list(read_pdf(path)) == ["Net revenue 1,234"]


def test_another_password_is_told(tmp_path: Path) -> None:
    path = written(tmp_path, "a.pdf", make_pdf(["Net revenue 1,234"], password="secret"))
    with pytest.raises(UnreadableError, match="encrypted"):
        list(read_pdf(path))


@pytest.mark.parametrize("content", [b"", b"%PDF-1.4\n", b"not a PDF at all", make_pdf(["x"])[:90]])
def test_damage_is_told(tmp_path: Path, content: bytes) -> None:
    with pytest.raises(UnreadableError):
        list(read_pdf(written(tmp_path, "a.pdf", content)))


def test_evidence_pages_match_their_pdf(test_data: Path) -> None:
    folder = test_data / "financebench"
    cited: dict[str, dict[int, str]] = {}
    for line in (folder / "financebench_open_source.jsonl").read_text().splitlines():
        row = json.loads(line)
        for item in row["evidence"]:
            pages = cited.setdefault(item.get("doc_name", row["doc_name"]), {})
            pages[item["evidence_page_num"]] = item["evidence_text_full_page"]
    names = sorted(path.stem for path in (folder / "pdfs").glob("*.pdf") if path.stem in cited)
    chosen = names[::9]
    compared = [
        _plain(text) == _plain(cited[name][number])
        for name in chosen
        for number, text in enumerate(read_pdf(folder / "pdfs" / f"{name}.pdf"))
        if number in cited[name]
    ]
    assert len(compared) >= len(chosen)
    assert sum(compared) >= 0.98 * len(compared)


def _plain(text: str) -> str:
    return re.sub(r"\W+", "", text.lower())


def test_a_file_that_takes_too_long_is_given_up_and_the_next_is_read(tmp_path: Path) -> None:
    good = make_pdf(["Revenue"])
    paths = [
        written(tmp_path, "1.pdf", good),
        written(tmp_path, "2.pdf", make_pdf(["Revenue 1,234 2,345\n" * 200] * 4000)),
        written(tmp_path, "3.pdf", good),
    ]
    tasks = [Task(path, path.with_suffix(".parquet")) for path in paths]
    # A fresh worker is given time to start: the first file has it, the second is timed by itself.
    first, second, third = read_files(tasks, workers=1, time_limit_s=0.2)
    assert (first.status, first.page_count) == ("ok", 1)
    assert (second.status, second.out, second.reason) == (
        "failed",
        None,
        "reading it takes longer than 0.2 s",
    )
    assert (third.status, third.page_count) == ("ok", 1)
    assert not paths[1].with_suffix(".parquet").exists()


def test_what_was_read_before_is_not_read_again(tmp_path: Path) -> None:
    path = written(tmp_path, "a.pdf", make_pdf(["Revenue", "Costs"]))
    task = Task(path, tmp_path / "a.parquet")
    (first,) = read_files([task])
    path.unlink()
    assert read_files([task]) == [first]
    assert first.page_count == 2
    task.out.write_bytes(b"cut off")
    (again,) = read_files([task])
    assert again.status == "failed"

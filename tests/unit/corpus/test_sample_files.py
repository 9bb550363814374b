"""The sample as files: reading them gives the sample again."""

from __future__ import annotations

from pathlib import Path

import pytest

from apportion.corpus.readers import read_document
from apportion.corpus.sample import stream_filings
from apportion.corpus.sample_files import write_filings

FACTS = ("company", "cik", "form", "fiscal_year", "period_end", "filed_at")


def test_files_read_back_as_the_sample(tmp_path: Path) -> None:
    filings, pages = write_filings(tmp_path, 200)
    files = sorted(tmp_path.rglob("*.txt"))
    streamed = list(stream_filings(filings, 2, page_characters=4_000))[:filings]
    assert [file.stem for file in files] == sorted(row["filing_id"] for row, _ in streamed)
    assert 200 <= pages == sum(frame.height for _, frame in streamed) < 250
    for row, frame in streamed:
        document = read_document(tmp_path / "0001" / f"{row['filing_id']}.txt")
        read = list(document.pages)
        assert read == frame["text"].to_list()
        assert {name: getattr(document.facts, name) for name in FACTS} == {name: row[name] for name in FACTS}


def test_a_larger_size_only_adds_files(tmp_path: Path) -> None:
    write_filings(tmp_path / "small", 60)
    write_filings(tmp_path / "large", 120)
    small, large = (
        {file.name: file.read_bytes() for file in (tmp_path / name).rglob("*.txt")}
        for name in ("small", "large")
    )
    assert len(small) < len(large)
    assert small == {name: large[name] for name in small}


def test_what_is_there_is_never_written_over(tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    with pytest.raises(FileExistsError, match="holds files already"):
        write_filings(tmp_path, 10)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.txt"]
    with pytest.raises(ValueError, match="at least one page"):
        write_filings(tmp_path / "new", 0)

"""Whole filings counted from their PDFs, once."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from apportion.importing.filing_tokens import count_filings


def test_a_file_that_is_no_pdf_is_told_and_its_length_stays_unknown(tmp_path: Path) -> None:
    (tmp_path / "A.pdf").write_text("not a PDF")
    found, problems = count_filings(tmp_path, ["A", "B", "../C"])
    assert found == {}
    (problem,) = problems
    assert "cannot be read" in str(problem)


def test_a_name_never_leads_out_of_the_folder(tmp_path: Path) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (tmp_path / "secret.pdf").write_text("not a PDF")
    assert count_filings(inside, ["../secret"]) == ({}, [])


@pytest.mark.data
def test_counts_are_kept_by_the_bytes(test_data: Path, tmp_path: Path) -> None:
    folder = test_data / "financebench" / "pdfs"
    name = min(folder.glob("*.pdf"), key=lambda path: path.stat().st_size).stem
    kept = tmp_path / "kept.json"
    first, problems = count_filings(folder, [name], kept)
    assert first[name] > 1000
    assert problems == []
    (digest,) = json.loads(kept.read_text())
    kept.write_text(json.dumps({digest: 7}))
    assert count_filings(folder, [name], kept)[0] == {name: 7}

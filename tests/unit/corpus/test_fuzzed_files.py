"""Mutated PDFs, HTML and submissions: each is read or refused in one line; nothing crashes, hangs or grows."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest
from edgar_server import Filing, report
from making_pdfs import make_pdf

from apportion.corpus.reading import Task, page_batches, read_files

MUTANTS = 40


def mutated(content: bytes, chance: random.Random) -> bytes:
    """A file with bytes flipped, pieces cut out, doubled or swapped, or its end gone."""
    data = bytearray(content)
    for _ in range(chance.randint(1, 8)):
        kind = chance.randrange(5)
        a, b = sorted(chance.randrange(len(data) + 1) for _ in range(2))
        b = min(b, a + 5_000)
        if kind == 0:
            for i in range(a, min(b, a + 40)):
                data[i] = chance.randrange(256)
        elif kind == 1:
            del data[a:b]
        elif kind == 2:
            data[a:a] = data[a:b] * chance.randint(1, 20)
        elif kind == 3:
            data[a:b] = data[a:b][::-1]
        else:
            del data[max(b, 1) :]
        if not data:
            data = bytearray(b"x")
    return bytes(data)


def sources(folder: Path | None) -> dict[str, bytes]:
    """Files to mutate: our own, and real ones where there are any."""
    made = {
        "own.pdf": make_pdf(["Net revenue 1,234\nNet income 99", None, "more"]),
        "sealed.pdf": make_pdf(["Net revenue 1,234"], password=""),
        "own.html": report("Alder", 2023, 1_234).encode() * 20,
        "own.txt": Filing(
            "1", "A", "10-K", "20240301", "0000000001-24-000001", report("A", 2023, 1)
        ).submission,
    }
    if folder is not None:
        (page,) = (folder / "edgar_html" / "10-K" / "IBM").glob("*/primary-document.html")
        made["real.html"] = page.read_bytes()[:300_000]
        made["real.pdf"] = (
            folder / "financebench" / "pdfs" / "PEPSICO_2023_8K_dated-2023-05-05.pdf"
        ).read_bytes()
    return made


@pytest.mark.slow
def test_mutants_are_read_or_refused(tmp_path: Path) -> None:
    given = os.environ.get("APPORTION_TEST_DATA")
    chance = random.Random(7)
    tasks = []
    for name, content in sources(Path(given) if given else None).items():
        for i in range(MUTANTS):
            path = tmp_path / f"{i}-{name}"
            path.write_bytes(mutated(content, chance))
            tasks.append(Task(path, tmp_path / f"{path.name}.parquet"))
    read = read_files(tasks, time_limit_s=60)
    assert [reading.path for reading in read] == [task.path for task in tasks]
    for reading in read:
        assert reading.status in ("ok", "no_text", "failed")
        assert (reading.reason is None) == (reading.status == "ok")
        if reading.reason is not None:
            assert "\n" not in reading.reason
            assert "longer than" not in reading.reason
            assert "the reader failed on it" not in reading.reason, reading
        numbers = [number for batch in page_batches(reading) for number in batch["page_number"]]
        assert numbers == list(range(reading.page_count))
    assert sum(reading.status == "ok" for reading in read) > len(read) // 4
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]


@pytest.mark.parametrize(
    ("name", "content", "reason"),
    [
        ("bomb.zip.txt", b"PK\x03\x04" + bytes(1000), "ZIP"),
        ("packed.html", b"\x1f\x8b\x08" + bytes(1000), "gzip"),
        ("deep.html", b"<html>" + b"<div>" * 200_000, "nested"),
        ("deep.pdf", b"%PDF-1.4\n1 0 obj\n" + b"[" * 500_000, "pdfium"),
    ],
)
def test_bombs_are_refused(tmp_path: Path, name: str, content: bytes, reason: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    (reading,) = read_files([Task(path, tmp_path / "out.parquet")], time_limit_s=60)
    assert reading.status == "failed"
    assert reason in (reading.reason or "")

"""Files as filings through the command line: good ones in, bad ones shown, cited filings made whole."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import tiny
from commandline import CommandLine
from making_pdfs import make_pdf

PAGE = "Consolidated Statements of Income\nNet revenue 1,234 1,100\nNet income 99 88"


FILINGS = "SELECT filing_id, coverage, status, page_count, status_reason FROM filings ORDER BY filing_id"


def test_bad_files_are_shown_and_the_others_taken_in(apportion: CommandLine, tmp_path: Path) -> None:
    drop = tmp_path / "drop"
    drop.mkdir()
    good = make_pdf(["cover of the report", None, PAGE])
    (drop / "good.pdf").write_bytes(good)
    (drop / "empty password.pdf").write_bytes(make_pdf([PAGE], password=""))
    (drop / "scanned.pdf").write_bytes(make_pdf([None, None]))
    (drop / "encrypted.pdf").write_bytes(make_pdf([PAGE], password="secret"))
    (drop / "truncated.pdf").write_bytes(good[: len(good) // 3])
    (drop / "zero.pdf").touch()
    (drop / "folder.pdf").mkdir()
    (drop / "picture.pdf").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(100))
    (drop / "really.html").write_bytes(make_pdf(["a PDF under another name"]))
    (drop / "notes.docx").write_bytes(b"PK\x03\x04")
    (drop / "part.pdf.part").write_bytes(b"%PDF")
    (drop / "..dots..and é slash.pdf").write_bytes(make_pdf(["another page"]))
    (drop / "again.pdf").write_bytes(good)
    shown = apportion("ingest", str(drop), "--as", "filings")
    assert shown.status == 0, shown.err
    found = {row["filing_id"]: row for row in apportion.rows(FILINGS)}
    by_status = {
        status: sorted(name for name, row in found.items() if row["status"] == status)
        for status in ("ok", "no_text", "failed")
    }
    assert by_status["failed"] == ["encrypted", "folder", "picture", "really", "truncated", "zero"]
    assert by_status["no_text"] == ["scanned"]
    assert len(by_status["ok"]) == 3
    assert all(row["status_reason"] for row in found.values() if row["status"] != "ok")
    for name in by_status["failed"]:
        assert sum(name in line for line in shown.error_lines) == 1
    assert "1 of kind .docx" in shown.err
    (blank,) = apportion.rows(
        "SELECT has_text, text FROM pages WHERE filing_id = 'again' AND page_number = 1"
    )
    assert blank == {"has_text": "false", "text": ""}
    inside = set(apportion.warehouse.rglob("*"))
    assert all(apportion.warehouse in path.resolve().parents for path in inside)
    again = apportion("ingest", str(drop), "--as", "filings")
    assert "nothing was new" in again.err


def test_not_one_readable_file_is_a_failure(apportion: CommandLine, tmp_path: Path) -> None:
    (tmp_path / "zero.pdf").touch()
    shown = apportion("ingest", str(tmp_path / "zero.pdf"), "--as", "filings")
    assert shown.status == 1
    assert "the file is empty" in shown.err
    assert apportion("ingest", str(tmp_path / "absent.pdf"), "--as", "filings").status == 2


def test_a_pdf_makes_a_cited_filing_whole_and_questions_keep_working(
    apportion: CommandLine, tmp_path: Path
) -> None:
    folder = tiny.write(tmp_path / "bench")
    apportion.ok("ingest", str(folder), "--as", "financebench", "--batch", "bench", "--set", "tiny")
    listed = tiny.rows()
    document = listed[0]["doc_name"]
    text = listed[0]["evidence"][0]["evidence_text_full_page"]
    number = listed[0]["evidence"][0]["evidence_page_num"]
    pages: list[str | None] = [f"page {i} of the report" for i in range(30)]
    pages[number] = text
    pdfs = folder / "pdfs"
    pdfs.mkdir()
    (pdfs / f"{document}.pdf").write_bytes(make_pdf(pages))
    apportion.ok("ingest", str(pdfs), "--as", "filings", "--batch", "whole")
    statement = f"SELECT filing_batch, coverage, page_count, company, form FROM filings WHERE filing_id = '{document}'"
    expected = [
        {"filing_batch": "whole", "coverage": "whole", "page_count": "30", "company": "Alder", "form": "10-K"}
    ]
    assert apportion.rows(statement) == expected
    keys = apportion.rows(
        "SELECT count(*) AS n, count(DISTINCT (filing_id, page_number)) AS keys,"
        f" count(*) FILTER (filing_id = '{document}') AS whole FROM pages",
    )
    assert keys == [{"n": "52", "keys": "52", "whole": "30"}]
    # The data set once more: its cited pages are those of the whole filing now.
    apportion.ok("ingest", str(folder), "--as", "financebench", "--batch", "bench", "--set", "tiny")
    assert apportion.rows(statement) == expected
    apportion.ok("run", "--set", "tiny", "--refresh", "--routes", "direct,top1,top5,full_filing")
    (read,) = apportion.rows(
        "SELECT status, len(context) AS pages FROM route_outcomes"
        " WHERE question_id = 'tiny_00_a' AND route = 'full_filing'"
    )
    assert read == {"status": "ok", "pages": "30"}
    (hit,) = apportion.rows(
        "SELECT max(rank) AS depth, min(rank) FILTER (r.page_number = e.page_number) AS gold FROM retrievals r,"
        " (SELECT question_id, unnest(evidence, recursive := true) FROM questions) e"
        " WHERE r.question_id = e.question_id AND r.question_id = 'tiny_00_a'",
    )
    assert hit == {"depth": "20", "gold": "1"}


def test_the_same_bytes_belong_to_the_first_batch_and_changed_bytes_are_another_filing(
    apportion: CommandLine, tmp_path: Path
) -> None:
    first, second = tmp_path / "first", tmp_path / "second"
    first.mkdir()
    (first / "report.pdf").write_bytes(make_pdf([PAGE]))
    shutil.copytree(first, second)
    apportion.ok("ingest", str(first), "--as", "filings", "--batch", "one")
    shown = apportion("ingest", str(second), "--as", "filings", "--batch", "two")
    assert "1 known from other batches" in shown.err
    (second / "report.pdf").write_bytes(make_pdf([PAGE + " changed"]))
    apportion.ok("ingest", str(second), "--as", "filings", "--batch", "two")
    found = apportion.rows("SELECT filing_batch, filing_id FROM filings ORDER BY ALL")
    assert [row["filing_batch"] for row in found] == ["one", "two"]
    assert found[0]["filing_id"] == "report"
    assert found[1]["filing_id"].startswith("report-")


def test_the_same_batch_twice_at_once(apportion: CommandLine, tmp_path: Path) -> None:
    drop = tmp_path / "drop"
    drop.mkdir()
    for i in range(3):
        (drop / f"report-{i}.pdf").write_bytes(make_pdf([PAGE, f"page two of {i}"] * 20))
    with ThreadPoolExecutor(2) as pool:
        shown = list(pool.map(lambda _: apportion.process("ingest", str(drop), timeout=300), range(2)))
    assert [one.status for one in shown] == [0, 0], shown
    assert apportion.rows("SELECT count(*) AS n FROM pages") == [{"n": "120"}]


def test_questions_that_cannot_be_placed_say_why(apportion: CommandLine, tmp_path: Path) -> None:
    drop = tmp_path / "drop"
    drop.mkdir()
    (drop / "ALDER_2023_10K.pdf").write_bytes(make_pdf([PAGE]))
    apportion.ok("ingest", str(drop))
    (tmp_path / "questions.csv").write_text("question,filing\nHow much?,alder_2023_10k\n")
    shown = apportion("ingest", str(tmp_path / "questions.csv"), "--set", "mine")
    assert shown.status == 1
    (line,) = shown.error_lines
    assert "not one question can be taken in" in line
    assert "did you mean ALDER_2023_10K?" in line


@pytest.mark.parametrize("name", ["AAPL", "JNJ"])
def test_edgar_html_brings_its_facts(apportion: CommandLine, test_data: Path, name: str) -> None:
    (document,) = (test_data / "edgar_html" / "10-K" / name).glob("*/primary-document.html")
    apportion.ok("ingest", str(document), "--as", "filings")
    (found,) = apportion.rows("SELECT * FROM filings")
    assert found["filing_id"] == document.parent.name
    assert (found["ticker"], found["form"]) == (name, "10-K")
    assert found["cik"].isdigit()
    assert len(found["cik"]) == 10
    expected = json.loads(document.with_name("expected-top-level-sections.json").read_text())
    items = {
        item
        for row in apportion.rows("SELECT DISTINCT item FROM pages WHERE item IS NOT NULL")
        for item in row["item"].split(", ")
    }
    assert {row["identifier"] for row in expected} <= items
    (risks,) = apportion.rows("SELECT min(lower(item_titles[1])) AS title FROM pages WHERE item = '1A'")
    assert risks["title"] == "risk factors"
    kinds = {row["page_kind"] for row in apportion.rows("SELECT DISTINCT page_kind FROM pages")}
    assert {"cover", "risk_factors", "discussion", "income", "balance", "cash_flow", "notes"} <= kinds


def test_the_sample_comes_as_files_of_any_size(apportion: CommandLine, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    told = apportion.ok("sample", str(folder), "--pages", "30")
    assert told == ""
    apportion.ok("ingest", str(folder))
    filings = apportion.rows("SELECT filing_id, company, page_count, status FROM filings ORDER BY ALL")
    assert [row["filing_id"] for row in filings] == sorted(path.stem for path in folder.rglob("*.txt"))
    assert {row["status"] for row in filings} == {"ok"}
    (pages,) = apportion.rows("SELECT count(*) AS n FROM pages")
    assert int(pages["n"]) == sum(int(row["page_count"]) for row in filings) >= 30
    again = apportion("sample", str(folder))
    assert again.status == 2
    assert "holds files already" in again.err

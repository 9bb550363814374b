"""Bad rows are refused with a line that names file, line, field, value and remedy; the good ones go on."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tiny

from apportion.corpus.financebench import QUESTIONS_FILE, read_financebench
from apportion.corpus.placing import new_filings, place
from apportion.corpus.records import safe_name


def test_a_clean_set_reads_whole(tmp_path: Path) -> None:
    read = read_financebench(tiny.write(tmp_path))
    assert (read.filings.height, read.pages.height, read.questions.height) == (12, 24, 24)
    assert not read.problems
    assert read.filings["form"].unique().to_list() == ["10-K"]
    assert read.pages.filter(read.pages["token_count"] == 0).is_empty()


def spoil(change: Callable[[dict[str, Any]], object]) -> list[dict[str, Any]]:
    listed = tiny.rows(3)
    change(listed[1])
    return listed


@pytest.mark.parametrize(
    ("change", "field", "value"),
    [
        (lambda r: r.pop("question"), "question", "None"),
        (lambda r: r.update(question="  "), "question", ""),
        (lambda r: r.pop("financebench_id"), "financebench_id", "None"),
        (lambda r: r.pop("answer"), "answer", "None"),
        (lambda r: r.update(evidence=[]), "evidence", "[]"),
        (lambda r: r.update(evidence="page 3"), "evidence", "page 3"),
        (lambda r: r["evidence"][0].update(evidence_page_num=-1), "evidence_page_num", "-1"),
        (lambda r: r["evidence"][0].update(evidence_page_num="12"), "evidence_page_num", "12"),
        (lambda r: r["evidence"][0].update(evidence_page_num=10**9), "evidence_page_num", "1000000000"),
        (lambda r: r["evidence"][0].pop("evidence_text_full_page"), "evidence_text_full_page", "None"),
        (lambda r: r.update(financebench_id="tiny_00_a"), "financebench_id", "tiny_00_a"),
        (lambda r: r.update(doc_name="NOWHERE"), "doc_name", "NOWHERE"),
    ],
)
def test_a_bad_row_is_named_and_the_others_go_on(
    tmp_path: Path, change: Callable[[dict[str, Any]], object], field: str, value: str
) -> None:
    folder = tiny.write(tmp_path, spoil(change), documents=False)
    documents = [{"doc_name": row["doc_name"]} for row in tiny.rows(3)]
    (folder / "financebench_document_information.jsonl").write_text(
        "".join(json.dumps(d) + "\n" for d in documents)
    )
    read = read_financebench(folder)
    assert read.questions.height == 5
    (problem,) = read.problems
    assert (problem.line, problem.field) == (2, field)
    said = str(problem)
    assert f"{QUESTIONS_FILE}, line 2: {field}" in said
    assert value in said
    assert "\n" not in said


def test_a_broken_line_is_named(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path)
    path = folder / QUESTIONS_FILE
    lines = path.read_text().splitlines()
    path.write_text("\n".join([lines[0], '{"financebench_id": "x", "quest', "[1, 2]", "", *lines[1:]]) + "\n")
    read = read_financebench(folder)
    assert [problem.line for problem in read.problems] == [2, 3]
    assert read.questions.height == 24


@pytest.mark.parametrize("content", ["", "\n\n", "not json\n"])
def test_a_file_without_a_question_is_refused_whole(tmp_path: Path, content: str) -> None:
    (tmp_path / QUESTIONS_FILE).write_text(content)
    with pytest.raises(ValueError, match="no usable question"):
        read_financebench(tmp_path)


def test_a_missing_file_says_what_was_looked_for(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=QUESTIONS_FILE):
        read_financebench(tmp_path)


def test_a_number_is_an_answer(tmp_path: Path) -> None:
    read = read_financebench(tiny.write(tmp_path, spoil(lambda r: r.update(answer=1577))))
    assert "1577" in read.questions["reference_answer"].to_list()


def test_a_document_listed_twice_with_other_facts_is_told(tmp_path: Path) -> None:
    folder = tiny.write(tmp_path)
    path = folder / "financebench_document_information.jsonl"
    first = json.loads(path.read_text().splitlines()[0])
    path.write_text(path.read_text() + json.dumps({**first, "doc_period": 1999}) + "\n")
    (problem,) = read_financebench(folder).problems
    assert not problem.refused
    assert "the first is used" in str(problem)


@pytest.mark.parametrize(
    "name", ["..", "a/b", "../../etc/passwd", "Société Générale", "x" * 300, " ", "a\x00b", ".hidden"]
)
def test_a_document_s_name_never_is_a_path(name: str) -> None:
    safe = safe_name(name)
    assert safe not in {"", ".", ".."}
    assert not safe.startswith(".")
    assert set(safe) <= set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
    assert len(safe) <= 100


def test_two_names_never_share_an_id() -> None:
    names = ["a b", "a_b", "a/b", "a:b", "a__b", "A b"]
    assert len({safe_name(name) for name in names}) == len(names)
    assert safe_name("3M_2018_10K") == "3M_2018_10K"


def test_the_same_bytes_keep_their_id_and_other_bytes_get_their_own(tmp_path: Path) -> None:
    read = read_financebench(tiny.write(tmp_path / "a"))
    known = read.filings
    assert place(read, known).filings.equals(read.filings)
    assert new_filings(place(read, known), known).pages.is_empty()
    changed = tiny.rows()
    for item in changed[0]["evidence"]:
        item["evidence_text_full_page"] += " restated"
    again = place(read_financebench(tiny.write(tmp_path / "b", changed)), known)
    fresh = new_filings(again, known)
    (name,) = fresh.filings["filing_id"].to_list()
    assert name.startswith("ALDER_2019_10K-")
    assert fresh.pages["filing_id"].unique().to_list() == [name]
    asked = again.questions.filter(again.questions["question_id"] == "tiny_00_a")
    assert asked["filing_id"].item() == name
    assert asked["evidence"].item()[0]["filing_id"] == name

"""What a path holds is told from what is there, and where it can't be told the remedy is named."""

from __future__ import annotations

from pathlib import Path

import pytest
import tiny

from apportion.corpus.questions import read_questions
from orchestration.app import CallError
from orchestration.commands.ingest import kind_of

GOOD = "question,answer\nHow much?,5\n"


@pytest.mark.parametrize(
    ("name", "content", "kind"),
    [
        ("mine.csv", GOOD, "questions"),
        ("marked.csv", "\ufeff" + GOOD, "questions"),
        ("mine.jsonl", '\n{"question": "How much?"}\n', "questions"),
        ("empty-first.csv", "question,answer\n,5\nHow much?,5\n", "questions"),
        ("open.jsonl", '{"question": "How much?", "financebench_id": "1"}\n', "financebench"),
        ("financebench_open_source.jsonl", "", "financebench"),
        ("letter.txt", "question", "filings"),
        ("report.pdf", "", "filings"),
    ],
)
def test_what_a_file_holds_is_told(tmp_path: Path, name: str, content: str, kind: str) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    assert kind_of([path]) == kind


def test_what_a_folder_holds_is_told(tmp_path: Path) -> None:
    assert kind_of([tiny.write(tmp_path / "set", tiny.rows(1))]) == "financebench"
    (tmp_path / "set" / "filing.htm").write_text("<p>x</p>")
    assert kind_of([tmp_path / "set"]) == "financebench"
    (tmp_path / "reports").mkdir()
    (tmp_path / "reports" / "filing.htm").write_text("<p>x</p>")
    assert kind_of([tmp_path / "reports"]) == "filings"


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        (
            "letter.docx",
            b"PK\x03\x04\xff\xfe",
            "letter.docx is (not UTF-8 text); say --as filings, questions or",
        ),
        (
            "q.csv",
            b"Question,Answer\nHow much?,5\n",
            "(no column `question`; its columns: Question, Answer); say",
        ),
        (
            "q.jsonl",
            b'{"ask": "How much?", "answer": 5}\n',
            "(no column `question`; its columns: ask, answer)",
        ),
        ("q.csv", "question\n£\n".encode("latin-1"), "q.csv is (not UTF-8 text)"),
        ("nothing.jsonl", b"", "nothing.jsonl is; say --as filings, questions or financebench"),
        ("notes.dat", b"what?", "notes.dat is; say --as"),
    ],
)
def test_what_cannot_be_told_is_said(tmp_path: Path, name: str, content: bytes, said: str) -> None:
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(CallError) as refused:
        kind_of([path])
    assert f"cannot tell what {tmp_path}" in str(refused.value)
    assert said in str(refused.value)


def test_a_folder_of_neither_nothing_and_several_sets_are_said(tmp_path: Path) -> None:
    with pytest.raises(CallError, match=r"cannot tell what .*; say --as"):
        kind_of([tmp_path])
    with pytest.raises(CallError, match="nowhere: there is nothing here"):
        kind_of([tmp_path / "nowhere"])
    for name in ("a.csv", "b.csv"):
        (tmp_path / name).write_text(GOOD)
    with pytest.raises(CallError, match="2 files of questions: name one at a time"):
        kind_of([tmp_path / "a.csv", tmp_path / "b.csv"])

    (tmp_path / "letter.txt").write_text("Dear all")
    (tmp_path / "notes.docx").write_bytes(b"PK\xff")
    assert kind_of([tmp_path / "letter.txt", tmp_path / "notes.docx"]) == "filings"
    with pytest.raises(CallError, match="filings and questions are two calls"):
        kind_of([tmp_path / "letter.txt", tmp_path / "a.csv"])


def test_a_file_said_to_hold_questions_is_told_by_its_columns(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text("Question,Answer\nHow much?,5\n")
    with pytest.raises(ValueError, match=r"q\.csv: no column `question`; its columns: Question, Answer"):
        read_questions(path)


def test_what_a_table_of_questions_means_is_told_where_it_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "q.csv"
    path.write_text(
        "question_id,question,filling,anwser,note\n"
        "q1,How much?,A_2023_10K,5,\n"
        "q2,How much, and why?,A_2023_10K,5,\n"
        "q3,How much was spent?,A_2023_10K,5,\n"
    )
    read = read_questions(path)
    assert read.questions["question_id"].to_list() == ["q1", "q3"]
    assert [(problem.value, problem.refused) for problem in read.problems] == [
        ("filling", False),
        ("anwser", False),
        ("note", False),
        ("q2,How much, and why?,A_2023_10K,5", True),
    ]
    assert "did you mean filing?" in str(read.problems[0])
    assert "did you mean answer?" in str(read.problems[1])
    assert "columns: question, question_id" in str(read.problems[2])
    assert "needs quotes around it" in str(read.problems[3])


@pytest.mark.parametrize("name", ["A_2023_10K", "A_2023_10K.pdf", "A_2023_10K.HTML"])
def test_a_filing_may_be_named_with_its_suffix(tmp_path: Path, name: str) -> None:
    path = tmp_path / "q.csv"
    path.write_text(f"question,filing\nHow much?,{name}\n")
    assert read_questions(path).questions["filing_id"].to_list() == ["A_2023_10K"]

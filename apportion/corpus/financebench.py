"""FinanceBench's open-source files: questions, gold answers, and the pages that its annotators cited.

Islam et al. 2023, "FinanceBench: A New Benchmark for Financial Question Answering". Filings enter with coverage
``evidence``: only the pages that questions cite are in the file.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import Path
from typing import Any

import polars as pl

from apportion.corpus.page_kinds import PageProfile, page_columns, page_profiles
from apportion.corpus.records import QUESTION_COLUMNS, Corpus, Problem, safe_name
from apportion.tokens import count_tokens_batch

QUESTIONS_FILE = "financebench_open_source.jsonl"
DOCUMENTS_FILE = "financebench_document_information.jsonl"
FORMS = {
    "10k": "10-K",
    "10q": "10-Q",
    "8k": "8-K",
    "earnings": "earnings release",
    "annual report": "annual report",
}


@dataclass
class _Builder:
    documents: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    pages: dict[tuple[str, int], str] = field(default_factory=dict)
    questions: dict[str, dict[str, Any]] = field(default_factory=dict)
    companies: dict[str, str] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def refuse(self, source: str, line: int | None, name: str, value: object, remedy: str) -> None:
        self.problems.append(Problem(source, line, name, str(value), remedy))

    def notice(self, source: str, line: int | None, name: str, value: object, remedy: str) -> None:
        self.problems.append(Problem(source, line, name, str(value), remedy, refused=False))


def find_file(path: Path, name: str) -> Path | None:
    """A file of the data set: ``path`` itself, or under it, or under its ``data`` folder."""
    if path.is_file():
        return path if path.name == name else next((p for p in (path.parent / name,) if p.is_file()), None)
    return next((p for p in (path / name, path / "data" / name) if p.is_file()), None)


def read_financebench(path: Path) -> Corpus:
    """Read a FinanceBench checkout, its ``data`` folder, or its questions file.

    Raises:
        FileNotFoundError: there is no questions file at the path.
        ValueError: the questions file holds no usable question.
    """
    questions_file = path if path.is_file() else find_file(path, QUESTIONS_FILE)
    if questions_file is None:
        raise FileNotFoundError(f"{path}: no {QUESTIONS_FILE} here; name a FinanceBench folder or that file")
    build = _Builder()
    documents_file = find_file(questions_file.parent, DOCUMENTS_FILE)
    if documents_file is not None:
        for line, row in _rows(documents_file, build):
            _add_document(build, documents_file.name, line, row)
    for line, row in _rows(questions_file, build):
        _add_question(build, questions_file.name, line, row)
    if not build.questions:
        reasons = "; ".join(str(p) for p in build.problems[:3]) or "the file is empty"
        raise ValueError(f"{questions_file}: no usable question ({reasons})")
    digest = hashlib.sha256(questions_file.read_bytes()).hexdigest()
    return Corpus(_filings(build), _pages(build), _questions(build), build.problems, digest)


def _rows(path: Path, build: _Builder) -> Iterator[tuple[int, Mapping[str, Any]]]:
    with path.open("rb") as handle:
        for number, raw in enumerate(handle, start=1):
            if not raw.strip():
                continue
            try:
                row = json.loads(raw.decode("utf-8"))
            except (UnicodeDecodeError, json.JSONDecodeError) as error:
                shown = raw.decode("utf-8", "replace")
                build.refuse(path.name, number, "line", shown, f"not JSON ({error}); mend or drop it")
                continue
            if not isinstance(row, dict):
                build.refuse(path.name, number, "line", row, "not a JSON object; mend or drop it")
                continue
            yield number, row


def _add_document(build: _Builder, source: str, line: int, row: Mapping[str, Any]) -> None:
    name = row.get("doc_name")
    if not isinstance(name, str) or not name.strip():
        build.refuse(source, line, "doc_name", name, "a document needs a name")
        return
    if name in build.documents:
        if dict(build.documents[name]) != dict(row):
            build.notice(
                source, line, "doc_name", name, "stands twice with different facts; the first is used"
            )
        return
    build.documents[name] = row


def _add_question(build: _Builder, source: str, line: int, row: Mapping[str, Any]) -> None:
    for name in ("financebench_id", "question", "doc_name"):
        value = row.get(name)
        if not isinstance(value, str) or not value.strip():
            build.refuse(source, line, name, value, "missing or not text; every question needs one")
            return
    answer = row.get("answer")
    # The files hold numbers where text is expected; a number is its own text.
    if isinstance(answer, bool) or not isinstance(answer, str | int | float) or not str(answer).strip():
        build.refuse(source, line, "answer", answer, "missing; a question needs its gold answer")
        return
    identifier = row["financebench_id"]
    if identifier in build.questions:
        build.refuse(source, line, "financebench_id", identifier, "stands twice; the first is used")
        return
    evidence = _evidence(build, source, line, row)
    if evidence is None:
        return
    filing = row["doc_name"]
    known = filing in build.documents or any(name == filing for name, _ in (*build.pages, *evidence))
    if not known:
        build.refuse(source, line, "doc_name", filing, "no such filing in the document list or the evidence")
        return
    for page, text in evidence.items():
        if build.pages.setdefault(page, text) != text:
            build.notice(
                source,
                line,
                "evidence_page_num",
                page,
                "its text differs from an earlier row's, which is used",
            )
    build.companies.setdefault(filing, str(row.get("company") or ""))
    family = row.get("question_type")
    build.questions[identifier] = {
        "question_id": identifier,
        "text": row["question"],
        "family": family if isinstance(family, str) else None,
        "company": row.get("company") if isinstance(row.get("company"), str) else None,
        "filing_id": safe_name(filing),
        "reference_answer": str(answer),
        "evidence": [
            {"filing_id": safe_name(name), "page_number": number} for name, number in sorted(evidence)
        ],
    }


def _evidence(
    build: _Builder, source: str, line: int, row: Mapping[str, Any]
) -> dict[tuple[str, int], str] | None:
    """The pages a row cites with their text, or None where the row is refused."""
    cited = row.get("evidence")
    if not isinstance(cited, list) or not cited:
        build.refuse(source, line, "evidence", cited, "missing; a question needs at least one cited page")
        return None
    found: dict[tuple[str, int], str] = {}
    for item in cited:
        if not isinstance(item, dict):
            build.refuse(source, line, "evidence", item, "not an object with a page and its text")
            return None
        number = item.get("evidence_page_num")
        if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 100_000:
            build.refuse(
                source, line, "evidence_page_num", number, "out of range; pages are numbered from zero"
            )
            return None
        text = item.get("evidence_text_full_page")
        if not isinstance(text, str):
            build.refuse(source, line, "evidence_text_full_page", text, "missing; the page's text is needed")
            return None
        name = item.get("doc_name", row["doc_name"])
        if not isinstance(name, str) or not name.strip():
            build.refuse(source, line, "evidence.doc_name", name, "missing or not text")
            return None
        found.setdefault((name, number), text)
    return found


def _filings(build: _Builder) -> pl.DataFrame:
    rows = []
    counts: dict[str, list[int]] = {}
    for name, number in build.pages:
        counts.setdefault(name, []).append(number)
    for name, numbers in counts.items():
        facts = build.documents.get(name, {})
        content = hashlib.sha256()
        for number in sorted(numbers):
            content.update(f"{number}\n".encode() + build.pages[name, number].encode() + b"\f")
        period = facts.get("doc_period")
        form = str(facts["doc_type"]) if facts.get("doc_type") else None
        has_text = any(build.pages[name, number].strip() for number in numbers)
        rows.append(
            {
                "filing_id": safe_name(name),
                "source": "financebench",
                "company": facts.get("company") or build.companies.get(name) or None,
                "form": FORMS.get(form.lower(), form) if form else None,
                "fiscal_year": period if isinstance(period, int) and 1900 <= period <= 2200 else None,
                "page_count": len(numbers),
                "coverage": "evidence",
                "sha256": content.hexdigest(),
                "status": "ok" if has_text else "no_text",
            }
        )
    schema = {
        "filing_id": pl.String,
        "source": pl.String,
        "company": pl.String,
        "form": pl.String,
        "fiscal_year": pl.Int64,
        "page_count": pl.Int64,
        "coverage": pl.String,
        "sha256": pl.String,
        "status": pl.String,
    }
    return pl.DataFrame(rows, schema=schema)


def _pages(build: _Builder) -> pl.DataFrame:
    keys = sorted(build.pages)
    texts = [build.pages[key] for key in keys]
    profiles: list[PageProfile] = []
    for _, own in groupby(keys, key=lambda key: key[0]):
        profiles += page_profiles(build.pages[key] for key in own)
    return pl.DataFrame(
        {
            "filing_id": [safe_name(name) for name, _ in keys],
            "page_number": [number for _, number in keys],
            "text": texts,
            "token_count": count_tokens_batch(texts),
            "has_text": [bool(text.strip()) for text in texts],
            **page_columns(profiles),
        },
        schema_overrides={"fiscal_years": pl.List(pl.Int64), "units": pl.String},
    )


def _questions(build: _Builder) -> pl.DataFrame:
    return pl.DataFrame(list(build.questions.values()), schema=QUESTION_COLUMNS)

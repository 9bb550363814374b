"""FinanceBench's `results` files: answers of model configurations to its questions, with human labels.

A set is a model, a route its retrieval mode. Tokens were never logged. They are reconstructed and marked
``estimated``: question and answer; the gold pages for ``oracle``; every page of the filing for ``inContext``, where
the filing's length is known. What the two vector stores put into the context was not logged either: the passages
are ``assumed``. Prompts beyond that are unknown and not counted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import polars as pl

from apportion.corpus.financebench import QUESTIONS_FILE, find_file, read_financebench
from apportion.corpus.records import Corpus
from apportion.importing.records import PAGES, ImportedLog, LogError, refusals
from apportion.importing.rows import Refused, json_batches
from apportion.tokens import count_tokens_batch

SETS = "financebench-results"
JUDGE = "human"
STORES = ("sharedStore", "singleStore")
WHOLE_FILING = ("inContext", "inContext_reverse")
GOLD_PAGES = ("oracle", "oracle_reverse")
NO_CONTEXT = ("closedBook",)
ROUTES = (*NO_CONTEXT, *STORES, *WHOLE_FILING, *GOLD_PAGES)

LABELS = {
    "correctanswer": "correct",
    "correct": "correct",
    "incorrectanswer": "incorrect",
    "incorrect": "incorrect",
    "refusal": "refusal",
    "refused": "refusal",
    "failedtoanswer": "refusal",
}
"""Human labels, by their letters alone: the files spell them in several ways."""


@dataclass(frozen=True)
class Passages:
    """What a vector store is assumed to put into the context: ``count`` passages of ``tokens`` tokens."""

    count: int = 4
    tokens: int = 256

    @classmethod
    def of(cls, text: str) -> Passages:
        """Read ``4x256``.

        Raises:
            LogError: it isn't two whole numbers.
        """
        count, _, tokens = text.lower().partition("x")
        if not (count.strip().isdigit() and tokens.strip().isdigit()):
            raise LogError(f"--context-passages {text}: give passages and their tokens, such as 4x256")
        return cls(int(count), int(tokens))


@dataclass
class _Reading:
    rows: list[dict[str, Any]] = field(default_factory=list)
    refused: list[Refused] = field(default_factory=list)
    count: int = 0


def result_files(path: Path) -> list[Path]:
    """The results files at a path: itself, the folder's, or those of its ``results`` folder.

    Raises:
        LogError: there is none.
    """
    if path.is_file():
        return [path]
    folder = path / "results" if (path / "results").is_dir() else path
    found = sorted(
        p for p in folder.glob("*.jsonl") if p.name != QUESTIONS_FILE and "document_information" not in p.name
    )
    if not found:
        raise LogError(f"{path}: no .jsonl file here; name FinanceBench's results folder or one of its files")
    return found


def models_of(path: Path) -> list[str]:
    """The models whose answers the files hold, in alphabetical order."""
    found = {
        row["model_name"]
        for file in result_files(path)
        for _, objects, _ in json_batches(file)
        for row in objects
        if isinstance(row.get("model_name"), str) and row["model_name"].strip()
    }
    if not found:
        raise LogError(f"{path}: no row with a model_name; name FinanceBench's results folder")
    return sorted(found)


def questions_near(path: Path) -> Corpus | None:
    """The benchmark's questions, from a checkout around the results; None where they aren't there."""
    start = path.parent if path.is_file() else path
    for folder in (start, start.parent, start.parent.parent):
        file = find_file(folder, QUESTIONS_FILE)
        if file is not None:
            return read_financebench(file)
    return None


def read_results(
    path: Path,
    model: str,
    *,
    benchmark: Corpus | None,
    filing_tokens: Mapping[str, int],
    passages: Passages,
    known_pages: frozenset[tuple[str, int]] = frozenset(),
) -> ImportedLog:
    """One model's answers on every retrieval mode.

    Args:
        path: the results folder or a file of it.
        model: whose answers to read.
        benchmark: the questions with their filings and gold pages; without it questions stand alone, and the tokens
            of the gold pages are unknown.
        filing_tokens: tokens of whole filings, by `filing_id`.
        passages: what a vector store put into the context.
        known_pages: pages of the warehouse, so that gold pages that are there are named as context.

    Raises:
        LogError: no row is usable.
    """
    reading = _Reading()
    for file in result_files(path):
        _read(file, model, reading)
    if not reading.rows:
        raise LogError(f"{path}: no usable answer of model {model!r}")
    facts = _facts(benchmark, known_pages)
    frame = pl.DataFrame(reading.rows, infer_schema_length=None)
    asked = frame.unique("question_id", keep="first", maintain_order=True)
    texts = dict(asked.select("question_id", "question").iter_rows())
    question_tokens = dict(zip(texts, count_tokens_batch(texts.values()), strict=True))
    answer_tokens = count_tokens_batch(frame["answer"].to_list())
    outcomes = []
    for row, output in zip(frame.iter_rows(named=True), answer_tokens, strict=True):
        fact = facts.get(row["question_id"], {})
        context, source = _context_tokens(row["route"], fact, filing_tokens, passages)
        inputs = None if context is None else question_tokens[row["question_id"]] + context
        outcomes.append(
            {
                "question_id": row["question_id"],
                "route": row["route"],
                "model": model,
                "answer": row["answer"] or None,
                "input_tokens": inputs,
                "output_tokens": output,
                "total_tokens": None if inputs is None else inputs + output,
                "usage_source": None if inputs is None else source,
                "calls_made": 1,
                "status": "ok",
                "context": fact.get("evidence", []) if row["route"] in GOLD_PAGES else [],
                "quotes": [],
            }
        )
    made = pl.DataFrame(
        outcomes,
        schema_overrides={
            "context": PAGES,
            "quotes": pl.List(pl.String),
            "input_tokens": pl.Int64,
            "total_tokens": pl.Int64,
            "usage_source": pl.String,
        },
        infer_schema_length=None,
    )
    uncounted = made.filter(pl.col("total_tokens").is_null())
    notes = [
        f"{count} answers on {route} have no token count, since their filing's length is unknown: left out of cost "
        "work, and counted"
        for route, count in uncounted.group_by("route").len().sort("route").iter_rows()
    ]
    if benchmark is None:
        notes.append(
            f"no {QUESTIONS_FILE} beside the results: questions have no filing and are groups of their own"
        )
    return ImportedLog(
        questions=_questions(texts, asked, facts),
        outcomes=made,
        quality=frame.select(
            "question_id",
            "route",
            pl.lit(JUDGE).alias("judge"),
            pl.col("correct").cast(pl.Float64).alias("quality"),
            "correct",
            pl.lit("human").alias("judged_by"),
        ),
        refusals=refusals(reading.refused),
        rows=reading.count,
        notes=notes,
    )


def _read(file: Path, model: str, reading: _Reading) -> None:
    seen = {(row["question_id"], row["route"]) for row in reading.rows}
    for lines, objects, refused in json_batches(file):
        reading.refused += refused
        reading.count += len(refused)
        for line, row in zip(lines, objects, strict=True):
            if row.get("model_name") != model:
                if not isinstance(row.get("model_name"), str):
                    reading.refused.append(
                        (file.name, line, "model_name", row.get("model_name"), "missing or not text")
                    )
                    reading.count += 1
                continue
            reading.count += 1
            wrong = _refusal(row, seen)
            if wrong is not None:
                reading.refused.append((file.name, line, *wrong))
                continue
            label = LABELS[_letters(row["label"])]
            seen.add((row["financebench_id"], row["eval_mode"]))
            reading.rows.append(
                {
                    "question_id": row["financebench_id"],
                    "route": row["eval_mode"],
                    "question": row["question"],
                    "gold": None if row.get("gold_answer") is None else str(row["gold_answer"]),
                    "answer": "" if row.get("model_answer") is None else str(row["model_answer"]),
                    "correct": label == "correct",
                }
            )


def _refusal(row: Mapping[str, Any], seen: set[tuple[str, str]]) -> tuple[str, object, str] | None:
    for name in ("financebench_id", "question", "eval_mode"):
        value = row.get(name)
        if not isinstance(value, str) or not value.strip():
            return name, value, "missing or not text"
    if row["eval_mode"] not in ROUTES:
        return "eval_mode", row["eval_mode"], "unknown; modes: " + ", ".join(ROUTES)
    if _letters(row.get("label")) not in LABELS:
        return (
            "label",
            row.get("label"),
            "not a label of the benchmark: Correct Answer, Incorrect Answer or Refusal",
        )
    # The files hold numbers where text is expected; a number is its own text.
    answer = row.get("model_answer")
    if isinstance(answer, bool) or not isinstance(answer, str | int | float | None):
        return "model_answer", json.dumps(answer), "not text"
    if (row["financebench_id"], row["eval_mode"]) in seen:
        return "financebench_id", row["financebench_id"], "stands twice on this route; the first row is used"
    return None


def _letters(label: object) -> str:
    return "".join(c for c in str(label).lower() if c.isalpha())


def _facts(benchmark: Corpus | None, known_pages: frozenset[tuple[str, int]]) -> dict[str, dict[str, Any]]:
    if benchmark is None:
        return {}
    sizes = {
        (filing, number): tokens
        for filing, number, tokens in benchmark.pages.select(
            "filing_id", "page_number", "token_count"
        ).iter_rows()
    }
    facts = {}
    for row in benchmark.questions.iter_rows(named=True):
        cited = [(page["filing_id"], page["page_number"]) for page in row["evidence"]]
        facts[row["question_id"]] = {
            **{name: row[name] for name in ("filing_id", "company", "family", "reference_answer")},
            "gold_tokens": sum(sizes[page] for page in cited),
            "evidence": [{"filing_id": f, "page_number": n} for f, n in cited]
            if known_pages.issuperset(cited)
            else [],
        }
    return facts


def _context_tokens(
    route: str, fact: Mapping[str, Any], filing_tokens: Mapping[str, int], passages: Passages
) -> tuple[int | None, str]:
    if route in NO_CONTEXT:
        return 0, "estimated"
    if route in STORES:
        return passages.count * passages.tokens, "assumed"
    if route in GOLD_PAGES:
        return fact.get("gold_tokens"), "estimated"
    return filing_tokens.get(fact.get("filing_id", "")), "estimated"


def _questions(
    texts: Mapping[str, str], asked: pl.DataFrame, facts: Mapping[str, Mapping[str, Any]]
) -> pl.DataFrame:
    gold = dict(asked.select("question_id", "gold").iter_rows())
    return pl.DataFrame(
        [
            {
                "question_id": question,
                "text": text,
                **{name: facts.get(question, {}).get(name) for name in ("family", "company", "filing_id")},
                "reference_answer": facts.get(question, {}).get("reference_answer") or gold[question],
                "evidence": facts.get(question, {}).get("evidence", []),
            }
            for question, text in texts.items()
        ],
        schema={
            **dict.fromkeys(
                ("question_id", "text", "family", "company", "filing_id", "reference_answer"), pl.String
            ),
            "evidence": PAGES,
        },
    )

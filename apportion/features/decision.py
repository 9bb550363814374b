"""What is known of a question once its cheap answer is there and before the deeper call is made.

Token-budgeted escalation, section II-B: question, retrieval, cheap answer and candidate context. The deep answer,
its length, its tokens, the reference answer and every label are excluded; this module is never given them.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from apportion.answers.abstention import is_abstention
from apportion.routes.answering import DEPTHS, ranked_contexts
from apportion.routes.prompts import ContextPage, answer_messages
from apportion.tokens import count_tokens, count_tokens_batch

WORD = re.compile(r"[a-z]+(?:'[a-z]+)?|\d[\d,.]*\d|\d", re.IGNORECASE)
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")
LETTERS = re.compile(r"[^\W\d_]")
DIGITS = re.compile(r"\d")
YEAR = re.compile(r"\b(?:FY\s?'?)?(?:(?:19|20)\d{2}|FY\s?'?\d{2})\b", re.IGNORECASE)
YES_NO = re.compile(
    r"^\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b", re.IGNORECASE
)
FORMULA = re.compile(r"\b(?:defined|calculated|computed) as\b|=|\bdivided by\b", re.IGNORECASE)
HEDGE = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|approximately|about|unclear|uncertain|likely|appears?|seems?|"
    r"not (?:clear|explicit|specified)|cannot be determined|insufficient)\b",
    re.IGNORECASE,
)
STOP_WORDS = frozenset(
    "a an the of in on for to from by at and or is are was were be been it its as with that this what which who how "
    "much many did do does has have had if not please answer question response give by using primarily".split()
)


def terms(text: str) -> frozenset[str]:
    """The distinct words and numbers of a text, lower case, without stop words."""
    return frozenset(word for word in (w.lower() for w in WORD.findall(text)) if word not in STOP_WORDS)


def numbers(text: str) -> list[str]:
    """The numbers of a text, without thousands separators and trailing zeros of a fraction."""
    found = []
    for raw in NUMBER.findall(text):
        plain = raw.replace(",", "")
        found.append(plain.rstrip("0").rstrip(".") if "." in plain else plain)
    return found


def decision_features(
    questions: pl.DataFrame,
    retrievals: pl.DataFrame,
    pages: pl.DataFrame,
    cheap_outcomes: pl.DataFrame,
    cheap_route: str,
    deep_route: str,
) -> pl.DataFrame:
    """One row of features for each question with a cheap outcome.

    Args:
        questions: rows of `questions` of one set. Their reference answers and evidence are not read.
        retrievals: the set's rows of `retrievals` of the retriever and pool that both routes read.
        pages: rows of `pages` that hold at least the retrieved ones.
        cheap_outcomes: the set's rows of `route_outcomes` of the cheap route.
        cheap_route, deep_route: one-pass routes.

    Returns:
        Columns ``question_id`` and one a feature, in the order of the questions.
    """
    contexts = ranked_contexts(retrievals, pages, DEPTHS[deep_route])
    scores: dict[str, list[float]] = {}
    for question, score in retrievals.sort("question_id", "rank").select("question_id", "score").iter_rows():
        scores.setdefault(question, []).append(score)
    outcomes = {row["question_id"]: row for row in cheap_outcomes.iter_rows(named=True)}
    rows: list[dict[str, Any]] = []
    prompts: list[str] = []
    for question in questions.select("question_id", "text", "family").iter_rows(named=True):
        outcome = outcomes.get(question["question_id"])
        if outcome is None:
            continue
        ranked = contexts.get(question["question_id"], ())
        cheap, deep = ranked[: DEPTHS[cheap_route]], ranked[: DEPTHS[deep_route]]
        rows.append(
            {
                "question_id": question["question_id"],
                "family": question["family"],
                **_question(question["text"]),
                **_retrieval(scores.get(question["question_id"], []), DEPTHS[deep_route]),
                **_contexts(question["text"], cheap, deep),
                **_cheap_answer(outcome, cheap),
            }
        )
        prompts += [_prompt(question["text"], cheap), _prompt(question["text"], deep)]
    counts = count_tokens_batch(prompts)
    for row, cheap_tokens, deep_tokens in zip(rows, counts[::2], counts[1::2], strict=True):
        row["cheap_prompt_tokens"] = cheap_tokens
        row["deep_prompt_tokens"] = deep_tokens
    for row, cheap_prompt, deep_prompt in zip(rows, prompts[::2], prompts[1::2], strict=True):
        row |= prompt_parts("cheap", cheap_prompt) | prompt_parts("deep", deep_prompt)
    return pl.DataFrame(rows, infer_schema_length=None)


def prompt_parts(side: str, prompt: str) -> dict[str, int]:
    """What a prompt is made of, whatever tokenizer will count it."""
    letters = len(LETTERS.findall(prompt))
    digits = len(DIGITS.findall(prompt))
    words = len(prompt.split())
    signs = sum(map(len, prompt.split())) - letters - digits
    return {
        f"{side}_prompt_letters": letters,
        f"{side}_prompt_digits": digits,
        f"{side}_prompt_signs": signs,
        f"{side}_prompt_words": words,
    }


def _prompt(question: str, context: Sequence[ContextPage]) -> str:
    return "\n".join(message["content"] for message in answer_messages(question, context))


def _question(text: str) -> dict[str, Any]:
    return {
        "question_tokens": count_tokens(text),
        "question_numbers": len(NUMBER.findall(text)),
        "question_years": len(YEAR.findall(text)),
        "question_has_formula": bool(FORMULA.search(text)),
        "question_is_yes_no": bool(YES_NO.search(text)),
    }


def _retrieval(scores: Sequence[float], depth: int) -> dict[str, Any]:
    if not scores:
        return dict.fromkeys(("score_first", "score_mean", "margin", "entropy"))
    total = sum(max(score, 0.0) for score in scores)
    shares = [max(score, 0.0) / total for score in scores] if total > 0 else []
    return {
        "score_first": scores[0],
        "score_mean": float(np.mean(scores[:depth])),
        # A lone page has no rival: its margin is its score.
        "margin": scores[0] - scores[1] if len(scores) > 1 else scores[0],
        "entropy": -sum(share * math.log(share) for share in shares if share > 0) + 0.0,
    }


def _contexts(question: str, cheap: Sequence[ContextPage], deep: Sequence[ContextPage]) -> dict[str, Any]:
    wanted = terms(question)
    page_terms = [terms(page.text) for page in deep]
    overlaps = [len(a & b) / len(a | b) for a, b in combinations(page_terms, 2) if a | b]
    cheap_pages = {(page.filing_id, page.page_number) for page in cheap}

    def coverage(found: Sequence[frozenset[str]]) -> float | None:
        return len(wanted & frozenset().union(*found)) / len(wanted) if wanted else None

    return {
        "coverage_cheap": coverage(page_terms[: len(cheap)]),
        "coverage_deep": coverage(page_terms),
        "redundancy": float(np.mean(overlaps)) if overlaps else None,
        "cheap_context_tokens": sum(count_tokens_batch(page.text for page in cheap)),
        "deep_pages": len(deep),
        "deep_new_pages": sum((page.filing_id, page.page_number) not in cheap_pages for page in deep),
    }


def _cheap_answer(outcome: Mapping[str, Any], context: Sequence[ContextPage]) -> dict[str, Any]:
    answer = outcome["answer"]
    refused = answer is None or is_abstention(answer)
    given = [] if refused else numbers(answer)
    there = {number for page in context for number in numbers(page.text)}
    return {
        "cheap_confidence": outcome["confidence"],
        "cheap_refused": refused,
        "cheap_hedged": not refused and bool(HEDGE.search(answer)),
        "cheap_input_tokens": outcome["input_tokens"],
        "cheap_output_tokens": outcome["output_tokens"],
        "cheap_numbers": len(given),
        "cheap_numbers_found": sum(number in there for number in given) / len(given) if given else None,
    }


def question_features(questions: pl.DataFrame) -> pl.DataFrame:
    """What is known of each question before anything was retrieved or answered.

    Args:
        questions: question_id, text and family; nothing else is read.

    Returns:
        Columns ``question_id``, ``family`` and one a feature, in the order of the questions.
    """
    rows = [
        {"question_id": question_id, "family": family, **_question(text)}
        for question_id, text, family in questions.select("question_id", "text", "family").iter_rows()
    ]
    return pl.DataFrame(rows, schema_overrides={"family": pl.String}, infer_schema_length=None)


def answer_features(questions: pl.DataFrame, cheap_outcomes: pl.DataFrame) -> pl.DataFrame:
    """What is known of each question once its cheap answer is there, where no retrieval was logged.

    Args:
        questions: as for `question_features`.
        cheap_outcomes: rows of `route_outcomes` of the cheap route; questions without one are left out.

    Returns:
        The question's features, and those of the cheap answer that need no context.
    """
    rows = []
    for outcome in cheap_outcomes.iter_rows(named=True):
        found = _cheap_answer(outcome, ())
        del found["cheap_numbers_found"]
        answer = outcome["answer"] or ""
        rows.append(
            {"question_id": outcome["question_id"], **found, "cheap_answer_words": len(WORD.findall(answer))}
        )
    if not rows:
        raise ValueError("the cheap route has no outcome: there is no answer to take features from")
    answers = pl.DataFrame(rows, infer_schema_length=None)
    return question_features(questions).join(answers, on="question_id", maintain_order="left")

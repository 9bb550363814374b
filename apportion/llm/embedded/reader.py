"""``embedded/reader``: answers from the pages in its prompt alone. Deterministic, no network, no key."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apportion.accounting import fold, mentions
from apportion.llm.embedded.computing import ABSTAINS, compute
from apportion.llm.embedded.layout import parse_page
from apportion.llm.embedded.passages import best_passage
from apportion.llm.embedded.rows import named_row
from apportion.llm.fences import Fenced, parse
from apportion.tokens import count_tokens

# The reply must fit the output limit of an answering call: cut JSON is no answer.
REPLY_TOKENS = 300
# Pages on which nothing that the question names is to be found may be another company's.
STRANGER = 0.5
# A capitalised word within a sentence; the word that opens one is capitalised anyway.
_PROPER = re.compile(r"(?<!^)(?<![.?!:] )\b(?!FY|USD\b|CAGR\b|Q\d)[A-Z0-9][\w&.-]*[A-Za-z][\w&-]*")


def answer_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """The reply to an answering prompt: JSON with answer, confidence and quotes."""
    fences = [fenced for message in messages for fenced in parse(str(message.get("content") or ""))]
    question = next((fenced.text for fenced in reversed(fences) if fenced.tag == "question"), "")
    pages, named = _own_pages(question, [fenced for fenced in fences if fenced.tag == "page"])
    answer, confidence, quotes = read(question, pages)
    return _reply(answer, confidence if named else round(confidence * STRANGER, 3), quotes)


def read(question: str, pages: Sequence[str]) -> tuple[str, float, list[str]]:
    """Answer, confidence in [0, 1] and quotes from ``pages``; the abstention where they don't hold the
    answer."""
    if question.strip() and pages:
        parsed = [parse_page(text) for text in pages]
        found = compute(question, parsed) or named_row(question, parsed) or best_passage(question, parsed)
        if found is not None:
            return found
    return ABSTAINS


def _own_pages(question: str, pages: Sequence[Fenced]) -> tuple[list[str], bool]:
    """The text of the pages of the filings that the question is about, and whether they are named in it at all.

    Figures of two companies must not meet in one sum. Filings are told apart by how many of the question's proper
    names stand in their id or on their pages; where none does, only the first page's filing is read.
    """
    filings = list(dict.fromkeys(page.attributes.get("filing", "") for page in pages))
    names = {fold(name) for name in _PROPER.findall(question) if not mentions(name)} - {""}
    known = {filing: fold(filing) for filing in filings}
    for page in pages:
        known[page.attributes.get("filing", "")] += fold(page.text)
    score = {filing: sum(name in text for name in names) for filing, text in known.items()}
    best = max(score.values(), default=0)
    kept = {filing for filing in filings if score[filing] == best} if best else set(filings[:1])
    texts = [page.text for page in pages if page.attributes.get("filing", "") in kept]
    return texts, best > 0 or not names


def _reply(answer: str, confidence: float, quotes: Sequence[str]) -> str:
    """The reply as JSON of at most :data:`REPLY_TOKENS`: quotes go first, the last one first, then words."""
    kept = list(quotes)
    while True:
        text = json.dumps({"answer": answer, "confidence": confidence, "quotes": kept}, ensure_ascii=False)
        if count_tokens(text) <= REPLY_TOKENS or not (kept or answer):
            return text
        if kept:
            kept.pop()
        else:
            answer = answer[: len(answer) // 2]

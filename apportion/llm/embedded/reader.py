"""``embedded/reader``: answers from the pages in its prompt alone. Deterministic, no network, no key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from apportion.llm.embedded.computing import compute
from apportion.llm.embedded.layout import parse_page
from apportion.llm.embedded.passages import best_passage
from apportion.llm.fences import parse
from apportion.routes.prompts import ABSTENTION

ABSTAINING_CONFIDENCE = 0.02


def answer_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """The reply to an answering prompt: JSON with answer, confidence and quotes."""
    fences = [fenced for message in messages for fenced in parse(str(message.get("content") or ""))]
    pages = [fenced.text for fenced in fences if fenced.tag == "page"]
    question = next((fenced.text for fenced in reversed(fences) if fenced.tag == "question"), "")
    answer, confidence, quotes = read(question, pages)
    return json.dumps({"answer": answer, "confidence": confidence, "quotes": quotes}, ensure_ascii=False)


def read(question: str, pages: Sequence[str]) -> tuple[str, float, list[str]]:
    """Answer, confidence in [0, 1] and quotes from ``pages``; the abstention where they don't hold the
    answer."""
    if question.strip() and pages:
        parsed = [parse_page(text) for text in pages]
        found = compute(question, parsed) or best_passage(question, parsed)
        if found is not None:
            return found
    return ABSTENTION, ABSTAINING_CONFIDENCE, []

"""``embedded/judge``: grades by numeric agreement and token overlap, from the prompt alone.

Each candidate is graded by itself against the reference, so neither its label nor its place matters.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from apportion.judging.numeric import numeric_agreement
from apportion.judging.overlap import token_f1
from apportion.llm.fences import parse
from apportion.routes.prompts import is_abstention


def grade_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """The reply to an adjudication prompt: JSON with one grade a candidate, in label order."""
    fences = [fenced for message in messages for fenced in parse(str(message.get("content") or ""))]
    question = next((fenced.text for fenced in fences if fenced.tag == "question"), "")
    reference = next((fenced.text for fenced in fences if fenced.tag == "reference"), None)
    grades = []
    for fenced in fences:
        if fenced.tag == "candidate" and reference is not None:
            correct, score = grade(question, reference, fenced.text)
            grades.append({"label": fenced.attributes.get("label", ""), "correct": correct, "score": score})
    grades.sort(key=lambda entry: str(entry["label"]))
    return json.dumps({"grades": grades})


def grade(question: str, reference: str, answer: str) -> tuple[bool, float]:
    """Whether ``answer`` is correct, and its score in [0, 1] to two decimals."""
    if is_abstention(answer):
        return False, 0.0
    verdict = numeric_agreement(answer, reference, question)
    overlap = token_f1(answer, reference)
    if verdict == "agree":
        return True, 1.0
    if verdict == "disagree":
        return False, 0.0
    return overlap >= 0.5, round(overlap, 2)

"""``embedded/judge``: grades by numeric agreement and the overlap of words, from the prompt alone.

Each candidate is graded by itself against the reference, so neither its label nor its place matters.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from apportion.answers.abstention import is_abstention
from apportion.answers.numeric import numeric_agreement
from apportion.llm.embedded.textual import CORRECT_FROM, resemblance
from apportion.llm.fences import parse

# What an answer says of its own grade is neither a figure nor a word of it.
_OWN_GRADE = re.compile(
    r"\{[^{}]*\bscore\b[^{}]*\}"
    r"|\b(?:in)?correct\b\W{0,3}(?:with\s+)?(?:an?\s+)?score\W{0,3}(?:of\s+)?\d+(?:\.\d+)?(?:\s*/\s*\d+)?",
    re.IGNORECASE,
)


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
    return json.dumps({"grades": grades}, separators=(",", ":"))


def grade(question: str, reference: str, answer: str) -> tuple[bool, float]:
    """Whether ``answer`` is correct, and its score in [0, 1] to two decimals: at least 0.5 where it is correct.

    A reference that is one figure is settled by that figure. A figure that agrees in only one of two possible
    units counts as correct with a score of 0.75. An abstention is not correct and scores 0.
    """
    answer = _OWN_GRADE.sub(" ", answer)
    if is_abstention(answer):
        return False, 0.0
    verdict = numeric_agreement(answer, reference, question)
    if verdict != "not_numeric":
        score = {"agree": 1.0, "ambiguous": 0.75, "disagree": 0.0}[verdict]
        return score > 0, score
    likeness = resemblance(question, reference, answer)
    correct = likeness >= CORRECT_FROM
    return correct, round(0.5 + 0.5 * likeness if correct else likeness, 2)

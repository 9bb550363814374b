"""Grading an answer in words against a reference in words, by what can be counted.

Four things count: which of the reference's own words (those the question doesn't already hold) the answer repeats,
which of its figures, whether both say yes or both say no, and whether the answer declines. The weights were set on
human-labelled answers of half the filings of a public benchmark; docs/embedded-models.md gives the agreement.
"""

from __future__ import annotations

import re

from apportion.answers.numeric import close, figures
from apportion.answers.overlap import tokens

FIGURE_WEIGHT = 0.2
DECLINED = 0.5
SAME_CONCLUSION = 0.3
CORRECT_FROM = 0.25

_DECLINES = re.compile(
    r"\b(?:cannot|can't|can not|unable|not possible|impossible|insufficient|more information|sorry|would need"
    r"|not (?:explicitly |specifically |directly )?"
    r"(?:provided|available|mentioned|disclosed|stated|specified|included|contained)"
    r"|(?:do|does|did) not (?:explicitly |specifically |directly )?"
    r"(?:provide|contain|mention|include|disclose|specify|state|have)"
    r"|don't have|no (?:specific )?(?:information|mention|data))\b",
    re.IGNORECASE,
)
_CONCLUSION = re.compile(r"\W*(yes|no)\b", re.IGNORECASE)
_EMPTY = frozenset(
    "of in to and or for on by with is are was were be been as at from that this it its their which has have had not"
    " no yes than into due also during year fiscal fy company s mainly primarily based did does do how what there"
    .split()
)  # fmt: skip


def resemblance(question: str, reference: str, answer: str) -> float:
    """How much of ``reference`` is in ``answer``, in [0, 1]; 0 where one says yes and the other no."""
    wanted, given = conclusion(reference), conclusion(answer)
    if wanted and given and wanted != given:
        return 0.0
    own = content_words(reference) - content_words(question)
    shared = len(own & content_words(answer)) / len(own) if own else 0.0
    stated = figures(reference)
    if stated:
        said = figures(answer)
        found = sum(any(close(each.value, gold.value, gold.decimals) for each in said) for gold in stated)
        shared = (1 - FIGURE_WEIGHT) * shared + FIGURE_WEIGHT * found / len(stated)
    if declines(answer):
        shared *= DECLINED
    if wanted and wanted == given:
        shared += SAME_CONCLUSION
    return min(1.0, shared)


def conclusion(text: str) -> str | None:
    """``yes`` or ``no`` where ``text`` opens with it."""
    found = _CONCLUSION.match(text)
    return found[1].lower() if found else None


def declines(text: str) -> bool:
    """Whether ``text`` says that it cannot tell."""
    return _DECLINES.search(text) is not None


def content_words(text: str) -> set[str]:
    """The words and numbers of ``text`` that carry meaning, without endings."""
    return {_stem(word) for word in tokens(text) if word not in _EMPTY}


def _stem(word: str) -> str:
    for ending in ("ing", "ed", "es", "s", "ly"):
        if len(word) > len(ending) + 3 and word.endswith(ending):
            return word[: -len(ending)]
    return word

"""Questions without a computed answer: the sentences and rows that share most of the question's telling words."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from functools import lru_cache

from apportion.llm.embedded.layout import Page
from apportion.llm.embedded.textual import content_words

Reply = tuple[str, float, list[str]]

MINIMUM = 0.3
WORDS = 70
CHARACTERS = 500
_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+(?=[A-Z(•\"“])")
_CAUSE_ASKED = re.compile(r"\bwhy\b|\bdrove\b|\bdrivers?\b|\bcaused?\b|\breasons?\b|\bexplain", re.IGNORECASE)
_CAUSE = re.compile(
    r"\b(?:due to|driven by|primarily|as a result|because|reflect\w*|attributable to|offset by|led by)\b",
    re.I,
)
_YES_NO = re.compile(r"\s*(?:does|do|did|is|was|were|are|has|have|were there|are there)\b", re.IGNORECASE)
_NEGATIVE = re.compile(r"\b(?:no|not|none|never|neither)\b", re.IGNORECASE)


def best_passage(question: str, pages: Sequence[Page]) -> Reply | None:
    """The passages of ``pages`` nearest to ``question``; null where nothing is near enough.

    Nearness is the share of the question's words that a passage holds, weighted by how rare each is among the
    passages. The first passage wins a tie.
    """
    asked = content_words(re.split(r"(?<=\?)\s", question)[0]) or content_words(question)
    passages = [passage for page in pages for passage in _passages(page)]
    if not asked or not passages:
        return None
    counts = Counter(word for _, words in passages for word in words if word in asked)
    weights = {word: math.log(1 + len(passages) / (1 + counts[word])) for word in asked}
    whole = sum(weights.values())
    cause = _CAUSE_ASKED.search(question) is not None
    scored = []
    for place, (text, words) in enumerate(passages):
        near = sum(weights[word] for word in asked & words) / whole
        near *= 1.0 if len(words) <= 60 else 60 / len(words)
        if cause and _CAUSE.search(text):
            near *= 1.3
        scored.append((-near, place, text))
    scored.sort()
    near, _, best = scored[0]
    if -near < MINIMUM:
        return None
    chosen = [best]
    if len(scored) > 1 and scored[1][0] < 0.75 * near and scored[1][2] != best:
        chosen.append(scored[1][2])
    answer = " ".join(" ".join(chosen).split()[:WORDS])[:CHARACTERS]
    if _YES_NO.match(question):
        answer = f"{'No' if _NEGATIVE.search(best) else 'Yes'}. {answer}"
    return answer, round(min(0.5, 0.25 + 0.25 * -near), 3), chosen


@lru_cache(maxsize=1024)
def _passages(page: Page) -> tuple[tuple[str, frozenset[str]], ...]:
    """Sentences of the page's prose and rows of its tables, each with its content words."""
    texts = [sentence for block in _blocks(page.lines) for sentence in _SENTENCE_END.split(block)]
    texts = [text.strip() for text in texts if len(text.split()) >= 5]
    texts += [f"{row.heading} {row.text()}".strip() for row in page.rows if row.label]
    return tuple((text, frozenset(content_words(text))) for text in dict.fromkeys(texts))


def _blocks(lines: Sequence[str]) -> list[str]:
    """Runs of lines that hold words, joined: a wrapped paragraph is one block."""
    blocks: list[list[str]] = [[]]
    for line in lines:
        if len(line) > 3 and re.search(r"[A-Za-z]{2}", line):
            blocks[-1].append(line)
        elif blocks[-1]:
            blocks.append([])
    return [" ".join(block) for block in blocks if block]

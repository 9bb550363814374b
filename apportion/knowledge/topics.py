"""What questions about filings are about beside metrics and line items, with the words that filings use for it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from apportion.knowledge.tables import tables


@dataclass(frozen=True, slots=True)
class Topic:
    """One topic: a pattern over questions, the filing's words, and weights in [0, 1] of the kinds of page it stands on.

    ``narrows`` says that it asks for a part of a company's figure, or for another than the statement's.
    """

    name: str
    asked: re.Pattern[str]
    terms: tuple[str, ...]
    pages: Mapping[str, float]
    narrows: bool


@lru_cache(maxsize=1)
def topics() -> tuple[Topic, ...]:
    """All topics, in the order of the table."""
    return tuple(
        Topic(
            entry["name"],
            _pattern(entry["asked"]),
            tuple(entry["terms"]),
            entry["pages"],
            entry.get("narrows", False),
        )
        for entry in tables()["topic"]
    )


def _pattern(asked: list[str]) -> re.Pattern[str]:
    """Any of the phrases as whole words; a phrase that ends in * goes on with any ending."""
    parts = []
    for phrase in asked:
        words = r"[\s-]+".join(re.escape(word) for word in phrase.rstrip("*").split())
        parts.append(words + (r"\w*" if phrase.endswith("*") else ""))
    return re.compile(r"(?<![\w&])(?:" + "|".join(parts) + r")(?![\w&])", re.IGNORECASE)

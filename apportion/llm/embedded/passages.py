"""Questions without a computed answer."""

from __future__ import annotations

from collections.abc import Sequence

from apportion.llm.embedded.layout import Page


def best_passage(question: str, pages: Sequence[Page]) -> tuple[str, float, list[str]] | None:
    """The sentences of ``pages`` nearest to ``question``; null where nothing is near enough."""
    del question, pages
    return None

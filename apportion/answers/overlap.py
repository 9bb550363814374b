"""Token F1 between an answer and its reference, a diagnostic that knows nothing of meaning."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter

_TOKEN = re.compile(r"\d+(?:,\d{3})*(?:\.\d+)?|[^\W\d_]+")
_ARTICLES = frozenset({"a", "an", "the"})


def tokens(text: str) -> list[str]:
    """Lower-case words and numbers of ``text`` without articles; "$1,577.00" and "1577" are one token."""
    found = _TOKEN.findall(unicodedata.normalize("NFKC", text).lower())
    return [_canonical(token) for token in found if token not in _ARTICLES]


def token_f1(answer: str, reference: str) -> float:
    """Harmonic mean of token precision and recall, in [0, 1], symmetric; 1 if both hold no token, 0 if one
    does."""
    left, right = Counter(tokens(answer)), Counter(tokens(reference))
    if not left or not right:
        return float(not left and not right)
    shared = (left & right).total()
    return 2 * shared / (left.total() + right.total())


def _canonical(token: str) -> str:
    if not token[0].isdigit():
        return token
    token = token.replace(",", "")
    return token.rstrip("0").rstrip(".") if "." in token else token

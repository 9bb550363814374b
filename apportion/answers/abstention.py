"""Whether an answer says that it could not be had."""

from __future__ import annotations

import re

ABSTENTION = "not in the pages provided"
"""What prompts ask for where the pages hold no answer."""

_ABSTAINS = re.compile(
    r"^\W*(?:(?:the|this|that|it|answer|information|is|was)\s+)*"
    r"not (?:in|found in|on|stated (?:in|on)|available (?:in|from)) the (?:provided )?pages?\b",
    re.IGNORECASE,
)


def is_abstention(answer: str | None) -> bool:
    """Whether ``answer`` is empty or says :data:`ABSTENTION` in so many words."""
    return answer is None or not answer.strip() or _ABSTAINS.match(answer) is not None

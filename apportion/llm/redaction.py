"""Keeping credentials out of everything that is written down.

Keys come from the environment only. They are refused where a request could carry them, and whatever text a
provider sends back (an error often quotes the key or a header) is cleaned before it is logged, raised or stored.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping
from typing import Any

MARK = "[redacted]"

_SECRET_NAME = re.compile(
    r"(api[-_]?key|(?<!max[-_])(?<!max_completion[-_])token$|secret|password|passwd|credential|authorization|bearer"
    r"|[-_]key$|^key$|cookie|signature)",
    re.IGNORECASE,
)
_SHORTEST = 8
_PATTERNS = (
    re.compile(r"(?i)(\bbearer\s+)[^\s\"',;]+"),
    re.compile(r"(?i)(\bbasic\s+)[A-Za-z0-9+/=]{8,}"),
    re.compile(
        r"(?i)([\"']?\b(?:proxy-)?(?:authorization|x-api-key|api[-_ ]?key|access[-_]token|client[-_]secret"
        r"|x-goog-api-key|password)[\"']?"
        r"(?:\s*[:=]\s*|\s+provided\s*:\s*)[\"']?(?:bearer\s+|basic\s+)?)[^\s\"',;&}]+"
    ),
    re.compile(r"([?&](?:key|token|sig|signature|api[-_]key)=)[^&\s\"']+", re.IGNORECASE),
    re.compile(r"(://)[^/\s:@]+:[^/\s@]+(?=@)"),
    re.compile(r"()\b(?:sk|pk|rk|gsk|xai|hf|ghp|glpat|AIza|AKIA)[-_A-Za-z0-9*]{12,}"),
)


def environment_secrets() -> list[str]:
    """Values of environment variables whose names say that they are secrets, longest first."""
    values = {v for k, v in os.environ.items() if len(v) >= _SHORTEST and _SECRET_NAME.search(k)}
    return sorted(values, key=lambda v: (-len(v), v))


def redact(text: str) -> str:
    """``text`` without any credential: values from the environment, and whatever has the form of one."""
    for value in environment_secrets():
        text = text.replace(value, MARK)
    for pattern in _PATTERNS:
        text = pattern.sub(rf"\g<1>{MARK}", text)
    return text


def refuse_secrets(options: Mapping[str, Any], *, where: str) -> None:
    """Raise ``ValueError`` if a key of ``options``, at any depth, is the name of a credential."""
    for name, value in options.items():
        if _SECRET_NAME.search(str(name)):
            raise ValueError(
                f"{where} carry {name!r}; credentials come from the environment only (for example OPENAI_API_KEY)"
            )
        for item in value if isinstance(value, list | tuple) else [value]:
            if isinstance(item, Mapping):
                refuse_secrets(item, where=where)


class RedactingFilter(logging.Filter):
    """Cleans a log record before any handler sees it."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Rewrite the record's message; always lets it through."""
        record.msg = redact(record.getMessage())
        record.args = ()
        record.exc_info = None
        record.exc_text = None
        return True

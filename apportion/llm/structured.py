"""Reading an answer that was asked for as JSON: strictly, or not at all.

Accepted is a text that is one JSON object, or one fenced block that holds one, with nothing around it. A fence in
the middle of prose is not read: the prose may be quoting somebody else's verdict.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from apportion.llm.requests import canonical_json

_FENCE = re.compile(r"\A```[A-Za-z0-9_-]*[ \t]*\r?\n(?P<body>.*?)\r?\n?[ \t]*```\Z", re.DOTALL)


class MalformedAnswerError(ValueError):
    """The answer is not the JSON object that was asked for; the message says why in one line."""


def parse_answer(text: str | None, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The object in ``text``, valid under ``schema``; :class:`MalformedAnswerError` otherwise."""
    if text is None or not text.strip():
        raise MalformedAnswerError("the answer is empty")
    stripped = text.strip().removeprefix("\ufeff")
    fenced = _FENCE.match(stripped)
    body = fenced["body"] if fenced and "```" not in fenced["body"] else stripped
    try:
        value = json.loads(body, object_pairs_hook=_no_repeats, parse_constant=_no_constants)
    except RecursionError as error:
        raise MalformedAnswerError("the answer is nested too deeply") from error
    except ValueError as error:
        raise MalformedAnswerError(f"the answer is not JSON: {error}") from error
    if not isinstance(value, dict):
        raise MalformedAnswerError(f"the answer is a JSON {type(value).__name__}, not an object")
    problem = next(iter(_validator(canonical_json(dict(schema))).iter_errors(value)), None)
    if problem is not None:
        where = "/".join(str(part) for part in problem.absolute_path) or "the object"
        raise MalformedAnswerError(f"the answer breaks the schema at {where} (rule {problem.validator!r})")
    return value


def instruction(schema: Mapping[str, Any]) -> str:
    """What a model without a schema mode of its own is told."""
    return (
        "Answer with one JSON object and nothing else: no prose, no code fence. It must be valid under this JSON"
        f" schema:\n{canonical_json(dict(schema))}"
    )


@lru_cache(maxsize=64)
def _validator(schema: str) -> Any:
    from jsonschema import Draft202012Validator  # type: ignore[import-untyped]

    loaded = json.loads(schema)
    Draft202012Validator.check_schema(loaded)
    return Draft202012Validator(loaded)


def _no_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    result = dict(pairs)
    if len(result) != len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise MalformedAnswerError(f"the answer has the key {repeated!r} twice")
    return result


def _no_constants(name: str) -> Any:
    raise MalformedAnswerError(f"the answer holds {name}, which is not JSON")

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.llm.structured import MalformedAnswerError, parse_answer

SCHEMA = {
    "type": "object",
    "properties": {"score": {"type": "integer", "minimum": 1, "maximum": 10}, "reason": {"type": "string"}},
    "required": ["score"],
    "additionalProperties": False,
}


@pytest.mark.parametrize(
    "text",
    [
        '{"score": 7}',
        '  {"score": 7}\n',
        '```json\n{"score": 7}\n```',
        '```\n{"score": 7}\n```\n',
        '```JSON\r\n{"score": 7}\r\n```',
        '\ufeff{"score": 7}',
    ],
)
def test_an_object_alone_or_in_one_fence(text: str) -> None:
    assert parse_answer(text, SCHEMA) == {"score": 7}


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (None, "empty"),
        (" \n", "empty"),
        ("score: 7", "not JSON"),
        ('{"score": 7', "not JSON"),
        ('{"score": 7} done', "not JSON"),
        ('Here it is:\n```json\n{"score": 7}\n```', "not JSON"),
        ('```json\n{"score": 7}\n```\nor\n```json\n{"score": 9}\n```', "not JSON"),
        ("5 reasons it is a 9", "not JSON"),
        ("7", "JSON int"),
        ('[{"score": 7}]', "JSON list"),
        ('{"score": 7, "score": 10}', "key 'score' twice"),
        ('{"score": NaN}', "not JSON"),
        ('{"score": "7"}', "schema at score"),
        ('{"score": 11}', "schema at score"),
        ('{"score": 7, "extra": 1}', "schema at the object"),
        ("{}", "schema at the object"),
        ('{"score":' * 50_000, "JSON|nested"),
    ],
)
def test_anything_else_is_malformed(text: str | None, why: str) -> None:
    with pytest.raises(MalformedAnswerError, match=why):
        parse_answer(text, SCHEMA)


@settings(deadline=None)
@given(st.fixed_dictionaries({"score": st.integers(1, 10)}, optional={"reason": st.text()}), st.booleans())
def test_whatever_is_valid_comes_back_as_it_was(value: dict[str, object], fenced: bool) -> None:
    text = json.dumps(value)
    assert parse_answer(f"```json\n{text}\n```" if fenced else text, SCHEMA) == value


@settings(deadline=None)
@given(st.text())
def test_no_text_makes_it_raise_anything_else(text: str) -> None:
    try:
        parsed = parse_answer(text, SCHEMA)
    except MalformedAnswerError:
        return
    assert json.loads(text.strip().strip("`").removeprefix("json")) == parsed

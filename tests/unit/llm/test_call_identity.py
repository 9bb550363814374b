from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.llm.requests import CallPurpose, ChatRequest, Message, Usage, canonical_json


def request(**changes: object) -> ChatRequest:
    fields: dict[str, object] = {"model": "openai/m", "messages": (Message("user", "hello"),)} | changes
    return ChatRequest(**fields)  # type: ignore[arg-type]


def test_the_hash_is_sha256_over_canonical_json_and_names_it() -> None:
    one = request(seed=1)
    assert one.request_hash == "sha256:" + hashlib.sha256(one.canonical.encode()).hexdigest()
    assert json.loads(one.canonical)["messages"] == [{"content": "hello", "role": "user"}]


def test_spelling_does_not_matter_and_content_does() -> None:
    a = request(temperature=0, provider_options={"a": 1, "b": {"c": 2, "d": 3}})
    b = request(temperature=0.0, provider_options={"b": {"d": 3, "c": 2}, "a": 1})
    assert a.request_hash == b.request_hash
    assert a.request_hash != request(temperature=None, provider_options=a.provider_options).request_hash
    assert request(messages=(Message("system", "hello"),)).request_hash != request().request_hash


@settings(deadline=None)
@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(), lambda c: st.dictionaries(st.text(), c)
    )
)
def test_canonical_json_reads_back(value: object) -> None:
    text = canonical_json(value)
    assert json.loads(text) == value
    assert canonical_json(json.loads(text)) == text


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"messages": ()}, "has no message"),
        ({"model": ""}, "needs a model"),
        ({"max_output_tokens": 0}, "must be at least 1"),
        ({"provider_options": {"temperature": 1}}, "field of its own"),
        ({"provider_options": {"num_retries": 2}}, "field of its own"),
        ({"provider_options": {"n": 5}}, "more than any cap"),
        ({"provider_options": {"api_key": "k"}}, "environment only"),
        ({"provider_options": {"extra_headers": {"Authorization": "Bearer x"}}}, "environment only"),
        ({"provider_options": {"list": [{"client_secret": "x"}]}}, "environment only"),
    ],
)
def test_what_cannot_be_asked(changes: dict[str, object], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        request(**changes)


def test_an_unknown_purpose() -> None:
    with pytest.raises(ValueError, match="unknown purpose 'answr'"):
        CallPurpose("s", "q", "top1", "answr")  # type: ignore[arg-type]


def test_usage_adds_up_and_the_weaker_source_names_the_sum() -> None:
    total = Usage(10, 5, 4, None) + Usage(20, 7, None, 3, "estimated")
    assert total == Usage(30, 12, 4, 3, "estimated")
    assert (total + Usage(1, 1, source="assumed")).source == "assumed"
    assert total.total_tokens == 42

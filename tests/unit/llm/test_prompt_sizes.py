from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.llm.counting import exact_encoding, sizes
from apportion.llm.requests import ChatRequest, Message
from apportion.tokens import count_tokens


@settings(deadline=None)
@given(
    st.lists(st.text(max_size=200), min_size=1, max_size=4),
    st.sampled_from(["openai/gpt-4o", "openai/x", "x/y"]),
)
def test_the_bound_is_above_any_tokenizers_count(texts: list[str], model: str) -> None:
    size = sizes(ChatRequest(model, tuple(Message("user", text) for text in texts)))
    assert size.input_estimate <= size.input_bound
    assert size.output_bound == 384
    if exact_encoding(model) is None:
        assert size.input_bound >= sum(len(text.encode("utf-8", "surrogatepass")) for text in texts)


@settings(deadline=None)
@given(st.lists(st.text(max_size=200), min_size=1, max_size=4))
def test_the_embedded_models_are_counted_exactly(texts: list[str]) -> None:
    request = ChatRequest("embedded/reader", tuple(Message("user", text) for text in texts))
    size = sizes(request)
    assert size.input_estimate == size.input_bound == sum(count_tokens(text) for text in texts)


@pytest.mark.parametrize(
    ("model", "encoding"),
    [
        ("openai/gpt-4o-mini", "o200k_base"),
        ("gpt-4.1", "o200k_base"),
        ("azure/gpt-4o", "o200k_base"),
        ("openai/gpt-4-turbo", "cl100k_base"),
        ("openai/own-model", None),
        ("groq/gpt-4-like", None),
        ("anthropic/claude-sonnet-4-5", None),
    ],
)
def test_which_tokenizers_are_at_hand(model: str, encoding: str | None) -> None:
    assert exact_encoding(model) == encoding


def test_a_schema_counts_too() -> None:
    plain = sizes(ChatRequest("openai/gpt-4o", (Message("user", "x"),)))
    held = sizes(ChatRequest("openai/gpt-4o", (Message("user", "x"),), response_schema={"type": "object"}))
    assert held.input_estimate > plain.input_estimate
    assert held.input_bound > plain.input_bound

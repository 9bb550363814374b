from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.llm.prices import PriceTable
from apportion.llm.requests import Usage
from apportion.llm.transport import litellm_module

MODELS = [
    "openai/gpt-4o",
    "openai/gpt-4o-mini",
    "openai/gpt-4.1",
    "openai/o3",
    "anthropic/claude-sonnet-4-5",
    "gemini/gemini-2.5-pro",
    "deepseek/deepseek-chat",
]


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize(
    "usage", [Usage(1000, 100), Usage(1000, 100, 400, 50), Usage(250_000, 1000, 100_000)]
)
def test_costs_are_those_of_litellm(model: str, usage: Usage) -> None:
    price = PriceTable().price(model)
    litellm = litellm_module()
    if price is None:
        assert model not in litellm.model_cost
        assert model.partition("/")[2] not in litellm.model_cost
        pytest.skip(f"{model} has left LiteLLM's table")
    theirs = litellm.cost_per_token(
        model=model,
        prompt_tokens=usage.input_tokens,
        completion_tokens=usage.output_tokens,
        cache_read_input_tokens=usage.cached_input_tokens or 0,
    )
    assert price.cost(usage) == pytest.approx(sum(theirs))


@settings(deadline=None)
@given(st.integers(0, 400_000), st.integers(0, 5000), st.data())
def test_no_usage_within_the_bounds_costs_more_than_the_bound(
    inputs: int, outputs: int, data: st.DataObject
) -> None:
    price = PriceTable().price(data.draw(st.sampled_from(MODELS)))
    if price is None:
        return
    used = Usage(
        data.draw(st.integers(0, inputs)),
        data.draw(st.integers(0, outputs)),
        data.draw(st.integers(0, inputs)),
        data.draw(st.integers(0, outputs)),
    )
    assert price.cost(used) <= price.bound(inputs, outputs) * (1 + 1e-12)


def test_own_prices_win_zero_is_a_price_and_unknown_is_none(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_text(
        json.dumps({"openai/gpt-4o": {"input": 0, "output": 0}, "openai/mine": {"input": 2, "output": 8}})
    )
    table = PriceTable.from_file(file)
    free, mine = table.price("openai/gpt-4o"), table.price("openai/mine")
    assert free is not None
    assert mine is not None
    assert free.free
    assert free.cost(Usage(1000, 1000)) == 0.0
    assert mine.cost(Usage(1_000_000, 500_000, 400_000)) == pytest.approx(6.0)
    assert table.price("openai/nobody-knows") is None
    embedded = table.price("embedded/reader")
    assert embedded is not None
    assert embedded.free


@pytest.mark.parametrize(
    ("model", "listed", "provider"),
    [
        ("bedrock/amazon.nova-micro-v1:0", "amazon.nova-micro-v1:0", "bedrock_converse"),
        ("bedrock/us.amazon.nova-micro-v1:0", "us.amazon.nova-micro-v1:0", "bedrock_converse"),
        ("bedrock_converse/amazon.nova-lite-v1:0", "amazon.nova-lite-v1:0", "bedrock_converse"),
        ("bedrock/mistral.mistral-7b-instruct-v0:2", "mistral.mistral-7b-instruct-v0:2", "bedrock"),
        ("vertex_ai/gemini-2.5-flash", "gemini-2.5-flash", "vertex_ai-language-models"),
    ],
)
def test_a_provider_is_known_by_each_name_that_the_table_has_for_it(
    model: str, listed: str, provider: str
) -> None:
    entry = litellm_module().model_cost[listed]
    price = PriceTable().price(model)
    assert entry["litellm_provider"] == provider
    assert price is not None
    assert price.cost(Usage(1000, 100)) == pytest.approx(
        1000 * entry["input_cost_per_token"] + 100 * entry["output_cost_per_token"]
    )


@pytest.mark.parametrize(
    "model",
    ["openai/amazon.nova-micro-v1:0", "vertex/gemini-2.5-flash", "gemini/amazon.nova-micro-v1:0"],
)
def test_another_providers_price_is_not_taken(model: str) -> None:
    assert PriceTable().price(model) is None


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("[]", "must map model names"),
        ("{", "cannot be read as JSON"),
        ('{"m": {"input": 1}}', "needs input and output"),
        ('{"m": {"input": 1, "output": 1, "extra": 1}}', "needs input and output"),
        ('{"m": {"input": -1, "output": 1}}', "0 or more"),
        ('{"m": {"input": "1", "output": 1}}', "0 or more"),
    ],
)
def test_a_bad_price_file_is_named(tmp_path: Path, text: str, why: str) -> None:
    file = tmp_path / "prices.json"
    file.write_text(text)
    with pytest.raises(ValueError, match=why):
        PriceTable.from_file(file)

from __future__ import annotations

import asyncio
import os

import pytest

from apportion.answers.abstention import ABSTENTION
from apportion.judging.blind import JUDGE_SCHEMA, judge_messages, parse_verdict
from apportion.llm.embedded.provider import prompt_tokens, register
from apportion.routes.prompts import ANSWER_SCHEMA, answer_messages, parse_answer
from apportion.tokens import count_tokens


@pytest.fixture(scope="module")
def litellm():
    os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
    import litellm

    register(litellm)
    register(litellm)
    return litellm


def call(litellm, **options):
    messages = list(answer_messages("What is the FY2020 revenue?", []))
    return messages, litellm.completion(model="embedded/reader", messages=messages, temperature=0, **options)


def test_usage_is_the_prompts_and_the_replys_own_tokens(litellm):
    messages, response = call(litellm, max_tokens=384)
    text = response.choices[0].message.content
    assert parse_answer(text).answer == ABSTENTION
    assert response.choices[0].finish_reason == "stop"
    assert response.usage.prompt_tokens == prompt_tokens(messages) > 50
    assert response.usage.completion_tokens == count_tokens(text)
    assert response.usage.total_tokens == response.usage.prompt_tokens + response.usage.completion_tokens
    assert litellm.completion_cost(response, model="embedded/reader") == 0


def test_the_output_limit_cuts_and_says_so(litellm):
    _, whole = call(litellm)
    _, cut = call(litellm, max_tokens=4)
    assert cut.choices[0].finish_reason == "length"
    assert cut.usage.completion_tokens == 4
    assert whole.choices[0].message.content.startswith(cut.choices[0].message.content)


def test_a_response_schema_is_accepted(litellm):
    schema = {"type": "json_schema", "json_schema": {"name": "answer", "schema": ANSWER_SCHEMA}}
    _, response = call(litellm, response_format=schema)
    assert parse_answer(response.choices[0].message.content).abstained


def test_async_gives_the_same_reply_in_two_event_loops(litellm):
    messages, response = call(litellm)

    async def ask():
        return await litellm.acompletion(model="embedded/reader", messages=messages, temperature=0)

    for _ in range(2):
        assert asyncio.run(ask()).choices[0].message.content == response.choices[0].message.content


def test_an_unknown_embedded_model_is_refused(litellm):
    with pytest.raises(litellm.BadRequestError, match="no such embedded model"):
        litellm.completion(model="embedded/oracle", messages=[{"role": "user", "content": "x"}])


def test_registered_once(litellm):
    assert [entry["provider"] for entry in litellm.custom_provider_map].count("embedded") == 1


def test_the_judge_grades_every_label_through_litellm(litellm):
    messages = list(
        judge_messages("What is it (in USD millions)?", "$1577.00", {"A": "$1.577 billion", "B": "12"})
    )
    schema = {"type": "json_schema", "json_schema": {"name": "verdict", "schema": JUDGE_SCHEMA}}
    response = litellm.completion(
        model="embedded/judge", messages=messages, temperature=0, response_format=schema
    )
    grades = parse_verdict(response.choices[0].message.content, ["A", "B"])
    assert [(grades[label].correct, grades[label].score) for label in "AB"] == [(True, 1.0), (False, 0.0)]


def test_twenty_candidates_fit_the_output_limit(litellm):
    candidates = dict.fromkeys("ABCDEFGHIJKLMNOPQRST", "$1.577 billion")
    messages = list(judge_messages("What is it (in USD millions)?", "60%", candidates))
    response = litellm.completion(model="embedded/judge", messages=messages, max_tokens=384)
    assert response.choices[0].finish_reason == "stop"
    assert len(parse_verdict(response.choices[0].message.content, list(candidates))) == 20

from __future__ import annotations

import logging

import pytest

from apportion.llm.failures import describe
from apportion.llm.redaction import MARK, RedactingFilter, redact


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer {}",
        "{{'authorization': 'Bearer {}'}}",
        '"api_key": "{}"',
        "x-api-key={}",
        "Incorrect API key provided: {}. Find yours",
        "GET https://host/v1?key={}&alt=sse",
        "https://user:{}@host/v1",
        "bearer {}",
    ],
)
def test_a_credential_is_taken_out_of_text(text: str) -> None:
    secret = "q7W-e8R_t9Y0u1I2o3P4"
    cleaned = redact(text.format(secret))
    assert secret not in cleaned
    assert MARK in cleaned


def test_a_value_of_the_environment_is_taken_out_wherever_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_PROVIDER_API_KEY", "correct horse battery")
    assert redact("it said correct horse battery twice") == f"it said {MARK} twice"


@pytest.mark.parametrize(
    "text",
    [
        "maximum context length is 8192 tokens",
        "the keyboard key is stuck",
        "token_count: 12",
        "max_tokens: 384",
    ],
)
def test_other_text_stays(text: str) -> None:
    assert redact(text) == text


def test_errors_and_log_records_are_cleaned(caplog: pytest.LogCaptureFixture) -> None:
    assert "sk-abcdefghijklmnop" not in describe(RuntimeError("key sk-abcdefghijklmnop\nrefused"))
    assert "\n" not in describe(RuntimeError("one\ntwo"))
    assert len(describe(RuntimeError("x" * 10_000))) == 500
    logger = logging.getLogger("test_redaction")
    logger.addFilter(RedactingFilter())
    with caplog.at_level(logging.INFO):
        logger.info("sending %s", "Authorization: Bearer abcdefgh12345678")
    assert "abcdefgh12345678" not in caplog.text

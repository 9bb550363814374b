from __future__ import annotations

import time
from email.utils import formatdate

import pytest

from apportion.llm.failures import classify, is_context_overflow, retry_after_s


@pytest.mark.parametrize(
    "message",
    [
        "Rate limit reached for gpt-4o on tokens per min (TPM): Limit 30000, Requested 31000.",
        "Request too large: tokens per minute exceeded, reduce the length of the messages",
        "max_tokens is too large: 99999",
        "Invalid 'user': string too long",
    ],
)
def test_a_rate_limit_or_a_bad_argument_is_no_overflow(message: str) -> None:
    assert not is_context_overflow(message)


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "3"}, 3.0),
        ({"retry-after": "1.5"}, 1.5),
        ({"Retry-After-Ms": "250", "Retry-After": "3"}, 0.25),
        ({"retry-after": "soon"}, None),
        ({"retry-after": "-5"}, None),
        ({}, None),
    ],
)
def test_retry_after(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers) == seconds


def test_retry_after_as_a_date() -> None:
    wait = retry_after_s({"Retry-After": formatdate(time.time() + 30, usegmt=True)})
    assert wait is not None
    assert 28 <= wait <= 31
    assert retry_after_s({"Retry-After": formatdate(0, usegmt=True)}) == 0.0


def test_a_fault_of_our_own_is_neither_retried_nor_charged() -> None:
    failure = classify(KeyError("oops"))
    assert (failure.status, failure.retry, failure.maybe_paid) == ("failed", False, False)
    assert classify(TimeoutError()).status == "timeout"
    refused = RuntimeError("Connection error.")
    refused.__cause__ = ConnectionRefusedError("nobody listens")
    unmade, dropped = classify(refused), classify(ConnectionAbortedError("gone"))
    assert (unmade.retry, unmade.maybe_paid) == (True, False)
    assert (dropped.retry, dropped.maybe_paid) == (True, True)
    broken = classify(ConnectionResetError("gone"))
    assert (broken.status, broken.retry, broken.maybe_paid) == ("failed", True, True)

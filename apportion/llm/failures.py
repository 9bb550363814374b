"""What a failed attempt means: which outcome it is, whether trying again can help, and whether it may have cost money.

LiteLLM maps providers' errors to its own types, but not every wording of a context overflow; those are read here
from the message, in each provider's own words.
"""

from __future__ import annotations

import asyncio
import email.utils
import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from apportion.llm.redaction import redact
from apportion.llm.requests import Status

_LONGEST_MESSAGE = 500

#: Wordings of "the prompt does not fit", lower case. Beside each the provider that uses it.
_OVERFLOW = tuple(
    re.compile(pattern)
    for pattern in (
        r"maximum context length is",  # OpenAI, vLLM, DeepSeek, OpenRouter
        r"context_length_exceeded",  # OpenAI's and Azure's error code
        r"exceeds? the context window",  # OpenAI Responses
        r"input tokens exceed the configured limit",  # OpenAI
        r"prompt is too long",  # Anthropic, Bedrock
        r"exceed(s|ed)? (the )?context limit",  # Anthropic, input plus max_tokens
        r"input is too long for requested model",  # Bedrock
        r"too many input tokens",  # Bedrock, Titan
        r"input token count .*exceeds the maximum number of tokens",  # Gemini, Vertex
        r"exceeds the maximum number of tokens allowed",  # Gemini
        r"too many tokens: total length",  # Cohere
        r"size limit exceeded by",  # Cohere
        r"prompt contains \d+ tokens .* too large for model",  # Mistral
        r"too large for model with \d+ maximum context length",  # Mistral
        r"reduce the length of the (messages|prompt)",  # Groq, OpenAI
        r"model'?s maximum (prompt|context|input) (length|limit)",  # xAI, others
        r"maximum prompt length is",  # xAI
        r"current length is \d+ while limit is",  # Cerebras
        r"`inputs` tokens \+ `max_new_tokens` must be",  # Hugging Face TGI
        r"(exceeds|greater than) the (available )?context (size|length|window)",  # llama.cpp, LM Studio
        r"exceed_context_size_error",  # llama.cpp's error type
        r"is longer than the model'?s context length",  # SGLang
        r"input (is )?too long.*(tokens|context)",  # Databricks, Nova
        r"maximum input length is .*tokens",  # Databricks
        r"number of tokens .* exceeded maximum",  # watsonx, Replicate
        r"tokens? .*exceeds? .*(max_model_len|maximum model length)",  # vLLM
        r"input length and `?max_tokens`? exceed",  # Anthropic
        r"prompt too long; exceeded max context length",  # Ollama
    )
)
#: Wordings that speak of tokens but are rate limits, not overflows.
_RATE = re.compile(r"tokens per (min|minute|day|hour)|\btpm\b|\brpm\b|rate.?limit")


#: Names of exceptions that come up before anything is sent: no connection was made. Not httpx's ``ConnectError``:
#: LiteLLM raises that too where it gives a request up on its way.
_UNCONNECTED = frozenset({"ConnectionRefusedError", "gaierror", "ClientConnectorError"})
#: Names of exceptions of clients that found no credentials, and what others say of them.
_NO_CREDENTIALS = frozenset({"NoCredentialsError", "PartialCredentialsError", "DefaultCredentialsError"})
_NO_KEY = re.compile(r"missing (\w+ )?(api.?key|credentials)|api_key client option must be set")


@dataclass(frozen=True)
class Failure:
    """A failed attempt: its outcome, whether to retry and when, and whether it may have cost money."""

    status: Status
    retry: bool
    maybe_paid: bool
    message: str
    retry_after_s: float | None = None


def is_context_overflow(message: str) -> bool:
    """Whether a provider's error says that the prompt does not fit its model's context."""
    lowered = message.lower()
    if _RATE.search(lowered) and "context" not in lowered:
        return False
    return any(pattern.search(lowered) for pattern in _OVERFLOW)


def classify(error: BaseException) -> Failure:
    """The meaning of an exception that an attempt ended in (LiteLLM's types, time-outs, connections)."""
    message = describe(error)
    code = getattr(error, "status_code", None)
    name = type(error).__name__
    if isinstance(error, TimeoutError | asyncio.TimeoutError) or name in ("Timeout", "APITimeoutError"):
        return Failure("timeout", retry=True, maybe_paid=True, message=message)
    # The whole text, not the shortened message: the telling words may stand at its end.
    if name == "ContextWindowExceededError" or (code in _CLIENT_ERRORS and is_context_overflow(str(error))):
        return Failure("context_overflow", retry=False, maybe_paid=False, message=message)
    if name == "ContentPolicyViolationError" or getattr(error, "code", None) in _POLICY_CODES:
        return Failure("refused", retry=False, maybe_paid=False, message=message)
    if name == "RateLimitError" or code == 429:
        spent_out = "insufficient_quota" in str(error)
        return Failure("rate_limited", not spent_out, False, message, retry_after_s(_headers(error)))
    if _lacks_credentials(error):
        return Failure("failed", retry=False, maybe_paid=False, message=message)
    if _is_unconnected(error):
        return Failure("failed", retry=True, maybe_paid=False, message=message)
    if name == "APIConnectionError" or code is None:
        # The request may have reached the provider before the connection broke.
        ours = not _is_provider_error(error)
        return Failure("failed", retry=not ours, maybe_paid=not ours, message=message)
    if code in (500, 502, 503, 504, 529, 408, 409, 425):
        # LiteLLM gives a dropped connection or an unreadable body a made-up response with status 500 and no header.
        headers = _headers(error)
        return Failure("failed", True, not headers, message, retry_after_s(headers))
    return Failure("failed", retry=False, maybe_paid=False, message=message)


def describe(error: BaseException) -> str:
    """One line about an exception: no credential, no line breaks, at most 500 characters."""
    text = " ".join(redact(str(error)).split()) or type(error).__name__
    if type(error).__name__ not in text:
        text = f"{type(error).__name__}: {text}"
    return text if len(text) <= _LONGEST_MESSAGE else text[: _LONGEST_MESSAGE - 1] + "…"


def retry_after_s(headers: Mapping[str, str]) -> float | None:
    """Seconds that a provider asks to wait: ``retry-after-ms``, else ``Retry-After`` in seconds or as a date."""
    lowered = {str(k).lower(): str(v).strip() for k, v in headers.items()}
    try:
        if "retry-after-ms" in lowered:
            return max(0.0, float(lowered["retry-after-ms"]) / 1000)
        value = lowered.get("retry-after")
        if value is None:
            return None
        if re.fullmatch(r"\d+(\.\d+)?", value):
            return float(value)
        return max(0.0, email.utils.parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError):
        return None


_POLICY_CODES = ("content_policy_violation", "content_filter")
_CLIENT_ERRORS = (400, 413, 422, 500, None)


def _is_provider_error(error: BaseException) -> bool:
    """Whether the exception came from talking to a provider, and not from a mistake of our own."""
    return any(
        cls.__module__.split(".")[0] in ("openai", "litellm", "httpx", "httpcore", "aiohttp")
        for cls in type(error).__mro__
    ) or isinstance(error, OSError)


def _chain(error: BaseException) -> list[BaseException]:
    """An exception and all that it came from."""
    found: list[BaseException] = []
    waiting: list[BaseException | None] = [error]
    while waiting:
        each = waiting.pop()
        if each is not None and all(each is not other for other in found):
            found.append(each)
            waiting += [each.__cause__, each.__context__]
    return found


def _is_unconnected(error: BaseException) -> bool:
    """Whether no connection was made: refused, no such host."""
    return any(cls.__name__ in _UNCONNECTED for each in _chain(error) for cls in type(each).__mro__)


def _lacks_credentials(error: BaseException) -> bool:
    """Whether a client gave up before sending since it has no credentials; a provider's own words don't count."""
    return any(
        type(each).__name__ in _NO_CREDENTIALS
        or (type(each).__name__ in ("OpenAIError", "ValueError") and _NO_KEY.search(str(each).lower()))
        for each in _chain(error)
    )


def _headers(error: BaseException) -> Mapping[str, str]:
    for holder in (getattr(error, "response", None), error):
        for attribute in ("headers", "litellm_response_headers"):
            headers: Any = getattr(holder, attribute, None)
            if headers:
                return dict(headers)
    return {}

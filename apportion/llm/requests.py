"""What crosses the gateway: a request, what it is for, and what came of it.

A request's identity is everything that can change the answer. It is hashed over canonical JSON, and the hash names
its algorithm, so that a ledger can be verified long after it was written.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from apportion.llm.redaction import refuse_secrets

Role = Literal["system", "user", "assistant"]
Purpose = Literal["answer", "judge", "resolve", "rewrite", "verify", "contextualise", "rerank", "embed"]
Task = Literal["chat", "embed", "rerank"]
Status = Literal[
    "ok",
    "refused",
    "truncated",
    "context_overflow",
    "rate_limited",
    "timeout",
    "malformed",
    "failed",
    "left_out",
]
UsageSource = Literal["provider", "estimated", "assumed"]

PURPOSES: tuple[Purpose, ...] = (
    "answer",
    "judge",
    "resolve",
    "rewrite",
    "verify",
    "contextualise",
    "rerank",
    "embed",
)
#: What a call that was made can come to. ``left_out`` is a call that was never made: no budget was left for it.
OUTCOMES: tuple[Status, ...] = (
    "ok",
    "refused",
    "truncated",
    "context_overflow",
    "rate_limited",
    "timeout",
    "malformed",
    "failed",
)


def is_embedded(model: str) -> bool:
    """Whether a model is one of the package's own: it has no server, no price and no limits."""
    return model.startswith("embedded/")


def canonical_json(value: Any) -> str:
    """JSON with sorted keys, no spaces, no escapes beyond the necessary and no NaN: one spelling for one value."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def sha256_name(text: str) -> str:
    """``sha256:`` and the hex digest of ``text`` in UTF-8."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True)
class Message:
    """One message of a conversation."""

    role: Role
    content: str


@dataclass(frozen=True)
class ChatRequest:
    """One chat completion, as it is asked for.

    ``model`` is a LiteLLM model name (``provider/name``). ``temperature`` null leaves the provider's own.
    ``max_output_tokens`` bounds the answer, reasoning included. ``response_schema`` is a JSON schema; the answer
    is then parsed strictly. ``provider_options`` go to the provider as they are and are part of the identity;
    credentials among them are refused (``ValueError``), since those come from the environment only, and so is what
    would let a call cost more than its tokens. ``task`` other than ``chat`` sends the messages as texts: to ``embed``
    each, or to ``rerank`` those after the first, which is the query.
    """

    model: str
    messages: tuple[Message, ...]
    temperature: float | None = 0.0
    max_output_tokens: int = 384
    response_schema: Mapping[str, Any] | None = None
    stop: tuple[str, ...] = ()
    seed: int | None = None
    provider_options: Mapping[str, Any] = field(default_factory=dict)
    task: Task = "chat"

    def __post_init__(self) -> None:
        if not self.model:
            raise ValueError(
                "a request needs a model; name one as LiteLLM does, for example openai/gpt-4o-mini"
            )
        if not self.messages:
            raise ValueError(f"a request to {self.model} has no message; give at least one")
        if self.max_output_tokens < 1:
            raise ValueError(f"max_output_tokens is {self.max_output_tokens}; it must be at least 1")
        taken = sorted(set(self.provider_options) & _OWN_FIELDS)
        if taken:
            raise ValueError(
                f"provider option {taken[0]!r} has a field of its own in the request; set it there"
            )
        dear = sorted(set(self.provider_options) & _UNBOUNDED)
        if dear:
            raise ValueError(
                f"provider option {dear[0]!r} can make a call cost more than any cap would hold for it"
            )
        refuse_secrets(self.provider_options, where=f"provider_options of a request to {self.model}")

    @cached_property
    def canonical(self) -> str:
        """The canonical JSON that the identity is taken over."""
        return canonical_json(
            {
                "model": self.model,
                "messages": [{"role": m.role, "content": m.content} for m in self.messages],
                "temperature": None if self.temperature is None else float(self.temperature),
                "max_output_tokens": self.max_output_tokens,
                "response_schema": None if self.response_schema is None else dict(self.response_schema),
                "stop": list(self.stop),
                "seed": self.seed,
                "provider_options": dict(self.provider_options),
                # A chat's identity is what it was before there were other tasks.
                **({} if self.task == "chat" else {"task": self.task}),
            }
        )

    @cached_property
    def request_hash(self) -> str:
        """SHA-256 over :attr:`canonical`, with the algorithm's name in front."""
        return sha256_name(self.canonical)


_OWN_FIELDS = frozenset(
    {
        "model",
        "messages",
        "temperature",
        "max_tokens",
        "max_completion_tokens",
        "response_format",
        "stop",
        "seed",
        "timeout",
        "num_retries",
        "max_retries",
        "stream",
        "mock_response",
        "fallbacks",
    }
)


#: Several answers for one output limit, dearer tiers, and fees beside the tokens.
_UNBOUNDED = frozenset(
    {"n", "best_of", "service_tier", "web_search_options", "modalities", "audio", "prediction"}
)


@dataclass(frozen=True)
class CallPurpose:
    """Who asks, and for what: a question of an outcome set on a route (null where there is none)."""

    outcome_set: str
    question_id: str | None
    route: str | None
    purpose: Purpose

    def __post_init__(self) -> None:
        if self.purpose not in PURPOSES:
            raise ValueError(f"unknown purpose {self.purpose!r}; it is one of {', '.join(PURPOSES)}")


@dataclass(frozen=True)
class Usage:
    """Tokens of one call, summed over its attempts.

    ``cached_input_tokens`` is the part of ``input_tokens`` that the provider read from its cache, and
    ``reasoning_tokens`` the part of ``output_tokens`` spent on reasoning; both null where the provider says nothing.
    """

    input_tokens: int
    output_tokens: int
    cached_input_tokens: int | None = None
    reasoning_tokens: int | None = None
    source: UsageSource = "provider"

    @property
    def total_tokens(self) -> int:
        """Input and output, as if nothing had been cached."""
        return self.input_tokens + self.output_tokens

    def __add__(self, other: Usage) -> Usage:
        """The usage of two attempts together; the weaker source names the sum."""
        weakest = max(self.source, other.source, key=_SOURCES.index)
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            _add(self.cached_input_tokens, other.cached_input_tokens),
            _add(self.reasoning_tokens, other.reasoning_tokens),
            weakest,
        )


_SOURCES: tuple[UsageSource, ...] = ("provider", "estimated", "assumed")


def _add(a: int | None, b: int | None) -> int | None:
    return None if a is None and b is None else (a or 0) + (b or 0)


#: A call that the provider turned away: nothing was processed, nothing is owed.
NO_USAGE = Usage(0, 0)


@dataclass(frozen=True)
class CallResult:
    """What came of a call.

    ``usage``, ``cost_usd``, ``latency_ms`` and ``attempts`` are those of the call as it was paid for, also when
    ``served`` says that it came from the ledger; what it added to the bill now is :attr:`new_tokens` and
    :attr:`new_usd`. ``cost_usd`` is null where the price is unknown. ``mean_logprob`` is the mean natural
    logarithm of the answer's token probabilities, null where the provider gave none.
    """

    call_id: str
    request_hash: str
    status: Status
    text: str | None
    parsed: dict[str, Any] | None
    usage: Usage
    cost_usd: float | None
    latency_ms: float
    attempts: int
    served: bool
    mean_logprob: float | None = None
    error: str | None = None

    @property
    def new_tokens(self) -> int:
        """Tokens that this use added to the bill: none when the call was served from the ledger."""
        return 0 if self.served else self.usage.total_tokens

    @property
    def new_usd(self) -> float | None:
        """Dollars that this use added to the bill: 0 when served, null when the price is unknown."""
        return 0.0 if self.served else self.cost_usd

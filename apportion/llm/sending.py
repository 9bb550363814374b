"""One claimed call on its way: attempts, retries, and what it all comes to."""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from apportion.llm.accounts import Account
from apportion.llm.budget import Amount
from apportion.llm.failures import Failure, classify
from apportion.llm.ledger import Ledger, Sizes
from apportion.llm.limits import RateWindow
from apportion.llm.prices import Price
from apportion.llm.redaction import redact
from apportion.llm.requests import NO_USAGE, CallResult, ChatRequest, Status, Usage
from apportion.llm.structured import MalformedAnswerError, parse_answer
from apportion.llm.texts import Reply
from apportion.llm.transport import schema_mode, send

_LONGEST_BACKOFF_S = 30.0
_REFUSALS = frozenset({"content_filter", "refusal", "safety"})


@dataclass(frozen=True)
class Policy:
    """How calls are tried: attempts, seconds for one and for all of them, and where they go."""

    attempts: int
    timeout_s: float
    call_deadline_s: float
    backoff_s: float
    api_base: str | None
    structured: Mapping[str, bool] = field(default_factory=dict)
    default_structured: bool | None = None

    def __post_init__(self) -> None:
        if self.attempts < 1:
            raise ValueError(f"attempts is {self.attempts}; it must be at least 1")
        if self.timeout_s <= 0 or self.call_deadline_s <= 0 or self.backoff_s < 0:
            raise ValueError("timeout_s and call_deadline_s must be above 0 seconds, backoff_s at least 0")


@dataclass(frozen=True)
class _Attempt:
    """What one attempt came to. ``maybe_paid`` says that its usage is assumed, since no answer was received."""

    status: Status
    usage: Usage
    retry: bool = False
    maybe_paid: bool = False
    retry_after_s: float | None = None
    text: str | None = None
    parsed: dict[str, Any] | None = None
    mean_logprob: float | None = None
    error: str | None = None


# Jitter only moves the time of a retry, never a result; it needs no seed.
_jitter = random.Random()  # noqa: S311


class Sending:
    """Sends one claimed call until it has an outcome, and settles it in the ledger and the budget."""

    def __init__(
        self,
        ledger: Ledger,
        policy: Policy,
        request: ChatRequest,
        call_id: str,
        size: Sizes,
        *,
        price: Price | None,
        window: RateWindow,
        account: Account | None,
        deadline: float | None,
    ) -> None:
        self._ledger = ledger
        self._policy = policy
        self._request = request
        self._call_id = call_id
        self._size = size
        self._price = price
        self._window = window
        self._account = account
        own = time.monotonic() + policy.call_deadline_s
        self._deadline = own if deadline is None else min(own, deadline)

    async def result(self) -> CallResult:
        """The call's outcome, settled. A cancelled call stays on record as possibly paid."""
        started = time.monotonic()
        try:
            made: list[_Attempt] = []
            while True:
                made.append(await self._attempt())
                if not made[-1].retry or len(made) >= self._policy.attempts:
                    break
                delay = self._backoff(len(made), made[-1])
                if time.monotonic() + delay >= self._deadline:
                    break
                await asyncio.sleep(delay)
                await self._window.wait(self._size.input_estimate + self._size.output_bound)
                admit = (
                    None
                    if self._account is None
                    else self._account.renewal(self._request, self._charge(made[-1]), self._size)
                )
                if self._ledger.next_attempt(self._call_id, len(made) + 1, admit) is not None:
                    made[-1] = self._out_of_budget(made[-1])
                    break
        except BaseException:
            self._ledger.abandon(self._call_id)
            raise
        return self._settle(made, (time.monotonic() - started) * 1000)

    def _settle(self, made: list[_Attempt], latency_ms: float) -> CallResult:
        last, usage, cost = made[-1], made[0].usage, 0.0
        for attempt in made[1:]:
            usage += attempt.usage
        if self._price is not None:
            cost = sum(self._price.cost(attempt.usage) for attempt in made)
        owed = any(attempt.usage.total_tokens for attempt in made)
        result = CallResult(
            call_id=self._call_id,
            request_hash=self._request.request_hash,
            status=last.status,
            text=last.text,
            parsed=last.parsed,
            usage=usage,
            cost_usd=None if self._price is None and owed else cost,
            latency_ms=latency_ms,
            attempts=len(made),
            served=False,
            mean_logprob=last.mean_logprob,
            error=last.error,
        )
        finish = None if self._account is None else self._account.settlement(self._charge(last))
        self._ledger.settle(result, finish)
        return result

    async def _attempt(self) -> _Attempt:
        left = self._deadline - time.monotonic()
        try:
            reply = await send(
                self._request,
                self._size,
                timeout_s=max(0.001, min(self._policy.timeout_s, left)),
                api_base=self._policy.api_base,
                with_schema=self._request.response_schema is not None
                and schema_mode(
                    self._request.model, self._policy.structured, self._policy.default_structured
                ),
            )
        except asyncio.CancelledError:
            raise
        except Exception as error:
            return self._failed(classify(error))
        return self._answered(reply)

    def _failed(self, failure: Failure) -> _Attempt:
        if failure.retry_after_s is not None:
            self._window.pause(failure.retry_after_s, time.monotonic())
        assumed = Usage(self._size.input_estimate, self._size.output_bound, source="assumed")
        return _Attempt(
            failure.status,
            assumed if failure.maybe_paid else NO_USAGE,
            failure.retry,
            failure.maybe_paid,
            failure.retry_after_s,
            error=failure.message,
        )

    def _answered(self, reply: Reply) -> _Attempt:
        status: Status = "ok"
        parsed: dict[str, Any] | None = None
        error: str | None = None
        schema = self._request.response_schema
        empty = reply.text is None or not reply.text.strip()
        if reply.refusal or reply.finish_reason in _REFUSALS:
            status, error = "refused", "the model declined to answer"
        elif schema is not None:
            try:
                parsed = parse_answer(reply.text, schema)
            except MalformedAnswerError as problem:
                cut = reply.finish_reason == "length"
                status = "truncated" if cut else "malformed"
                error = "the output limit cut the answer off" if cut else redact(str(problem))
        elif reply.finish_reason == "length":
            status, error = "truncated", "the output limit cut the answer off"
        elif empty:
            status, error = "malformed", "the answer is empty"
        return _Attempt(
            status,
            reply.usage,
            retry=status == "malformed",
            text=reply.text if not reply.refusal else reply.refusal,
            parsed=parsed,
            mean_logprob=reply.mean_logprob,
            error=error,
        )

    def _out_of_budget(self, last: _Attempt) -> _Attempt:
        return _Attempt(
            last.status,
            last.usage,
            maybe_paid=last.maybe_paid,
            text=last.text,
            error=f"{last.error}; no budget is left for another attempt",
        )

    def _charge(self, attempt: _Attempt) -> Amount:
        """What an attempt takes from the budget; the most it could have been where no answer was received."""
        if attempt.maybe_paid:
            inputs, outputs = self._size.input_bound, self._size.output_bound
            return Amount(
                inputs + outputs, 0.0 if self._price is None else self._price.bound(inputs, outputs)
            )
        return Amount(
            attempt.usage.total_tokens, 0.0 if self._price is None else self._price.cost(attempt.usage)
        )

    def _backoff(self, made: int, last: _Attempt) -> float:
        """Full jitter over a doubling span; never less than what the provider asked for."""
        span = min(_LONGEST_BACKOFF_S, self._policy.backoff_s * 2 ** (made - 1))
        return max(last.retry_after_s or 0.0, _jitter.uniform(span / 2, span))

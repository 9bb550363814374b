"""The gateway: every call to a model goes through here, is paid for once, and comes back with an outcome.

Calls are admitted in the order given, sent with bounded concurrency, retried only here, and settled in the ledger.
A failure is an outcome of its call, never an exception of the batch.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from apportion.defaults import CONCURRENCY
from apportion.llm.accounts import Account, Budget
from apportion.llm.counting import sizes
from apportion.llm.eventloop import run
from apportion.llm.ledger import Admit, Busy, Claimed, Ledger, Refused, Sizes
from apportion.llm.limits import ModelLimits, RateWindow, traffic_of
from apportion.llm.prices import PriceTable
from apportion.llm.requests import NO_USAGE, CallPurpose, CallResult, ChatRequest, Status, is_embedded
from apportion.llm.sending import Policy, Sending
from apportion.llm.transport import litellm_module

Call = tuple[ChatRequest, CallPurpose]
#: Told after each call: how many of how many are done, and the result.
Progress = Callable[[int, int, CallResult], None]

#: How often somebody else's call, or budget held by another process, is looked at again (seconds).
_POLL_S = 0.05
#: How often, while waiting for room, dead senders are looked for (seconds).
_SWEEP_S = 1.0
#: How many calls' prompts are counted at a time.
_COUNT_AHEAD = 32


@dataclass(frozen=True)
class Expected:
    """What a batch would take if it were sent now.

    ``calls`` counts distinct requests, ``held`` those of them that the ledger would serve. Tokens are of the others:
    ``input_tokens`` estimated, ``output_tokens`` from the answers so far where there are any, else the limit;
    ``most_tokens`` bounds both, each call attempted once. ``usd`` and ``most_usd`` are null if any price is unknown.
    ``unpriced`` names the models without a known price, ``priced`` those that cost money.
    """

    calls: int
    held: int
    input_tokens: int
    output_tokens: int
    most_tokens: int
    usd: float | None
    most_usd: float | None
    priced: tuple[str, ...]
    unpriced: tuple[str, ...]

    @property
    def to_send(self) -> int:
        """Calls that the ledger does not hold."""
        return self.calls - self.held

    @property
    def needs_consent(self) -> bool:
        """Whether sending could cost money: a cap or an explicit yes is needed first."""
        return bool(self.priced or self.unpriced)


class Gateway:
    """Calls models through the ledger in ``ledger_path``.

    ``attempts`` bounds the requests sent for one call, ``timeout_s`` each attempt, ``call_deadline_s`` a call with
    its retries and waits, ``batch_deadline_s`` a whole :meth:`complete_many`. ``limits`` by model name narrow
    ``max_concurrency`` and add requests and tokens per minute; a minute is one for all gateways of this process.
    ``structured`` overrides, by model, whether the provider takes a JSON schema. ``default_limits`` and
    ``default_structured`` hold for models not named there, and ``api_base`` for all, but for the embedded ones.
    ``budget`` caps what the calls may spend; it is shared by whoever names the same one in the same ledger.
    """

    def __init__(
        self,
        ledger_path: Path | str,
        *,
        max_concurrency: int = CONCURRENCY,
        attempts: int = 3,
        timeout_s: float = 120.0,
        call_deadline_s: float = 600.0,
        batch_deadline_s: float | None = None,
        backoff_s: float = 0.5,
        api_base: str | None = None,
        prices: PriceTable | None = None,
        limits: Mapping[str, ModelLimits] | None = None,
        structured: Mapping[str, bool] | None = None,
        default_limits: ModelLimits | None = None,
        default_structured: bool | None = None,
        budget: Budget | None = None,
    ) -> None:
        if max_concurrency < 1:
            raise ValueError(f"max_concurrency is {max_concurrency}; it must be at least 1")
        self.policy = Policy(
            attempts,
            timeout_s,
            call_deadline_s,
            backoff_s,
            api_base,
            dict(structured or {}),
            default_structured,
        )
        self.ledger = Ledger(ledger_path)
        self.ledger.sweep()
        self.prices = prices or PriceTable()
        self.account = None if budget is None else Account(self.ledger, budget, self.prices)
        self._max_concurrency = max_concurrency
        self._batch_deadline_s = batch_deadline_s
        self._limits = dict(limits or {})
        self._default_limits = default_limits or ModelLimits()
        self._windows: dict[str, RateWindow] = {}

    def complete_many(self, calls: Iterable[Call], *, progress: Progress | None = None) -> list[CallResult]:
        """Results in the order of ``calls``; finished ones come from the ledger, the others are sent.

        Blocks until all are settled. May be called again, from any thread, also where an event loop is running.
        With a budget, calls are admitted strictly in order; one that does not fit once all before it are settled
        comes back as ``left_out``, and smaller ones after it may still fit.
        """
        listed = list(calls)
        batch = _Batch(self, listed, progress)
        for position, result in self.ledger.serve(listed).items():
            batch.done(position, result)
        if batch.open:
            if self.account is not None:
                self.account.check([listed[i][0] for i in batch.open])
            litellm_module()
            with self.ledger.lease():
                run(batch.work(), batch.events, batch.tell)
        else:
            batch.tell_served()
        return batch.finished()

    def expected(self, calls: Iterable[Call]) -> Expected:
        """What ``calls`` would take, without sending anything and without importing LiteLLM."""
        requests = {request.request_hash: (request, purpose) for request, purpose in calls}
        held = self.ledger.held(requests)
        inputs = outputs = most = 0
        usd: float | None = 0.0
        most_usd: float | None = 0.0
        priced, unpriced = set(), set()
        for request_hash, (request, purpose) in requests.items():
            if request_hash in held:
                continue
            size = sizes(request)
            output = min(
                self.ledger.mean_output(request.model, purpose.purpose) or size.output_bound,
                size.output_bound,
            )
            inputs, outputs = inputs + size.input_estimate, outputs + output
            most += size.input_bound + size.output_bound
            price = self.prices.price(request.model)
            if price is None:
                unpriced.add(request.model)
                usd = most_usd = None
            else:
                if not price.free:
                    priced.add(request.model)
                if usd is not None and most_usd is not None:
                    usd += price.expected(size.input_estimate, output)
                    most_usd += price.bound(size.input_bound, size.output_bound)
        return Expected(
            len(requests),
            len(held),
            inputs,
            outputs,
            most,
            usd,
            most_usd,
            tuple(sorted(priced)),
            tuple(sorted(unpriced)),
        )

    def close(self) -> None:
        """Close the ledger."""
        self.ledger.close()

    def slots(self, model: str) -> int:
        """How many calls of ``model`` may be in flight at once."""
        return min(
            self._limits_of(model).max_concurrency or self._max_concurrency,
            self._max_concurrency,
        )

    def window(self, model: str) -> RateWindow:
        """The minute of calls sent to ``model``, by whichever gateway of this process."""
        if model not in self._windows:
            traffic = traffic_of(model, None if is_embedded(model) else self.policy.api_base)
            self._windows[model] = RateWindow(self._limits_of(model), traffic=traffic)
        return self._windows[model]

    def _limits_of(self, model: str) -> ModelLimits:
        return self._limits.get(model, ModelLimits() if is_embedded(model) else self._default_limits)

    @property
    def batch_deadline_s(self) -> float | None:
        """Seconds that one batch may take."""
        return self._batch_deadline_s


class _Batch:
    """One :meth:`Gateway.complete_many` at work."""

    def __init__(self, gateway: Gateway, calls: Sequence[Call], progress: Progress | None) -> None:
        self._gateway = gateway
        self._ledger = gateway.ledger
        self._calls = calls
        self._progress = progress
        self._results: dict[int, CallResult] = {}
        self.events: SimpleQueue[Any] = SimpleQueue()
        self._slots: dict[str, asyncio.Semaphore] = {}
        self._sizes: dict[int, tuple[asyncio.Future[list[Sizes]], int]] = {}
        self._deadline: float | None = None
        self._settled = asyncio.Event()
        self._next_sweep = 0.0

    @property
    def open(self) -> list[int]:
        """Positions without a result, in order."""
        return [i for i in range(len(self._calls)) if i not in self._results]

    def done(self, position: int, result: CallResult) -> None:
        """Note a result."""
        self._results[position] = result
        self.events.put((len(self._results), result))

    def tell(self, event: tuple[int, CallResult]) -> None:
        """Tell whoever watches, in the thread that asked."""
        if self._progress is not None:
            done, result = event
            self._progress(done, len(self._calls), result)

    def tell_served(self) -> None:
        """Tell whoever watches, where nothing had to be sent."""
        while not self.events.empty():
            self.tell(self.events.get())

    def finished(self) -> list[CallResult]:
        """All results in input order."""
        return [self._results[i] for i in range(len(self._calls))]

    async def work(self) -> None:
        """Send what is open: a lane a model, or one lane where a budget makes the order matter."""
        if self._gateway.batch_deadline_s is not None:
            self._deadline = time.monotonic() + self._gateway.batch_deadline_s
        lanes: dict[str, list[int]] = {}
        for position in self.open:
            request = self._calls[position][0]
            self._slots.setdefault(request.model, asyncio.Semaphore(self._gateway.slots(request.model)))
            lanes.setdefault(request.model if self._gateway.account is None else "", []).append(position)
        try:
            async with asyncio.TaskGroup() as group:
                for positions in lanes.values():
                    group.create_task(self._lane(positions, group))
        except BaseExceptionGroup as several:
            # Only faults of ours get here (a full disk, a progress callback that raises); one is as good as all.
            raise several.exceptions[0] from several

    async def _lane(self, positions: Sequence[int], group: asyncio.TaskGroup) -> None:
        for position in positions:
            await self._start(position, group)

    async def _start(self, position: int, group: asyncio.TaskGroup) -> None:
        """Get one call under way: returns when it is sent, settled, or waits in the background for its twin."""
        request, purpose = self._calls[position]
        slots = self._slots[request.model]
        size = await self._size(position)
        await slots.acquire()
        keep = False
        try:
            claim = await self._claim(request, purpose, size)
            if isinstance(claim, Busy):
                group.create_task(self._after_twin(position, group))
            elif isinstance(claim, Claimed):
                keep = True
                group.create_task(self._send(position, claim.call_id, size, slots))
            else:
                self.done(position, claim)
        finally:
            if not keep:
                slots.release()

    async def _size(self, position: int) -> Sizes:
        """The call's size, counted some calls ahead by a thread: counting long prompts takes as long as the ledger."""
        if position not in self._sizes:
            ahead = [
                i
                for i in range(position, len(self._calls))
                if i not in self._sizes and i not in self._results
            ]
            chunk = ahead[:_COUNT_AHEAD]
            counted = asyncio.get_running_loop().run_in_executor(
                None, lambda: [sizes(self._calls[i][0]) for i in chunk]
            )
            self._sizes.update((i, (counted, at)) for at, i in enumerate(chunk))
        counted, at = self._sizes[position]
        return (await counted)[at]

    async def _claim(
        self, request: ChatRequest, purpose: CallPurpose, size: Sizes
    ) -> CallResult | Claimed | Busy:
        """Claim the call as soon as its model's limits and the budget let it."""
        account = self._gateway.account
        admit = None if account is None else account.admission(request, purpose, size)
        while True:
            if self._deadline is not None and time.monotonic() >= self._deadline:
                return _never_sent(
                    request, "timeout", "the batch's deadline passed before this call could be sent"
                )
            claim = self._claim_now(request, purpose, size, admit)
            if isinstance(claim, float):
                silence = self._gateway.window(request.model).silence(time.monotonic())
                if silence > self._gateway.policy.call_deadline_s:
                    return _never_sent(
                        request,
                        "rate_limited",
                        f"{request.model}'s provider asked for no calls for another {silence:,.0f} s; run again then",
                    )
                await asyncio.sleep(self._within_deadline(claim))
                continue
            if not isinstance(claim, Refused):
                return claim
            if not claim.wait:
                if account is not None:
                    account.leave_out(request, purpose, size)
                return _never_sent(request, "left_out", claim.reason)
            try:
                # Another process may settle as well: look again from time to time.
                await asyncio.wait_for(self._settled.wait(), _POLL_S)
            except TimeoutError:
                # Whoever holds the room may have died: then what it held counts as spent.
                if time.monotonic() >= self._next_sweep:
                    self._ledger.sweep()
                    self._next_sweep = time.monotonic() + _SWEEP_S

    def _claim_now(
        self, request: ChatRequest, purpose: CallPurpose, size: Sizes, admit: Admit | None
    ) -> CallResult | Claimed | Busy | Refused | float:
        """The claim, or the seconds until the model's limits let it."""
        window, tokens = self._gateway.window(request.model), size.input_estimate + size.output_bound
        with window.lock:
            delay = window.delay(tokens, time.monotonic())
            if delay > 0:
                return delay
            self._settled.clear()
            claim = self._ledger.claim(request, purpose, size, admit)
            if isinstance(claim, Claimed):
                window.note(tokens, time.monotonic())
            return claim

    async def _send(self, position: int, call_id: str, size: Sizes, slots: asyncio.Semaphore) -> None:
        try:
            request, _ = self._calls[position]
            sending = Sending(
                self._ledger,
                self._gateway.policy,
                request,
                call_id,
                size,
                price=self._gateway.prices.price(request.model),
                window=self._gateway.window(request.model),
                account=self._gateway.account,
                deadline=self._deadline,
            )
            self.done(position, await sending.result())
        finally:
            self._settled.set()
            slots.release()

    async def _after_twin(self, position: int, group: asyncio.TaskGroup) -> None:
        """Ask again until the same call, sent by somebody else, is settled or its sender is dead."""
        request, _ = self._calls[position]
        while self._ledger.in_flight(request.request_hash):
            if self._deadline is not None and time.monotonic() >= self._deadline:
                break
            await asyncio.sleep(_POLL_S)
        await self._start(position, group)

    def _within_deadline(self, delay: float) -> float:
        return delay if self._deadline is None else max(0.0, min(delay, self._deadline - time.monotonic()))


def _never_sent(request: ChatRequest, status: Status, reason: str) -> CallResult:
    """The result of a call that was not made; it is in no ledger and has no id."""
    return CallResult(
        "", request.request_hash, status, None, None, NO_USAGE, 0.0, 0.0, 0, served=False, error=reason
    )

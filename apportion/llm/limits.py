"""Keeping to a provider's limits: calls at once, requests and tokens per minute."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from dataclasses import dataclass

_WINDOW_S = 60.0


@dataclass(frozen=True)
class ModelLimits:
    """Limits of one model; null is no limit."""

    max_concurrency: int | None = None
    requests_per_minute: int | None = None
    tokens_per_minute: int | None = None

    def __post_init__(self) -> None:
        for name in ("max_concurrency", "requests_per_minute", "tokens_per_minute"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ValueError(f"{name} is {value}; it must be at least 1, or left out for no limit")


class Traffic:
    """What went to one model lately, whoever sent it, and the silence that its provider asked for."""

    def __init__(self) -> None:
        #: Held from asking for a turn until it is taken, so that two threads don't take the same one.
        self.lock = threading.RLock()
        self.sent: deque[tuple[float, int]] = deque()
        self.tokens = 0
        self.paused_until = 0.0


_traffic: dict[tuple[str | None, str], Traffic] = {}
_traffic_lock = threading.Lock()


def traffic_of(model: str, api_base: str | None) -> Traffic:
    """This process's traffic to a model at an address: a provider's minute doesn't start anew with each batch."""
    with _traffic_lock:
        return _traffic.setdefault((api_base, model), Traffic())


class RateWindow:
    """A sliding minute of what was sent to one model. A call larger than the limit goes alone.

    ``traffic`` is shared with others who call the model; without it the window has its own.
    """

    def __init__(
        self, limits: ModelLimits, *, traffic: Traffic | None = None, window_s: float | None = None
    ) -> None:
        self._limits = limits
        self._traffic = traffic or Traffic()
        self._window_s = _WINDOW_S if window_s is None else window_s

    @property
    def lock(self) -> threading.RLock:
        """Held between :meth:`delay` and :meth:`note`."""
        return self._traffic.lock

    def delay(self, tokens: int, now: float) -> float:
        """Seconds until a call of ``tokens`` tokens may go at the earliest; 0 is now."""
        with self.lock:
            traffic, sent = self._traffic, self._traffic.sent
            while sent and sent[0][0] <= now - self._window_s:
                traffic.tokens -= sent.popleft()[1]
            delay = max(0.0, traffic.paused_until - now)
            requests, limit = self._limits.requests_per_minute, self._limits.tokens_per_minute
            if requests is not None and len(sent) >= requests:
                delay = max(delay, sent[-requests][0] + self._window_s - now)
            if limit is not None and sent and traffic.tokens + tokens > limit:
                excess = traffic.tokens + tokens - limit
                for at, size in sent:
                    excess -= size
                    delay = max(delay, at + self._window_s - now)
                    if excess <= 0:
                        break
            return delay

    def note(self, tokens: int, now: float) -> None:
        """A call of ``tokens`` tokens goes now."""
        with self.lock:
            self._traffic.sent.append((now, tokens))
            self._traffic.tokens += tokens

    def pause(self, seconds: float, now: float) -> None:
        """The provider asked for silence: nothing goes for so long."""
        with self.lock:
            self._traffic.paused_until = max(self._traffic.paused_until, now + seconds)

    def silence(self, now: float) -> float:
        """Seconds of the silence that the provider asked for and that are still to come."""
        return max(0.0, self._traffic.paused_until - now)

    async def wait(self, tokens: int) -> None:
        """Return when a call of ``tokens`` tokens may go, and note it."""
        while True:
            with self.lock:
                delay = self.delay(tokens, time.monotonic())
                if delay <= 0:
                    self.note(tokens, time.monotonic())
                    return
            await asyncio.sleep(delay)

"""Keeping to a provider's limits: calls at once, requests and tokens per minute."""

from __future__ import annotations

import asyncio
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


class RateWindow:
    """A sliding minute of what was sent to one model. A call larger than the limit goes alone."""

    def __init__(self, limits: ModelLimits, *, window_s: float = _WINDOW_S) -> None:
        self._limits = limits
        self._window_s = window_s
        self._sent: deque[tuple[float, int]] = deque()
        self._tokens = 0
        self._paused_until = 0.0

    def delay(self, tokens: int, now: float) -> float:
        """Seconds until a call of ``tokens`` tokens may go at the earliest; 0 is now."""
        while self._sent and self._sent[0][0] <= now - self._window_s:
            self._tokens -= self._sent.popleft()[1]
        delay = max(0.0, self._paused_until - now)
        requests, limit = self._limits.requests_per_minute, self._limits.tokens_per_minute
        if requests is not None and len(self._sent) >= requests:
            delay = max(delay, self._sent[-requests][0] + self._window_s - now)
        if limit is not None and self._sent and self._tokens + tokens > limit:
            excess = self._tokens + tokens - limit
            for at, size in self._sent:
                excess -= size
                delay = max(delay, at + self._window_s - now)
                if excess <= 0:
                    break
        return delay

    def note(self, tokens: int, now: float) -> None:
        """A call of ``tokens`` tokens goes now."""
        self._sent.append((now, tokens))
        self._tokens += tokens

    def pause(self, seconds: float, now: float) -> None:
        """The provider asked for silence: nothing goes for so long."""
        self._paused_until = max(self._paused_until, now + seconds)

    async def wait(self, tokens: int) -> None:
        """Return when a call of ``tokens`` tokens may go, and note it."""
        while (delay := self.delay(tokens, time.monotonic())) > 0:
            await asyncio.sleep(delay)
        self.note(tokens, time.monotonic())

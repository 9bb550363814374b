"""Progress of long work, told to whoever listens; by default nobody does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Protocol


class Listener(Protocol):
    """Somebody who shows progress."""

    def begin(self, label: str, total: int) -> None:
        """A piece of work starts; ``total`` steps are to come."""
        ...

    def advance(self, done: int) -> None:
        """``done`` steps of it are done."""
        ...

    def end(self) -> None:
        """It has ended, done or not."""
        ...


_listener: ContextVar[Listener | None] = ContextVar("progress_listener", default=None)


@contextmanager
def listen(listener: Listener) -> Iterator[None]:
    """Tell this listener of all progress inside the block."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


@contextmanager
def track(label: str, total: int) -> Iterator[Callable[[int], None]]:
    """A piece of work of known length; yields what to call with the number of steps done."""
    listener = _listener.get()
    if listener is None:
        yield lambda done: None
        return
    listener.begin(label, total)
    try:
        yield listener.advance
    finally:
        listener.end()

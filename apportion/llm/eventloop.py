"""One event loop per process, in a thread of its own, never closed.

Clients of HTTP libraries belong to the loop they were made on. A loop for each batch would leave them bound to a
closed one, so that a second batch in the same process fails.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine
from queue import SimpleQueue
from typing import Any, TypeVar

#: How long an interrupted batch may take to note what was in flight (seconds).
_CLEAN_UP_S = 5.0

T = TypeVar("T")

_END = object()
_lock = threading.Lock()
_loops: dict[int, asyncio.AbstractEventLoop] = {}


def run(work: Coroutine[Any, Any, T], events: SimpleQueue[Any], handle: Callable[[Any], None]) -> T:
    """Run ``work`` on the process's loop and wait for it; meanwhile ``handle`` what it puts into ``events``.

    ``handle`` runs in the caller's thread: what it raises, an interrupt included, never reaches the loop, which others
    may be using. It cancels ``work`` and waits for its clean-up.
    """
    ended = threading.Event()

    async def to_the_end() -> T:
        try:
            return await work
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(to_the_end(), _loop())
    future.add_done_callback(lambda _: events.put(_END))
    try:
        while (event := events.get()) is not _END:
            handle(event)
        return future.result()
    except BaseException:
        if future.cancel():
            ended.wait(_CLEAN_UP_S)
        raise


def _loop() -> asyncio.AbstractEventLoop:
    with _lock:
        loop = _loops.get(os.getpid())
        if loop is None:
            loop = asyncio.new_event_loop()
            threading.Thread(target=loop.run_forever, name="apportion-model-calls", daemon=True).start()
            _loops[os.getpid()] = loop
        return loop

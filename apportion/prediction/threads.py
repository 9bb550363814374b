"""Keeping libraries to one thread where several would only wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def one_thread(kind: str | None, *, when: bool = True) -> AbstractContextManager[Any]:
    """Inside the block ``kind`` (``blas``, ``openmp``, or None for both) keeps to one thread, if ``when`` holds."""
    # A limit reaches only the libraries that are loaded when it is set.
    import threadpoolctl

    limits: AbstractContextManager[Any] = threadpoolctl.threadpool_limits(1 if when else None, kind)
    return limits

"""Keeping libraries to one thread where several would only wait for each other."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any


def one_thread(kind: str, *, when: bool = True) -> AbstractContextManager[Any]:
    """Inside the block ``kind`` (``blas`` or ``openmp``) keeps to one thread, if ``when`` holds."""
    import threadpoolctl

    limits: AbstractContextManager[Any] = threadpoolctl.threadpool_limits(1 if when else None, kind)
    return limits

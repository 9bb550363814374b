"""Loading compiled kernels only when the work is large enough to repay it.

Every caller has a numpy way to the same result, taken where numba is missing or APPORTION_COMPILED is 0.
"""

from __future__ import annotations

import os
from functools import cache
from importlib import import_module
from types import ModuleType


def kernels(large: bool) -> ModuleType | None:
    """Return the compiled kernels where the work is `large` or they are loaded already, else None.

    None too where numba is missing or switched off.
    """
    if os.environ.get("APPORTION_COMPILED", "1") == "0" or not (large or _load.cache_info().currsize):
        return None
    return _load()


@cache
def _load() -> ModuleType | None:
    try:
        return import_module("apportion.allocation.kernels")
    except ImportError:
        return None

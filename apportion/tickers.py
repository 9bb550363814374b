"""Tickers, as filers, filings and questions write them."""

from __future__ import annotations

import re


def ticker_key(ticker: str) -> str:
    """A ticker in one spelling, a share class behind a hyphen: ``BRK.B``, ``BRK/B``, ``brk b`` are ``BRK-B``."""
    return re.sub(r"[./ ]", "-", ticker.strip().upper())

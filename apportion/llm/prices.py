"""What tokens cost: LiteLLM's table, read as a file (importing LiteLLM takes seconds), or the user's own prices.

A user's file is JSON: ``{"openai/gpt-4o": {"input": 2.5, "cached_input": 1.25, "output": 10}}`` in USD per million
tokens; ``cached_input`` may be left out and is then ``input``. The user's prices win. A price of 0 is a price; a
model in neither place has none, and what it costs is null.
"""

from __future__ import annotations

import importlib.util
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from apportion.llm.requests import Usage, is_embedded

_MILLION = 1_000_000
_TIER = re.compile(r"(input|output)_cost_per_token_above_(\d+)k_tokens")
#: Entries that are priced by more than their tokens: a bound from tokens alone would be too low.
_CHAT_MODES = frozenset({"chat", "completion", "responses", "embedding"})
#: Providers whose models the table lists under the programming interface that serves them.
_INTERFACES = {"bedrock": "bedrock_converse"}


@dataclass(frozen=True)
class Rates:
    """USD per token from a prompt of ``above`` tokens on."""

    above: int
    input: float
    cached_input: float
    output: float
    reasoning: float


@dataclass(frozen=True)
class Price:
    """A model's price: its rates, the dearest prompts last, and what each request costs besides."""

    rates: tuple[Rates, ...]

    def cost(self, usage: Usage) -> float:
        """USD for ``usage``; cached input at its own rate, reasoning as part of the output."""
        rates = [r for r in self.rates if usage.input_tokens > r.above or r.above == 0][-1]
        cached = min(usage.cached_input_tokens or 0, usage.input_tokens)
        reasoning = min(usage.reasoning_tokens or 0, usage.output_tokens)
        return (
            (usage.input_tokens - cached) * rates.input
            + cached * rates.cached_input
            + (usage.output_tokens - reasoning) * rates.output
            + reasoning * rates.reasoning
        )

    def expected(self, input_tokens: int, output_tokens: int) -> float:
        """USD for so many tokens, none of them cached."""
        return self.cost(Usage(input_tokens, output_tokens))

    def bound(self, input_tokens: int, output_tokens: int) -> float:
        """The most USD that at most so many tokens can cost."""
        reached = [r for r in self.rates if input_tokens > r.above or r.above == 0]
        return input_tokens * max(max(r.input, r.cached_input) for r in reached) + output_tokens * max(
            max(r.output, r.reasoning) for r in reached
        )

    @property
    def free(self) -> bool:
        """Whether nothing costs anything."""
        return all(r.input == r.cached_input == r.output == r.reasoning == 0 for r in self.rates)


_FREE = Price((Rates(0, 0.0, 0.0, 0.0, 0.0),))


class PriceTable:
    """Prices by model name. ``own`` are the user's, in USD per million tokens."""

    def __init__(self, own: Mapping[str, Mapping[str, float]] | None = None) -> None:
        self._own = {model: _own_price(model, entry) for model, entry in (own or {}).items()}

    @classmethod
    def from_file(cls, path: Path | str) -> PriceTable:
        """Prices from a user's JSON file; ``ValueError`` says what is wrong in it."""
        try:
            loaded = json.loads(Path(path).read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise ValueError(f"the price file {path} cannot be read as JSON ({error})") from error
        if not isinstance(loaded, dict) or not all(isinstance(entry, dict) for entry in loaded.values()):
            raise ValueError(f"the price file {path} must map model names to input and output prices")
        return cls(loaded)

    def price(self, model: str) -> Price | None:
        """The price of ``model``, null where it is unknown."""
        if model in self._own:
            return self._own[model]
        if is_embedded(model):
            return _FREE
        table = _litellm_table()
        provider, _, name = model.partition("/")
        entry = table.get(model)
        if entry is None and name and _is_of(provider, table.get(name, {}).get("litellm_provider")):
            entry = table[name]
        return None if entry is None else _table_price(entry)


def _is_of(provider: str, listed: str | None) -> bool:
    """Whether the table's provider is the one a model's name begins with, or a family of its models (`vertex_ai-…`)."""
    return listed is not None and (
        listed in (provider, _INTERFACES.get(provider)) or listed.startswith(f"{provider}-")
    )


def _own_price(model: str, entry: Mapping[str, float]) -> Price:
    unknown = sorted(set(entry) - {"input", "cached_input", "output"})
    if unknown or "input" not in entry or "output" not in entry:
        raise ValueError(
            f"the price of {model} needs input and output, and may have cached_input, in USD per million tokens;"
            f" found {', '.join(sorted(entry)) or 'nothing'}"
        )
    for name, value in entry.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise ValueError(
                f"the price of {model}, {name}, is {value!r}; it must be 0 or more USD per million tokens"
            )
    rate, out = entry["input"] / _MILLION, entry["output"] / _MILLION
    return Price((Rates(0, rate, entry.get("cached_input", entry["input"]) / _MILLION, out, out),))


def _table_price(entry: Mapping[str, Any]) -> Price | None:
    rate, out = entry.get("input_cost_per_token"), entry.get("output_cost_per_token")
    if rate is None or out is None or entry.get("mode", "chat") not in _CHAT_MODES:
        return None
    tiers = {0} | {int(match[2]) * 1000 for key in entry if (match := _TIER.fullmatch(key))}
    rates = []
    for above in sorted(tiers):
        suffix = f"_above_{above // 1000}k_tokens" if above else ""
        rate = entry.get(f"input_cost_per_token{suffix}", rate)
        out = entry.get(f"output_cost_per_token{suffix}", out)
        cached = entry.get(
            f"cache_read_input_token_cost{suffix}", entry.get("cache_read_input_token_cost", rate)
        )
        reasoning = entry.get("output_cost_per_reasoning_token", out) if not above else out
        rates.append(Rates(above, float(rate), float(cached), float(out), float(reasoning)))
    return Price(tuple(rates))


@lru_cache(maxsize=1)
def _litellm_table() -> dict[str, dict[str, Any]]:
    spec = importlib.util.find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        return {}
    path = Path(spec.submodule_search_locations[0]) / "model_prices_and_context_window_backup.json"
    table: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return table

"""The embedded models as a LiteLLM custom provider, so that they are called like any other model.

``embedded/reader`` answers and ``embedded/judge`` grades. Their price is 0 and their tokens are counted as
cl100k_base; nothing here touches the network.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from apportion.llm.embedded.judge import grade_prompt
from apportion.llm.embedded.reader import answer_prompt
from apportion.tokens import count_tokens, encoding

PROVIDER = "embedded"
MODELS = {"reader": answer_prompt, "judge": grade_prompt}
MAX_INPUT_TOKENS = 1_000_000
MAX_OUTPUT_TOKENS = 4_096


def prompt_tokens(messages: Sequence[Mapping[str, Any]]) -> int:
    """Input tokens of a call: the cl100k_base tokens of each message's content, summed, with nothing per
    message."""
    return sum(count_tokens(str(message.get("content") or "")) for message in messages)


def reply(model: str, messages: Sequence[Mapping[str, Any]], max_tokens: int | None) -> tuple[str, str]:
    """Text and finish reason (``stop``, or ``length`` where ``max_tokens`` cut the text) of one call.

    Raises:
        ValueError: if there is no embedded model of that name.
    """
    name = model.removeprefix(f"{PROVIDER}/")
    if name not in MODELS:
        raise ValueError(
            f"model {PROVIDER}/{name}: there is no such embedded model; use one of {sorted(MODELS)}"
        )
    text = MODELS[name](messages)
    if max_tokens is not None:
        ids = encoding().encode_ordinary(text)
        if len(ids) > max_tokens:
            return encoding().decode(ids[: max(0, max_tokens)], errors="ignore"), "length"
    return text, "stop"


def register(litellm: Any) -> None:
    """Register the embedded models and their price with an imported ``litellm``; a second time changes
    nothing."""
    if any(entry["provider"] == PROVIDER for entry in litellm.custom_provider_map):
        return
    handler = _handler(litellm)
    litellm.custom_provider_map = [
        *litellm.custom_provider_map,
        {"provider": PROVIDER, "custom_handler": handler},
    ]
    litellm.utils.custom_llm_setup()
    litellm.register_model(
        {
            f"{PROVIDER}/{name}": {
                "litellm_provider": PROVIDER,
                "mode": "chat",
                "input_cost_per_token": 0.0,
                "output_cost_per_token": 0.0,
                "cache_creation_input_token_cost": 0.0,
                "cache_read_input_token_cost": 0.0,
                "max_input_tokens": MAX_INPUT_TOKENS,
                "max_output_tokens": MAX_OUTPUT_TOKENS,
                "supports_response_schema": True,
            }
            for name in MODELS
        }
    )


def _handler(litellm: Any) -> Any:
    # The base class comes from litellm, whose import is dear, so the class is made where litellm is at hand.
    class Embedded(litellm.CustomLLM):  # type: ignore[misc]
        """Answers LiteLLM's calls to ``embedded/…``."""

        def completion(self, *args: Any, **kwargs: Any) -> Any:
            return _complete(litellm, args, kwargs)

        async def acompletion(self, *args: Any, **kwargs: Any) -> Any:
            return _complete(litellm, args, kwargs)

    return Embedded()


def _complete(litellm: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    model = str(kwargs["model"] if "model" in kwargs else args[0])
    messages = kwargs["messages"] if "messages" in kwargs else args[1]
    options = kwargs.get("optional_params") or {}
    limit = options.get("max_completion_tokens", options.get("max_tokens"))
    try:
        text, finish = reply(model, messages, limit)
    except ValueError as error:
        raise litellm.BadRequestError(message=str(error), model=model, llm_provider=PROVIDER) from None
    used, made = prompt_tokens(messages), count_tokens(text)
    return litellm.ModelResponse(
        model=model,
        created=int(time.time()),
        choices=[
            litellm.Choices(
                index=0, finish_reason=finish, message=litellm.Message(role="assistant", content=text)
            )
        ],
        usage=litellm.Usage(prompt_tokens=used, completion_tokens=made, total_tokens=used + made),
    )

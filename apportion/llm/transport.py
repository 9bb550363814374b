"""One attempt at a call, through LiteLLM: the only module that imports it.

LiteLLM is imported when the first call is sent, with its price table local and its logging, telemetry and callbacks
off, so that nothing but the call itself uses the network. Its retries and the provider clients' are off as well:
the gateway counts attempts, and they must be the only ones.
"""

from __future__ import annotations

import asyncio
import logging
import os
import threading
from collections.abc import Coroutine, Mapping
from typing import Any

from apportion.llm.counting import estimate_text
from apportion.llm.ledger import Sizes
from apportion.llm.redaction import RedactingFilter
from apportion.llm.requests import ChatRequest, Usage, is_embedded
from apportion.llm.structured import instruction
from apportion.llm.texts import Reply, send_texts

_lock = threading.Lock()
_loaded: Any = None


def litellm_module() -> Any:
    """LiteLLM, imported and quietened once per process, with the embedded models registered."""
    global _loaded
    with _lock:
        if _loaded is None:
            os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"
            # In its development mode LiteLLM reads a .env file; keys come from the environment only.
            os.environ.setdefault("LITELLM_MODE", "PRODUCTION")
            import litellm

            litellm.suppress_debug_info = True
            litellm.telemetry = False
            litellm.turn_off_message_logging = True
            litellm.callbacks = []
            litellm.success_callback = []
            litellm.failure_callback = []
            litellm._async_success_callback = []
            litellm._async_failure_callback = []
            litellm.num_retries = 0
            for name in (
                "LiteLLM",
                "LiteLLM Router",
                "LiteLLM Proxy",
                "openai",
                "httpx",
                "httpcore",
                "aiohttp",
            ):
                logging.getLogger(name).addFilter(RedactingFilter())
            # What goes wrong comes back as an exception; LiteLLM's own lines would only repeat it.
            logging.getLogger("LiteLLM").setLevel(logging.CRITICAL)
            logging.getLogger("httpx").setLevel(logging.WARNING)
            _silence_logging_worker()
            _register_embedded(litellm)
            _loaded = litellm
        return _loaded


def _silence_logging_worker() -> None:
    """With no callback to feed, LiteLLM's worker only costs time after each call, and complains at exit."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    def close(async_coroutine: Coroutine[Any, Any, Any]) -> None:
        async_coroutine.close()

    GLOBAL_LOGGING_WORKER.ensure_initialized_and_enqueue = close  # type: ignore[method-assign]


def _register_embedded(litellm: Any) -> None:
    from apportion.llm.embedded.provider import register

    register(litellm)


def schema_mode(model: str, override: Mapping[str, bool], default: bool | None = None) -> bool:
    """Whether a model's provider takes a JSON schema: by ``override``, else ``default``, else as LiteLLM knows it."""
    if model in override:
        return override[model]
    if is_embedded(model):
        return True
    if default is not None:
        return default
    return bool(litellm_module().supports_response_schema(model=model))


async def send(
    request: ChatRequest,
    sizes: Sizes,
    *,
    timeout_s: float,
    api_base: str | None,
    with_schema: bool,
) -> Reply:
    """Send ``request`` once. Raises whatever LiteLLM raises, ``TimeoutError`` after ``timeout_s`` seconds."""
    litellm = litellm_module()
    if request.task != "chat":
        async with asyncio.timeout(timeout_s):
            return await send_texts(litellm, request, sizes, timeout_s=timeout_s, api_base=api_base)
    messages = [{"role": m.role, "content": m.content} for m in request.messages]
    arguments: dict[str, Any] = {"max_tokens": request.max_output_tokens}
    if request.temperature is not None:
        arguments["temperature"] = request.temperature
    if request.stop:
        arguments["stop"] = list(request.stop)
    if request.seed is not None:
        arguments["seed"] = request.seed
    if request.response_schema is not None and with_schema:
        arguments["response_format"] = {
            "type": "json_schema",
            "json_schema": {"name": "answer", "strict": True, "schema": dict(request.response_schema)},
        }
    elif request.response_schema is not None:
        messages.append({"role": "system", "content": instruction(request.response_schema)})
    if api_base is not None and not is_embedded(request.model):
        arguments["api_base"] = api_base
    async with asyncio.timeout(timeout_s):
        response = await litellm.acompletion(
            model=request.model,
            messages=messages,
            timeout=timeout_s,
            num_retries=0,
            max_retries=0,
            **arguments,
            **request.provider_options,
        )
    return _reply(response, request, sizes)


def _reply(response: Any, request: ChatRequest, sizes: Sizes) -> Reply:
    choice = response.choices[0]
    message = choice.message
    specific = getattr(message, "provider_specific_fields", None) or {}
    refusal = getattr(message, "refusal", None) or specific.get("refusal")
    text = message.content
    return Reply(
        text=text,
        finish_reason=choice.finish_reason,
        refusal=refusal,
        usage=_usage(getattr(response, "usage", None), text or refusal, request, sizes),
        mean_logprob=_mean_logprob(choice),
    )


def _usage(reported: Any, text: str | None, request: ChatRequest, sizes: Sizes) -> Usage:
    """The provider's counts; whatever of them is missing or zero is estimated, and the whole marked so."""
    inputs = getattr(reported, "prompt_tokens", None) or 0
    outputs = getattr(reported, "completion_tokens", None) or 0
    cached = _detail(reported, "prompt_tokens_details", "cached_tokens")
    reasoning = _detail(reported, "completion_tokens_details", "reasoning_tokens")
    total = getattr(reported, "total_tokens", None) or 0
    if reasoning and inputs + outputs + reasoning == total:
        # Some providers count reasoning beside the output; here it is part of it.
        outputs += reasoning
    if inputs and (outputs or not text):
        return Usage(inputs, outputs, cached, reasoning and min(reasoning, outputs), "provider")
    return Usage(
        inputs or sizes.input_estimate,
        outputs or estimate_text(request.model, text),
        cached,
        reasoning,
        "estimated",
    )


def _detail(reported: Any, group: str, name: str) -> int | None:
    value = getattr(getattr(reported, group, None), name, None)
    return value if isinstance(value, int) else None


def _mean_logprob(choice: Any) -> float | None:
    content = getattr(getattr(choice, "logprobs", None), "content", None)
    if not content:
        return None
    values = [token["logprob"] if isinstance(token, dict) else token.logprob for token in content]
    return float(sum(values) / len(values))

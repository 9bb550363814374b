"""How many tokens a model takes."""

from __future__ import annotations

UNKNOWN = 128_000
"""What a model is taken to take where LiteLLM doesn't know it."""


def context_window(model: str) -> int:
    """The input tokens of a model as LiteLLM lists them."""
    from apportion.llm.transport import litellm_module

    try:
        listed = litellm_module().get_model_info(model).get("max_input_tokens")
    except Exception:  # LiteLLM raises a plain Exception for a model that isn't on its list
        return UNKNOWN
    return int(listed) if listed else UNKNOWN

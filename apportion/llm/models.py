"""Whether a model's name means anything, before money or time is spent on it."""

from __future__ import annotations

from apportion.defaults import JUDGE, READER
from apportion.llm.requests import is_embedded

EMBEDDED = (READER, JUDGE)


def check_model(model: str) -> None:
    """Refuse a name that no provider answers to.

    Raises:
        ValueError: there is no such embedded model, or LiteLLM can't tell the provider from the name.
    """
    if model in EMBEDDED:
        return
    if is_embedded(model):
        raise ValueError(f"there is no model {model!r}; embedded models: {', '.join(EMBEDDED)}")
    from apportion.llm.transport import litellm_module

    litellm = litellm_module()
    try:
        litellm.get_llm_provider(model)
    except litellm.BadRequestError as error:
        raise ValueError(
            f"there is no model {model!r}; name it as LiteLLM does, for example openai/gpt-4o-mini or ollama/llama3"
        ) from error

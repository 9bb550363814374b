"""Whether a model's name means anything, before money or time is spent on it."""

from __future__ import annotations

from apportion.defaults import JUDGE, READER

EMBEDDED = (READER, JUDGE)


def is_embedded(model: str) -> bool:
    """Whether a model is one of the package's own: it has no server, no price and no limits."""
    return model.startswith("embedded/")


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

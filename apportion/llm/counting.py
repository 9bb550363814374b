"""How many tokens a prompt has: an estimate, and a bound that no tokenizer of the model's kind can exceed.

Three of the providers' encodings ship inside LiteLLM and are read from there; nothing is downloaded. A model whose
encoding is not among them is estimated with cl100k_base. Its bound is the prompt's length in UTF-8 bytes: the
tokenizers in use are byte-level or fall back to bytes, so that a token covers at least one byte.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import TYPE_CHECKING

from apportion.llm.ledger import Sizes
from apportion.llm.requests import ChatRequest, canonical_json, is_embedded
from apportion.tokens import encoding

if TYPE_CHECKING:
    import tiktoken

#: Tokens that a chat template puts around a message and around the whole; OpenAI's puts 3 or 4, Llama's about 5.
_PER_MESSAGE_ESTIMATE, _PER_CALL_ESTIMATE = 4, 3
_PER_MESSAGE_BOUND, _PER_CALL_BOUND = 16, 64
#: A provider writes a schema into the prompt in a form of its own: this many times its canonical length.
_SCHEMA_FACTOR = 2
#: What is told besides to a model that has no schema mode.
_INSTRUCTION_BOUND = 256

_O200K = re.compile(r"(^|/)(gpt-4o|gpt-4\.1|gpt-4\.5|gpt-5|o1|o3|o4|chatgpt-4o)")
_CL100K = re.compile(r"(^|/)(gpt-4|gpt-3\.5)")


def exact_encoding(model: str) -> str | None:
    """The encoding that a model is known to count in; null where it is none of those at hand."""
    if is_embedded(model):
        return "cl100k_base"
    if not model.startswith(("openai/", "azure/")) and "/" in model:
        return None
    if _O200K.search(model):
        return "o200k_base"
    return "cl100k_base" if _CL100K.search(model) else None


@lru_cache(maxsize=4)
def _encoding(name: str) -> tiktoken.Encoding:
    bundled = encoding()
    if name == bundled.name:
        return bundled
    import tiktoken

    return tiktoken.get_encoding(name)


def _count(model: str, text: str) -> int:
    return len(_encoding(exact_encoding(model) or "cl100k_base").encode_ordinary(text))


def estimate_text(model: str, text: str | None) -> int:
    """Tokens of an answer's text, at least 1."""
    return max(1, _count(model, text)) if text else 1


def sizes(request: ChatRequest) -> Sizes:
    """What ``request`` holds, in tokens of its model: estimated input, and bounds on input and output."""
    texts = [message.content for message in request.messages]
    content = sum(_count(request.model, text) for text in texts)
    if is_embedded(request.model):
        # They count the messages' text and nothing else; a schema is given to them beside the prompt.
        return Sizes(content, content, request.max_output_tokens)
    estimate = content + _PER_MESSAGE_ESTIMATE * len(texts) + _PER_CALL_ESTIMATE
    known = exact_encoding(request.model) is not None
    bound = content if known else sum(_bytes(text) for text in texts)
    bound += _PER_MESSAGE_BOUND * len(texts) + _PER_CALL_BOUND
    extra = "".join(
        canonical_json(dict(part)) for part in (request.response_schema, request.provider_options) if part
    )
    if extra:
        estimate += _count(request.model, extra)
        bound += _SCHEMA_FACTOR * _bytes(extra) + _INSTRUCTION_BOUND
    return Sizes(estimate, bound, request.max_output_tokens)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))

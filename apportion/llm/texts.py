"""Embedding and reranking: texts sent through LiteLLM, numbers back, kept in the ledger as text."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from apportion.llm.ledger import Sizes
from apportion.llm.requests import ChatRequest, Message, Usage


@dataclass(frozen=True)
class Reply:
    """What a provider answered, before it is judged."""

    text: str | None
    finish_reason: str | None
    refusal: str | None
    usage: Usage
    mean_logprob: float | None


def embedding_request(texts: Sequence[str], model: str) -> ChatRequest:
    """The call that embeds texts."""
    return _texts(texts, model, "embed")


def rerank_request(query: str, texts: Sequence[str], model: str) -> ChatRequest:
    """The call that scores texts for a query."""
    return _texts([query, *texts], model, "rerank")


def _texts(texts: Sequence[str], model: str, task: Any) -> ChatRequest:
    messages = tuple(Message("user", text) for text in texts)
    return ChatRequest(model, messages, temperature=None, max_output_tokens=1, task=task)


async def send_texts(
    litellm: Any, request: ChatRequest, sizes: Sizes, *, timeout_s: float, api_base: str | None
) -> Reply:
    """Send an embedding or reranking call once. Raises whatever LiteLLM raises, ``ValueError`` for a short answer."""
    texts = [message.content for message in request.messages]
    arguments: dict[str, Any] = {} if api_base is None else {"api_base": api_base}
    arguments |= dict(request.provider_options)
    if request.task == "embed":
        response = await litellm.aembedding(
            model=request.model,
            input=texts,
            timeout=timeout_s,
            num_retries=0,
            max_retries=0,
            encoding_format="float",
            **arguments,
        )
        rows = sorted(response.data, key=lambda row: int(row["index"]))
        if len(rows) != len(texts):
            raise ValueError(f"{request.model} gave {len(rows)} vectors for {len(texts)} texts")
        text = pack([row["embedding"] for row in rows])
        reported = getattr(getattr(response, "usage", None), "prompt_tokens", None) or 0
    else:
        response = await litellm.arerank(
            model=request.model, query=texts[0], documents=texts[1:], top_n=len(texts) - 1, **arguments
        )
        scores = {int(row["index"]): float(row["relevance_score"]) for row in response.results}
        if len(scores) != len(texts) - 1:
            raise ValueError(f"{request.model} scored {len(scores)} of {len(texts) - 1} texts")
        text = json.dumps([scores[place] for place in range(len(texts) - 1)])
        reported = 0
    usage = Usage(reported, 0) if reported else Usage(sizes.input_estimate, 0, source="estimated")
    return Reply(text, "stop", None, usage, None)


def pack(rows: Sequence[Sequence[float]]) -> str:
    """Vectors as text, which is how the ledger keeps them."""
    array = np.asarray(rows, np.float32)
    return json.dumps({"shape": array.shape, "float32": base64.b64encode(array.tobytes()).decode()})


def unpack(text: str) -> npt.NDArray[np.float32]:
    """Vectors from what :func:`pack` gave."""
    held = json.loads(text)
    return np.frombuffer(base64.b64decode(held["float32"]), np.float32).reshape(held["shape"])

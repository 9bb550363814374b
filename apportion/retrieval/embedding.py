"""Vectors of chunks by a model: a local one through fastembed, or any that LiteLLM embeds with.

Vectors are kept as files beside the shards, by the model's name, and made once a filing.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from apportion.retrieval.chunk_index import ChunkIndex, Vectors, save_array

Embed = Callable[[Sequence[str]], Vectors]
"""Gives one row a text."""

DEFAULT_LOCAL = "BAAI/bge-small-en-v1.5"


def unit(rows: Vectors) -> Vectors:
    """Rows at unit length; a row of zeros stays."""
    rows = np.asarray(rows, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    scaled: Vectors = np.divide(rows, lengths, out=np.zeros_like(rows), where=lengths > 0)
    return scaled


class EmbeddedChunks:
    """Vectors of an index by a model.

    Args:
        index: the shards.
        name: the model's name; files bear it.
        embed: gives vectors of texts.
        texts: gives the indexed texts of a filing's chunks, in the order of the index's numbers.
    """

    def __init__(
        self, index: ChunkIndex, name: str, embed: Embed, texts: Callable[[str], Sequence[str]]
    ) -> None:
        self.name = name
        self._index = index
        self._embed = embed
        self._texts = texts
        self._kind = f"embedded-{re.sub(r'[^A-Za-z0-9._-]+', '_', name)}.npy"

    def missing(self) -> list[str]:
        """The filings whose chunks have no vectors yet."""
        return [filing for filing in self._index.filings if not self._index.path(filing, self._kind).exists()]

    def of_filing(self, filing: str) -> Vectors:
        """A filing's vectors, made if they aren't there."""
        path = self._index.path(filing, self._kind)
        if not path.exists():
            texts = list(self._texts(filing))
            made = unit(self._embed(texts))
            if len(made) != len(texts):
                raise ValueError(f"{self.name} gave {len(made)} vectors for {len(texts)} texts of {filing}")
            save_array(path, made)
        vectors: Vectors = np.load(path)
        return vectors

    def of_queries(self, texts: list[str]) -> Vectors:
        """Vectors of questions, one row each."""
        return unit(self._embed(texts)) if texts else np.zeros((0, 1), np.float32)


def local_embed(folder: str | None = None, model: str = DEFAULT_LOCAL) -> Embed:
    """Embeds with fastembed; a folder holds the model's files where they shall not be fetched.

    Raises:
        ImportError: fastembed isn't installed.
    """
    try:
        from fastembed import TextEmbedding
    except ImportError:
        raise ImportError("local embeddings need fastembed: pip install 'apportion[embeddings]'") from None
    loaded = (
        TextEmbedding(model)
        if folder is None
        else TextEmbedding(model, specific_model_path=str(Path(folder)))
    )
    return lambda texts: np.array(list(loaded.embed(list(texts))), np.float32)


def pack(rows: Sequence[Sequence[float]]) -> str:
    """Vectors as text, which is how the ledger keeps them."""
    array = np.asarray(rows, np.float32)
    return json.dumps({"shape": array.shape, "float32": base64.b64encode(array.tobytes()).decode()})


def unpack(text: str) -> Vectors:
    """Vectors from what :func:`pack` gave."""
    held = json.loads(text)
    rows: Vectors = np.frombuffer(base64.b64decode(held["float32"]), np.float32).reshape(held["shape"])
    return rows

"""Vectors of chunks by a model: a local one through fastembed, or any that LiteLLM embeds with.

Vectors are kept as files beside the shards, by the model's name, and made once a filing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from apportion.retrieval.chunk_index import ChunkIndex, Vectors, save_array

Embed = Callable[[Sequence[str]], Vectors]
"""Gives one row a text."""

LOCAL = "local"
"""The model that fastembed fetches, where the settings name a model or a folder."""
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

    def make(self, filings: Sequence[str]) -> None:
        """Embed the chunks of some filings in one go, so that what it costs is known and capped before it starts."""
        texts = {filing: list(self._texts(filing)) for filing in filings}
        together = [text for filing in filings for text in texts[filing]]
        if not together:
            return
        made = unit(self._embed(together))
        if len(made) != len(together):
            raise ValueError(f"{self.name} gave {len(made)} vectors for {len(together)} texts")
        start = 0
        for filing in filings:
            save_array(self._index.path(filing, self._kind), made[start : start + len(texts[filing])])
            start += len(texts[filing])

    def of_filing(self, filing: str) -> Vectors:
        """A filing's vectors, made if they aren't there."""
        path = self._index.path(filing, self._kind)
        if not path.exists():
            self.make([filing])
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

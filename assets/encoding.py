"""Vectors of questions and answers by a local encoder, for the benefit models that read texts."""

from collections.abc import Sequence
from functools import cache

import numpy as np
import polars as pl

from apportion.prediction.design import TEXTS, VECTORS
from apportion.retrieval.embedding import LOCAL, Embed, local_embed, unit


@cache
def _encoder(name: str) -> tuple[Embed, dict[str, np.ndarray]]:
    """The encoder and what it has encoded: a run asks for the same texts several times."""
    try:
        return local_embed(None if name == LOCAL else name), {}
    except ImportError as error:
        raise ValueError(f"--text-encoder {name}: {error}") from None


def with_vectors(rows: pl.DataFrame, encoder: str) -> pl.DataFrame:
    """Rows with a vector beside each text; without a text, zeros.

    Raises:
        ValueError: the encoder's library isn't installed.
    """
    embed, known = _encoder(encoder)
    told = {name: rows[name].fill_null("").to_list() for name in TEXTS}
    fresh = sorted({text for texts in told.values() for text in texts} - known.keys() - {""})
    if fresh:
        known.update(zip(fresh, unit(embed(fresh)), strict=True))
    size = len(next(iter(known.values()), ()))
    return rows.with_columns(
        pl.Series(vector, _stacked(told[name], known, size), dtype=pl.List(pl.Float32))
        for name, vector in zip(TEXTS, VECTORS, strict=True)
    )


def _stacked(texts: Sequence[str], known: dict[str, np.ndarray], size: int) -> list[np.ndarray]:
    return [known.get(text, np.zeros(size, np.float32)) for text in texts]

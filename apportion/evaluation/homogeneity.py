"""How alike the documents of a corpus are, section by section (document-routed retrieval, 3.3)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

SAMPLE = 2_000
"""Chunks that are looked at, at most."""

Vectors = npt.NDArray[np.float32]


def structural_homogeneity(
    vectors: Mapping[str, Vectors], authors: Mapping[str, str]
) -> dict[str, float | int]:
    """How easily a chunk is mistaken for another author's.

    Args:
        vectors: unit vectors of each document's chunks.
        authors: who each document is of; documents of one author are no danger to each other.

    Returns:
        ``nearest_elsewhere``: mean cosine of a chunk to the nearest chunk of another author's document;
        ``typical``: mean cosine of two chunks drawn at random; ``confusable_share``: chunks to which some other
        author's chunk is at least as near as every chunk of the same author's other documents and of its own document
        that doesn't overlap it.
    """
    names = sorted(vectors)
    keys = [(name, row) for name in names for row in range(len(vectors[name]))]
    if not keys:
        return {"chunks": 0, "nearest_elsewhere": 0.0, "typical": 0.0, "confusable_share": 0.0}
    drawn = _drawn(keys)
    every = np.concatenate([vectors[name] for name in names])
    owner = np.array([names.index(name) for name, _ in keys])
    rows = np.array([row for _, row in keys])
    author = np.array([authors.get(name, name) for name, _ in keys])
    place = {key: number for number, key in enumerate(keys)}
    nearest, confusable = [], 0
    for name, row in drawn:
        at = place[name, row]
        likeness = every @ every[at]
        others = author != author[at]
        # Neighbours share half their text.
        apart = (author == author[at]) & ~((owner == owner[at]) & (np.abs(rows - row) <= 1))
        if not others.any():
            continue
        best = float(likeness[others].max())
        nearest.append(best)
        confusable += best >= (float(likeness[apart].max()) if apart.any() else -1.0)
    first = np.array([place[key] for key in drawn])
    second = np.roll(first, 1)
    return {
        "chunks": len(nearest),
        "nearest_elsewhere": float(np.mean(nearest)) if nearest else 0.0,
        "typical": float(np.mean(np.sum(every[first] * every[second], axis=1))),
        "confusable_share": confusable / len(nearest) if nearest else 0.0,
    }


def _drawn(keys: Sequence[tuple[str, int]]) -> list[tuple[str, int]]:
    """A sample that depends on the chunks alone."""
    if len(keys) <= SAMPLE:
        return list(keys)
    return sorted(keys, key=lambda key: hashlib.blake2b(f"{key[0]}\x1f{key[1]}".encode()).digest())[:SAMPLE]

"""Vectors of texts: one a text, zeros without one, and a plain refusal without the library."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import numpy as np
import polars as pl
import pytest

from assets import encoding


def test_every_text_has_its_vector(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []

    def embed(texts: Sequence[str]) -> np.ndarray:
        asked.extend(texts)
        return np.array([[len(text), 1.0] for text in texts], np.float32)

    kept: dict[str, np.ndarray] = {}
    monkeypatch.setattr(encoding, "_encoder", lambda name: (embed, kept))
    rows = pl.DataFrame({"question_text": ["aa", "b", "aa"], "answer_text": [None, "aa", ""]})
    for _ in range(2):
        told = encoding.with_vectors(rows, "local")
    assert sorted(asked) == ["aa", "b"]
    assert told["question_vector"].to_list()[0] == told["answer_vector"].to_list()[1]
    assert np.linalg.norm(told["question_vector"].to_list()[1]) == pytest.approx(1.0)
    assert told["answer_vector"].to_list()[0] == told["answer_vector"].to_list()[2] == [0.0, 0.0]


def test_without_its_library_an_encoder_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "fastembed", None)
    rows = pl.DataFrame({"question_text": ["a"], "answer_text": ["b"]})
    with pytest.raises(ValueError, match=r"--text-encoder local: .*apportion\[embeddings\]"):
        encoding.with_vectors(rows, "local")

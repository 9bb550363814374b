"""Hybrid TF-IDF page ranking, scoped to a question's filing.

Word 1-2-grams and character 3-5-grams within words, weights 0.7 and 0.3 (token-budgeted escalation, section
III-A), sublinear term counts, cosine similarity. Inverse document frequencies are taken over every page indexed;
the scope is applied before the cut.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

WORD_WEIGHT = 0.7
CHARACTER_WEIGHT = 0.3

Matrix = Any  # a scipy.sparse CSR matrix; scipy is imported where it is used


class _Vectoriser(Protocol):
    def fit_transform(self, texts: Sequence[str]) -> Matrix: ...

    def transform(self, texts: Sequence[str]) -> Matrix: ...


class WordVectors:
    """Sublinear TF-IDF over word 1-2-grams, rows of unit length."""

    def __init__(self) -> None:
        from sklearn.feature_extraction.text import TfidfVectorizer

        self._model: Any = TfidfVectorizer(ngram_range=(1, 2), sublinear_tf=True)

    def fit_transform(self, texts: Sequence[str]) -> Matrix:
        """Learn the vocabulary and return the (pages, terms) matrix."""
        return self._model.fit_transform(texts)

    def transform(self, texts: Sequence[str]) -> Matrix:
        """The (texts, terms) matrix over the learnt vocabulary."""
        return self._model.transform(texts)


class CharacterVectors:
    """Sublinear TF-IDF over character 3-5-grams within words, rows of unit length.

    The n-grams of a text are those of its tokens, so they are counted once per distinct token and multiplied out:
    (texts × tokens) · (tokens × n-grams). The result is scikit-learn's ``char_wb``, entry for entry.
    """

    def __init__(self) -> None:
        from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer

        self._ngrams: Any = CountVectorizer(analyzer="char_wb", ngram_range=(3, 5), lowercase=False)
        self._weights: Any = TfidfTransformer(sublinear_tf=True)

    def fit_transform(self, texts: Sequence[str]) -> Matrix:
        """Learn the n-grams and return the (pages, n-grams) matrix."""
        counts, tokens = _token_counts(texts)
        return self._weights.fit_transform(counts @ self._ngrams.fit_transform(tokens))

    def transform(self, texts: Sequence[str]) -> Matrix:
        """The (texts, n-grams) matrix over the learnt n-grams."""
        counts, tokens = _token_counts(texts)
        return self._weights.transform(counts @ self._ngrams.transform(tokens))


def _token_counts(texts: Sequence[str]) -> tuple[Matrix, list[str]]:
    """(texts, distinct tokens) counts as floats, and the tokens."""
    from scipy.sparse import csr_matrix

    index: dict[str, int] = {}
    columns: list[int] = []
    ends = [0]
    for text in texts:
        columns += [index.setdefault(token, len(index)) for token in text.lower().split()]
        ends.append(len(columns))
    values = np.ones(len(columns))
    matrix = csr_matrix((values, columns, ends), shape=(len(texts), max(len(index), 1)))
    matrix.sum_duplicates()
    return matrix, list(index) or [""]


@dataclass(frozen=True)
class RankedPage:
    """One page in a ranking: ``row`` is its row in the indexed frame, ``score`` lies in [0, 1]."""

    row: int
    score: float


class HybridTfidf:
    """An index over pages that ranks those of one filing, or all of them, for a question."""

    name = "tfidf"

    def __init__(self, pages: pl.DataFrame) -> None:
        """Index pages.

        Args:
            pages: columns ``filing_id``, ``page_number`` and ``text``; one row a page.
        """
        self.pages = pages.select("filing_id", "page_number", "text").sort("filing_id", "page_number")
        texts = self.pages["text"].to_list()
        self._parts: list[tuple[float, _Vectoriser, Matrix]] = []
        for weight, vectoriser in ((WORD_WEIGHT, WordVectors()), (CHARACTER_WEIGHT, CharacterVectors())):
            try:
                self._parts.append((weight, vectoriser, vectoriser.fit_transform(texts)))
            except ValueError as error:
                if "empty vocabulary" not in str(error):
                    raise
        # Rows stand by filing, so each filing is one run of rows.
        filings = self.pages["filing_id"].to_list()
        self._scope: dict[str, tuple[int, int]] = {}
        for row, filing in enumerate(filings):
            start, _ = self._scope.get(filing, (row, row))
            self._scope[filing] = (start, row + 1)

    def rank(self, questions: Sequence[str], scopes: Sequence[str | None], k: int) -> list[list[RankedPage]]:
        """The first k pages for each question, best first.

        Args:
            questions: the texts.
            scopes: for each, the filing to stay within, or None for every page. A filing that isn't indexed
                has no pages.
            k: pages to return at most; fewer where the scope holds fewer.

        Ties go to the earlier page in (filing_id, page_number).
        """
        if len(questions) != len(scopes):
            raise ValueError(f"{len(questions)} questions but {len(scopes)} scopes")
        queries = [
            (weight, vectoriser.transform(questions), matrix) for weight, vectoriser, matrix in self._parts
        ]
        rankings = []
        for row, scope in enumerate(scopes):
            start, end = (0, self.pages.height) if scope is None else self._scope.get(scope, (0, 0))
            scores: npt.NDArray[np.float64] = np.zeros(end - start)
            for weight, query, matrix in queries:
                scores += weight * np.asarray((matrix[start:end] @ query[row].T).todense()).ravel()
            best = np.argsort(-scores, kind="stable")[:k]
            rankings.append([RankedPage(start + int(i), float(scores[i])) for i in best])
        return rankings

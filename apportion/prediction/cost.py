"""Cost models: how many tokens a deeper call takes, input and output together.

`RidgeCost` is the paper's (token-budgeted escalation, section II-B): a standardised ridge, α = 5, at least one token.
`ExactPromptCost` counts the candidate prompt instead of predicting it. Counts are in cl100k_base; a model that
counts otherwise is calibrated on calls already paid for.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import polars as pl

from apportion.prediction.design import PROMPT_PARTS, Design, Floats, standardised_ridge

RIDGE_ALPHA = 5.0
LEAST_TOKENS = 1.0


class CostModel(Protocol):
    """What the cost models have in common."""

    name: str

    def fit(self, features: pl.DataFrame, input_tokens: Floats, output_tokens: Floats) -> CostModel:
        """Fit on features and the deep calls' measured tokens, shapes (n,)."""
        ...

    def predict(self, features: pl.DataFrame) -> Floats:
        """Predicted tokens of the deep call, at least one, shape (n,)."""
        ...


class RidgeCost:
    """The paper's ridge on all features."""

    name = "ridge"

    def __init__(self, seed: int) -> None:
        self._ridge: Any = standardised_ridge(RIDGE_ALPHA)
        self._design: Design | None = None

    def fit(self, features: pl.DataFrame, input_tokens: Floats, output_tokens: Floats) -> RidgeCost:
        """Fit on the sum of input and output."""
        self._design = Design.of(features)
        self._ridge.fit(self._design.matrix(features), input_tokens + output_tokens)
        return self

    def predict(self, features: pl.DataFrame) -> Floats:
        """Predicted tokens, at least one."""
        if self._design is None:
            raise ValueError("the cost model predicts only after fit")
        predicted = self._ridge.predict(self._design.matrix(features))
        return np.asarray(np.maximum(predicted, LEAST_TOKENS), dtype=np.float64)


class ExactPromptCost:
    """The prompt counted, its price in the model's own tokens learnt, and only the output predicted.

    A tokenizer's count is close to additive over what a prompt is made of, so the billed input is a linear function of
    our own count of the prompt and of its letters, digits, signs and words. It is fitted by least squares on the deep
    calls of the training rows and on the cheap calls that were paid for before. With a model that counts as we do the
    fit is exact: our own count alone explains it. Where the prompt could not be counted, a ridge on all features
    stands in.
    """

    name = "exact_prompt"

    def __init__(self, seed: int) -> None:
        self._output: Any = standardised_ridge(RIDGE_ALPHA)
        self._whole: Any = standardised_ridge(RIDGE_ALPHA)
        self._design: Design | None = None
        self._coefficients: Floats | None = None
        self._most_output = 0.0

    def fit(self, features: pl.DataFrame, input_tokens: Floats, output_tokens: Floats) -> ExactPromptCost:
        """Fit the prompt's price on the input and the ridge on the output."""
        billed = features["cheap_input_tokens"].cast(pl.Float64).fill_null(np.nan).to_numpy()
        paid = np.isfinite(billed) & (billed > 0) & features["cheap_prompt_tokens"].is_not_null().to_numpy()
        counted = features["deep_prompt_tokens"].is_not_null().to_numpy()
        terms = np.vstack([prompt_terms(features, "deep")[counted], prompt_terms(features, "cheap")[paid]])
        self._coefficients = _least_squares(terms, np.concatenate([input_tokens[counted], billed[paid]]))
        self._design = Design.of(features)
        self._whole.fit(self._design.matrix(features), input_tokens + output_tokens)
        self._output.fit(self._design.matrix(features), output_tokens)
        self._most_output = float(output_tokens.max(initial=0.0))
        return self

    def predict(self, features: pl.DataFrame) -> Floats:
        """Predicted tokens, at least one."""
        if self._design is None or self._coefficients is None:
            raise ValueError("the cost model predicts only after fit")
        prompt = prompt_terms(features, "deep") @ self._coefficients
        output = np.clip(self._output.predict(self._design.matrix(features)), 0.0, self._most_output)
        counted = features["deep_prompt_tokens"].is_not_null().to_numpy()
        predicted = np.where(counted, prompt + output, self._whole.predict(self._design.matrix(features)))
        return np.asarray(np.maximum(predicted, LEAST_TOKENS), dtype=np.float64)


def prompt_terms(features: pl.DataFrame, side: str) -> Floats:
    """What the exact prompt of one side is made of, shape (n, 6); unknown counts as nothing."""
    names = [f"{side}_prompt_{part}" for part in ("tokens", *PROMPT_PARTS)]
    columns = [features[name].cast(pl.Float64).fill_null(0.0).to_numpy() for name in names]
    return np.column_stack([np.ones(features.height), *columns])


def _least_squares(terms: Floats, actual: Floats) -> Floats:
    """Coefficients of a least-squares fit on scaled columns, so that counts of any size are well conditioned."""
    scale = np.maximum(np.abs(terms).max(axis=0, initial=0.0), 1.0)
    found = np.linalg.lstsq(terms / scale, actual, rcond=1e-9)[0]
    return np.asarray(found / scale, dtype=np.float64)


COST_MODELS: tuple[type[RidgeCost] | type[ExactPromptCost], ...] = (RidgeCost, ExactPromptCost)
COST_MODEL_IN_USE = ExactPromptCost.name

"""Cost models: how many tokens a deeper call takes, input and output together.

`RidgeCost` is the paper's (token-budgeted escalation, section II-B): a standardised ridge, α = 5, at least one token.
`ExactPromptCost` counts the candidate prompt instead of predicting it. Counts are in cl100k_base; a model that
counts otherwise is calibrated on calls already paid for: its own count of the cheap prompt, by ours.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import polars as pl

from apportion.prediction.design import Design, Floats, standardised_ridge

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
    """The prompt counted, its rate in the model's own tokens learnt, and only the output predicted.

    The input is a linear function of our count of the deep prompt, of that count times the rate at which this
    question's cheap prompt was billed, and of a constant. Coefficients are least squares on the training rows,
    after scaling so that the fit is well conditioned; with the model counting as we do the fit is exact.
    """

    name = "exact_prompt"

    def __init__(self, seed: int) -> None:
        self._output: Any = standardised_ridge(RIDGE_ALPHA)
        self._design: Design | None = None
        self._coefficients: Floats | None = None
        self._rate = 1.0
        self._most_output = 0.0

    def fit(self, features: pl.DataFrame, input_tokens: Floats, output_tokens: Floats) -> ExactPromptCost:
        """Fit the rate on the input and the ridge on the output."""
        rates = _rates(features)
        self._rate = float(np.nanmedian(rates)) if np.isfinite(rates).any() else 1.0
        terms = self._terms(features)
        self._coefficients = np.asarray(np.linalg.lstsq(terms, input_tokens, rcond=1e-9)[0], dtype=np.float64)
        self._design = Design.of(features)
        self._output.fit(self._design.matrix(features), output_tokens)
        self._most_output = float(output_tokens.max(initial=0.0))
        return self

    def predict(self, features: pl.DataFrame) -> Floats:
        """Predicted tokens, at least one."""
        if self._design is None or self._coefficients is None:
            raise ValueError("the cost model predicts only after fit")
        prompt = self._terms(features) @ self._coefficients
        output = np.clip(self._output.predict(self._design.matrix(features)), 0.0, self._most_output)
        return np.asarray(np.maximum(prompt + output, LEAST_TOKENS), dtype=np.float64)

    def _terms(self, features: pl.DataFrame) -> Floats:
        prompt = features["deep_prompt_tokens"].cast(pl.Float64).to_numpy()
        rates = np.nan_to_num(_rates(features), nan=self._rate)
        return np.column_stack([np.ones_like(prompt), prompt, prompt * (rates - self._rate)])


def _rates(features: pl.DataFrame) -> Floats:
    """Billed tokens of the cheap prompt by ours; NaN where it wasn't billed."""
    rates = features.select(
        pl.when((pl.col("cheap_input_tokens") > 0) & (pl.col("cheap_prompt_tokens") > 0))
        .then(pl.col("cheap_input_tokens") / pl.col("cheap_prompt_tokens"))
        .cast(pl.Float64)
        .fill_null(np.nan)
    )
    return rates.to_series().to_numpy()


COST_MODELS: tuple[type[RidgeCost] | type[ExactPromptCost], ...] = (RidgeCost, ExactPromptCost)
COST_MODEL_IN_USE = ExactPromptCost.name

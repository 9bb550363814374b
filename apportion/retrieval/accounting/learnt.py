"""Weights of the fusion learnt from questions with cited pages, and never tested on filings that they learnt from.

A conditional logit (McFadden 1974) over the pages of each question's filing: a page is the answer's with probability
proportional to exp(w · signals). Weights are drawn towards the untrained ones. The untrained fusion is the retriever's;
how this one compares, held out, stands in ``docs/accounting-retrieval.md``, and why no command learns them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from apportion.retrieval.accounting.ranker import WEIGHTS

SCALE = 3.0
"""Untrained weights times this make a page's log odds: the start of the search, and where weights are drawn to."""

PENALTY = 0.5
"""Of squared distance to the start, by the log-likelihood of one question."""


@dataclass(frozen=True)
class Example:
    """One question: its signals (pages, signals) in the order of the weights, and its cited pages (pages,)."""

    group: str
    signals: npt.NDArray[np.float64]
    cited: npt.NDArray[np.bool_]


def learn(examples: Sequence[Example], weights: Mapping[str, float] = WEIGHTS) -> dict[str, float]:
    """Weights that make cited pages likely, none below 0.

    Args:
        examples: with at least one cited page each; others teach nothing and are left out.
        weights: the untrained ones.

    Returns:
        Weights on the untrained scale.
    """
    from scipy.optimize import minimize

    start = SCALE * np.array(list(weights.values()))
    used = [example for example in examples if example.cited.any()]
    if not used:
        return dict(weights)

    def loss(w: npt.NDArray[np.float64]) -> tuple[float, npt.NDArray[np.float64]]:
        total = PENALTY * float(np.sum((w - start) ** 2))
        slope = 2 * PENALTY * (w - start)
        for example in used:
            scores = example.signals @ w
            chances = np.exp(scores - scores.max())
            chances /= chances.sum()
            inside = float(chances[example.cited].sum())
            total -= np.log(max(inside, 1e-300))
            expected = example.signals.T @ chances
            among = example.signals[example.cited].T @ chances[example.cited] / max(inside, 1e-300)
            slope = slope - (among - expected)
        return total, slope

    found = minimize(loss, start, jac=True, method="L-BFGS-B", bounds=[(0.0, None)] * len(start))
    return {name: float(value) / SCALE for name, value in zip(weights, found.x, strict=True)}


def cross_fitted(
    examples: Sequence[Example], folds: int = 5, seed: int = 0, weights: Mapping[str, float] = WEIGHTS
) -> list[dict[str, float]]:
    """For each example weights that learnt from other groups alone.

    Args:
        examples: in any order.
        folds: parts into which the groups are dealt; fewer where there are fewer groups.
        seed: shuffles the groups.
        weights: the untrained ones, which stand where there is nothing else to learn from.
    """
    groups = sorted({example.group for example in examples})
    np.random.default_rng(seed).shuffle(groups)
    fold_of = {group: place % max(min(folds, len(groups)), 1) for place, group in enumerate(groups)}
    learnt = {
        fold: learn([one for one in examples if fold_of[one.group] != fold], weights)
        for fold in sorted(set(fold_of.values()))
    }
    return [learnt[fold_of[example.group]] for example in examples]

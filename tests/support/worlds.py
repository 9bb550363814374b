"""Small random worlds of questions with two outcomes, and predictions of them, for tests of the evaluation."""

from __future__ import annotations

import numpy as np
import polars as pl

from apportion.evaluation.pairs import Pairs

SEEDS = (11, 22, 33)


def pairs(n: int = 40, filings: int = 12, seed: int = 0) -> Pairs:
    """Questions with graded outcomes and whole-token costs."""
    draw = np.random.default_rng(seed)
    cheap, deep = draw.integers(0, 5, n) / 4, draw.integers(0, 5, n) / 4
    tokens = draw.integers(200, 5_000, n)
    frame = pl.DataFrame(
        {
            "question_id": [f"q{i:04d}" for i in range(n)],
            "group": [f"f{draw.integers(filings)}" for _ in range(n)],
            "family": [("metrics", "domain", "novel")[i % 3] for i in range(n)],
            "cheap_quality": cheap,
            "deep_quality": deep,
            "cheap_correct": cheap > 0.5,
            "deep_correct": deep > 0.5,
            "cheap_tokens": draw.integers(100, 900, n),
            "deep_tokens": tokens,
            "deep_input_tokens": tokens - 50,
            "deep_output_tokens": np.full(n, 50),
        }
    )
    return Pairs(frame, left_out=0)


def predictions(world: Pairs, *, perfect: bool = False, seed: int = 1) -> pl.DataFrame:
    """Predictions of gain and cost under three seeds: noisy, or perfect."""
    draw = np.random.default_rng(seed)
    parts = []
    for number in SEEDS:
        for target, model, actual in (
            ("gain", "ridge_boosting", world.gain),
            ("cost", "exact_prompt", world.values("deep_tokens")),
        ):
            noise = 0.0 if perfect else draw.normal(0, 0.4 if target == "gain" else 90, len(world))
            parts.append(
                pl.DataFrame(
                    {
                        "target": target,
                        "model": model,
                        "seed": number,
                        "question_id": world.frame["question_id"],
                        "fold": 0,
                        "predicted": actual + noise,
                        "actual": actual,
                    }
                )
            )
    return pl.concat(parts)


def features(world: Pairs, seed: int = 2) -> pl.DataFrame:
    """The signals that the baselines read; some are unknown."""
    draw = np.random.default_rng(seed)
    confidence = [None if draw.random() < 0.1 else float(draw.random()) for _ in range(len(world))]
    return pl.DataFrame(
        {
            "question_id": world.frame["question_id"],
            "cheap_confidence": confidence,
            "cheap_refused": draw.random(len(world)) < 0.3,
            "margin": draw.random(len(world)),
            "score_first": draw.random(len(world)),
            "coverage_cheap": draw.random(len(world)),
        }
    )

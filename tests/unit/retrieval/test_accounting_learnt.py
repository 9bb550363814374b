"""Weights learnt from cited pages."""

from __future__ import annotations

import numpy as np
import pytest

from apportion.retrieval.accounting.learnt import PENALTY, SCALE, Example, cross_fitted, learn

WEIGHTS = {"telling": 0.2, "noise": 0.2}


def examples(seed: int, count: int = 30, groups: int = 10) -> list[Example]:
    """Questions whose cited page is the one with the largest first signal; the second one is noise."""
    draws = np.random.default_rng(seed)
    made = []
    for place in range(count):
        signals = draws.random((12, 2))
        cited = np.zeros(12, np.bool_)
        cited[signals[:, 0].argmax()] = True
        made.append(Example(f"filing-{place % groups}", signals, cited))
    return made


def test_what_tells_outweighs_what_doesn_t() -> None:
    learnt = learn(examples(1), WEIGHTS)
    assert learnt["telling"] > 1.0
    assert learnt["telling"] > 3 * learnt["noise"]
    assert all(weight >= 0 for weight in learnt.values())


def test_the_optimum_is_one() -> None:
    """No step in either direction lowers the penalised loss, computed plainly."""
    made = examples(2)
    found = learn(made, WEIGHTS)

    def loss(weights: np.ndarray) -> float:
        total = PENALTY * SCALE**2 * np.sum((weights - 0.2) ** 2)
        for one in made:
            chances = np.exp(SCALE * one.signals @ weights)
            total -= np.log(chances[one.cited].sum() / chances.sum())
        return float(total)

    best = np.array(list(found.values()))
    for step in (0.05, -0.05):
        for place in range(2):
            moved = best.copy()
            moved[place] = max(0.0, moved[place] + step)
            assert loss(moved) >= loss(best) - 1e-6


def test_without_cited_pages_the_untrained_weights_stand() -> None:
    nothing = Example("f", np.ones((3, 2)), np.zeros(3, np.bool_))
    assert learn([nothing], WEIGHTS) == WEIGHTS
    assert cross_fitted([examples(3)[0]], weights=WEIGHTS) == [WEIGHTS]


def test_a_filing_s_own_questions_never_move_its_weights() -> None:
    made = examples(4)
    before = cross_fitted(made, weights=WEIGHTS)
    changed = [
        Example(one.group, 1.0 - one.signals, one.cited) if one.group == "filing-3" else one for one in made
    ]
    after = cross_fitted(changed, weights=WEIGHTS)
    own = [place for place, one in enumerate(made) if one.group == "filing-3"]
    assert all(before[place] == pytest.approx(after[place]) for place in own)
    assert before != after

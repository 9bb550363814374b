"""The budget's arithmetic over thousands of batches, with the code that the gateway decides with."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apportion.llm.budget import Amount, State, decide, exceedance_level, score, upper_quantile

BATCHES = 10_000
RISK = 0.05


@dataclass(frozen=True)
class Batch:
    """Calls in order: estimated input, worst case and actual tokens; and the budget."""

    estimate: list[int]
    output_limit: list[int]
    worst: list[int]
    actual: list[int]
    limit: int
    concurrency: int


def draw(rng: np.random.Generator) -> tuple[Batch, list[float]]:
    """A batch of 20 to 500 calls with random prompts and answers, a budget below their demand, and past scores."""
    n = int(rng.integers(20, 501))
    past = int(rng.integers(200, 2000))
    shape = rng.choice(["lognormal", "uniform", "short", "two kinds"])
    limit = int(rng.choice([128, 384, 1024]))
    prompt = np.minimum(rng.lognormal(7.4, 0.5, n + past), 20_000).astype(int) + 20
    if shape == "lognormal":
        share = rng.lognormal(-2, 0.8, n + past)
    elif shape == "uniform":
        share = rng.uniform(0, 1, n + past)
    elif shape == "short":
        share = rng.exponential(0.05, n + past)
    else:
        share = np.where(rng.random(n + past) < 0.1, 1.0, rng.uniform(0.02, 0.1, n + past))
    output = np.clip(np.ceil(share * limit), 1, limit).astype(int)
    # The tokenizer's estimate errs a little; the bound on the prompt holds.
    estimate = np.maximum(1, np.round(prompt * rng.normal(1.0, 0.005, n + past))).astype(int)
    bound = (np.maximum(prompt, estimate) * rng.uniform(1.02, 1.3)).astype(int) + 80
    actual = prompt + output
    scores = sorted(score(a, e, limit) for a, e in zip(actual[n:], estimate[n:], strict=True))
    budget = int(actual[:n].sum() * rng.uniform(0.1, 0.9))
    batch = Batch(
        estimate[:n].tolist(),
        [limit] * n,
        (bound[:n] + limit).tolist(),
        actual[:n].tolist(),
        budget,
        int(rng.integers(1, 33)),
    )
    return batch, scores


def spend(batch: Batch, scores: list[float] | None) -> int:
    """Tokens spent on a batch: admitted in order, up to ``concurrency`` in flight, the oldest settling first."""
    state = State(batch.limit, None)
    flying: list[tuple[int, Amount]] = []

    def settle() -> None:
        nonlocal state
        position, hold = flying.pop(0)
        state = replace(
            state,
            spent=state.spent + Amount(batch.actual[position]),
            held=state.held + Amount(-hold.tokens),
            in_flight=state.in_flight - 1,
        )

    for position, worst in enumerate(batch.worst):
        if len(flying) == batch.concurrency:
            settle()
        level_of = None
        if scores is not None:
            base, unit = batch.estimate[position], batch.output_limit[position]

            def level_of(amount: Amount, base: int = base, unit: int = unit) -> float:
                return exceedance_level(scores, score(amount.tokens, base, unit))

        while (decision := decide(state, Amount(worst), risk=RISK, level_of=level_of)).verdict == "wait":
            settle()
        if decision.verdict == "send":
            flying.append((position, decision.hold))
            state = replace(
                state,
                held=state.held + decision.hold,
                in_flight=state.in_flight + 1,
                risk_used=state.risk_used + decision.risk_taken,
            )
    while flying:
        settle()
    return state.spent.tokens


@pytest.mark.slow
def test_ten_thousand_batches() -> None:
    rng = np.random.default_rng(20)
    over, hard_used, soft_used = 0, [], []
    for _ in range(BATCHES):
        batch, scores = draw(rng)
        hard, soft = spend(batch, None), spend(batch, scores)
        assert hard <= batch.limit
        over += soft > batch.limit
        hard_used.append(hard / batch.limit)
        soft_used.append(soft / batch.limit)
    print(
        f"overspent {over} of {BATCHES}; used: hard {np.mean(hard_used):.4f}, calibrated {np.mean(soft_used):.4f}"
    )
    assert over / BATCHES <= RISK + 3 * math.sqrt(RISK * (1 - RISK) / BATCHES)
    assert np.mean(soft_used) >= 0.97
    assert np.mean(soft_used) >= np.mean(hard_used)


@settings(deadline=None)
@given(st.lists(st.floats(-1, 1), max_size=60), st.floats(-1, 1), st.floats(0.01, 0.99))
def test_levels_and_quantiles_are_two_sides_of_one_rule(
    scores: list[float], threshold: float, level: float
) -> None:
    scores.sort()
    assert exceedance_level(scores, threshold) == (1 + sum(s > threshold for s in scores)) / (len(scores) + 1)
    quantile = upper_quantile(scores, level)
    if quantile is None:
        assert level < 1 / (len(scores) + 1) + 1e-9
    else:
        assert exceedance_level(scores, quantile) <= level + 1e-9


@settings(deadline=None)
@given(
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.integers(0, 1000),
    st.integers(1, 500),
    st.floats(0, 1),
    st.booleans(),
)
def test_a_hard_cap_admits_exactly_what_fits(
    limit: int, spent: int, held: int, worst: int, level: float, hard: bool
) -> None:
    state = State(limit, None, Amount(spent), Amount(held), in_flight=int(held > 0))
    decision = decide(state, Amount(worst), risk=0.05, level_of=None if hard else lambda _: level)
    if spent + held + worst <= limit:
        assert (decision.verdict, decision.hold, decision.risk_taken) == ("send", Amount(worst), 0.0)
    elif spent + worst <= limit:
        assert decision.verdict == "wait"
    elif hard or level > 0.025 or spent >= limit:
        assert decision.verdict == "leave_out"
    else:
        assert decision.verdict == ("wait" if held else "send")
        if not held:
            assert (decision.hold.tokens, decision.risk_taken) == (limit - spent, level)

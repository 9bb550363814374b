"""The router with a floor: violation rate, power, and what it plays where nothing is certified."""

from __future__ import annotations

import itertools

import numpy as np
import polars as pl
import pytest

from apportion.prediction.training import TooFewFilings, grouped_folds
from apportion.routing.arms import Arms
from apportion.routing.certified import certified_choices, certify, power, softened, three_valued
from apportion.routing.collected import chosen_fixed, collected
from apportion.routing.evidence import log_evidence, mean_at_least, rejected
from apportion.routing.reversal import best_fixed

PRICES = [0.0, 0.02, 0.05]


def routed_log(filings: int, seed: int, *, signal: bool) -> tuple[Arms, pl.DataFrame]:
    """Two questions a filing; with a signal the first arm is right where x is 0, the second where it is 1."""
    rng = np.random.default_rng(seed)
    n = 2 * filings
    x = rng.integers(0, 2, n)
    chance = np.where(x[:, None] == [[0, 1]], 0.8, 0.3) if signal else np.full((n, 2), 0.55)
    quality = (rng.random((n, 2)) < chance).astype(float)
    keys = [f"q{i:05d}" for i in range(n)]
    arms = Arms(
        ("a", "b"), keys, quality, np.tile([1.0, 2.0], (n, 1)), [f"f{i // 2}" for i in range(n)], ["k"] * n
    )
    return arms, pl.DataFrame({"question_id": keys, "x": x.astype(float), "noise": rng.random(n)})


def test_without_a_gain_it_certifies_in_at_most_the_nominal_share_of_draws() -> None:
    for filings, spread in ((500, 0.2), (60, 0.5)):
        wrong = power(0.0, spread, filings, draws=2000, seed=11)
        assert wrong <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 2000)
    assert power(0.0, 0.2, 200, draws=500, seed=12, policies=12) <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 500)


def test_with_a_gain_it_certifies_most_draws_and_more_as_filings_grow() -> None:
    grown = [power(0.05, 0.2, filings, draws=400, seed=13) for filings in (100, 250, 500)]
    assert grown[2] >= 0.8
    assert grown[0] < grown[1] < grown[2]


def test_skewed_losses_do_not_fool_it() -> None:
    """Small gains nearly always and a rare total loss: a normal approximation is certain far too often."""
    rng = np.random.default_rng(5)
    certified = normal = 0
    for _ in range(1000):
        losses = rng.random((60, 1)) < 1 / 51
        differences = np.where(losses, -1.0, 0.02)  # mean 0
        certified += bool(rejected(log_evidence(differences), 0.05)[0])
        spread = differences.std(ddof=1) / np.sqrt(60)
        normal += bool(differences.mean() > 1.645 * spread)
    assert certified / 1000 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 1000)
    assert normal / 1000 > 0.2


def test_simulated_differences_have_the_mean_and_spread_asked_for() -> None:
    for mean, spread in ((0.05, 0.2), (0.05, 0.5), (0.3, 0.1)):
        drawn = three_valued(np.random.default_rng(1), mean, spread, (200_000,))
        assert drawn.mean() == pytest.approx(mean, abs=0.005)
        assert drawn.std() == pytest.approx(spread, abs=0.005)
    with pytest.raises(ValueError, match="spread"):
        power(0.0, 1.5, 10, draws=1, seed=0)


def test_closed_testing_is_that_of_every_subset() -> None:
    rng = np.random.default_rng(2)
    for _ in range(50):
        values = rng.lognormal(2, 1.5, 5)
        expected = []
        for i in range(5):
            others = [j for j in range(5) if j != i]
            companies = itertools.chain.from_iterable(itertools.combinations(others, m) for m in range(5))
            expected.append(all(values[[i, *company]].mean() >= 20 for company in companies))
        assert rejected(np.log(values), 0.05).tolist() == expected


def test_bounds_hold_and_agree_with_the_evidence() -> None:
    rng = np.random.default_rng(3)
    missed = 0
    for _ in range(300):
        drawn = three_valued(rng, 0.1, 0.5, (80, 3))
        bounds = mean_at_least(drawn, 0.1)
        assert (bounds <= drawn.mean(axis=0)).all()
        assert log_evidence(drawn, bounds) == pytest.approx(np.log(30), abs=0.01)
        missed += bool((bounds > 0.1).any())
    assert missed / 300 <= 0.1 + 2 * np.sqrt(0.09 / 300)


def test_a_loss_larger_than_allowed_is_refused() -> None:
    with pytest.raises(ValueError, match="below −1"):
        log_evidence(np.array([[-1.5]]))


def test_a_real_gain_is_certified_and_played() -> None:
    arms, features = routed_log(400, 1, signal=True)
    found = certify(arms, features, PRICES)
    assert all(c.certified for c in found.certificates)
    assert all(0 < c.gain_at_least < c.gain for c in found.certificates)
    chosen = found.choose(features)
    assert (chosen[0] == features["x"].to_numpy()).mean() > 0.95


def test_where_nothing_is_certified_it_is_the_best_fixed_arm() -> None:
    arms, features = routed_log(60, 2, signal=False)
    found = certify(arms, features, PRICES)
    assert not any(c.certified for c in found.certificates)
    for place, price in enumerate(PRICES):
        assert (found.choose(features)[place] == best_fixed(arms, price)).all()
        assert found.certificates[place].margin is None
    chosen, routed = certified_choices(arms, features, PRICES, seeds=(1,))
    assert not routed.any()
    assert all(len(set(row)) <= 2 for row in chosen[0].tolist())


def test_what_nothing_certified_decides_is_the_chosen_fixed_arm_on_every_row() -> None:
    """Also where the chosen arm is not the best of the held-out questions, and where some folds certify."""
    differed = partly = 0
    for filings, seed, signal in ((60, 2, False), (40, 5, False), (90, 3, True), (150, 1, True)):
        arms, features = routed_log(filings, seed, signal=signal)
        seeds = (1, 2)
        chosen, routed = certified_choices(arms, features, PRICES, seeds)
        fixed = chosen_fixed(arms, PRICES, seeds)
        assert (chosen[~routed] == fixed[~routed]).all()
        partly += bool(routed.any() and not routed.all())
        for place, found in enumerate(collected(arms, chosen, PRICES, chosen=fixed, resamples=50)):
            over = found.gain_over_chosen
            assert over is not None
            assert over.estimate is not None
            assert over.estimate >= (found.gain.estimate or 0.0) - 1e-12
            if not routed[:, place].any():
                assert (over.estimate, over.low, over.high) == (0.0, 0.0, 0.0)
                differed += found.gain.estimate != 0
    assert differed  # the chosen arm does fall behind hindsight somewhere, or this would show nothing
    assert partly


def test_the_chosen_fixed_arm_is_the_best_of_the_other_filings() -> None:
    arms, _ = routed_log(30, 4, signal=False)
    fixed = chosen_fixed(arms, [0.0, 0.3], (7,))
    folds = grouped_folds(arms.groups, 7)
    for fold in range(int(folds.max()) + 1):
        seen = folds != fold
        for place, price in enumerate((0.0, 0.3)):
            best = int((arms.quality[seen].mean(axis=0) - price * arms.cost[seen].mean(axis=0)).argmax())
            assert (fixed[0, place, ~seen] == best).all()


def test_realised_violations_of_the_whole_procedure_are_rare() -> None:
    """Fitted and certified from nothing but noise, again and again: at most the nominal share is certified."""
    wrong = sum(
        any(c.certified for c in certify(*routed_log(60, seed, signal=False), PRICES).certificates)
        for seed in range(100)
    )
    assert wrong <= 10  # 5 expected at most; 10 is beyond two standard errors


def test_the_margin_keeps_small_advantages_at_home() -> None:
    quality, cost = np.array([[0.5, 0.55], [0.5, 0.9]]), np.ones((2, 2))
    assert softened(quality, cost, 0.0, 0, 0.0).tolist() == [1, 1]
    assert softened(quality, cost, 0.0, 0, 0.1).tolist() == [0, 1]
    assert softened(quality, cost, 0.0, 1, 0.0).tolist() == [1, 1]


def test_a_dear_arm_that_is_never_played_costs_no_certainty() -> None:
    arms, features = routed_log(400, 1, signal=True)
    third = Arms(
        ("a", "b", "whole filing"),
        arms.keys,
        np.column_stack([arms.quality, np.zeros(len(arms))]),
        np.column_stack([arms.cost, np.full(len(arms), 200.0)]),
        arms.groups,
        arms.families,
    )
    found = certify(third, features, PRICES)
    assert all(c.certified for c in found.certificates)
    assert all(2 not in may for may in found.allowed)
    # Were it allowed, a single question could lose ten times what all can gain.
    dear = certify(arms, features, [0.05], cost_caps=(200.0, 200.0))
    assert not dear.certificates[0].certified


def test_what_cannot_be_certified_is_refused() -> None:
    arms, features = routed_log(1, 0, signal=True)
    with pytest.raises(TooFewFilings):
        certify(arms, features, PRICES)
    with pytest.raises(ValueError, match="risk"):
        certify(*routed_log(5, 0, signal=True), PRICES, risk=0.0)

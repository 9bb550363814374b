"""Fitted routers: held out by filing, calibrated, and measured against the best fixed arm."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest
from scipy.stats import ttest_rel
from sklearn.linear_model import Ridge

from apportion.routing.arms import Arms, utilities
from apportion.routing.collected import collected, paired_p_value, router_choices
from apportion.routing.gap import jensen_gap
from apportion.routing.quadratic import PENALTIES, QuadraticRidge
from apportion.routing.routers import (
    ROUTERS,
    Predicted,
    Router,
    arm_calibration,
    calibration_error,
    held_out,
    in_sample,
)

SEEDS = (1, 2)


def learnable(n: int = 240, seed: int = 0) -> tuple[Arms, pl.DataFrame]:
    """The first arm is good where x is small, the second where it is large; the third never is."""
    rng = np.random.default_rng(seed)
    x = rng.random(n)
    chance = np.column_stack([0.9 - 0.7 * x, 0.2 + 0.7 * x, np.full(n, 0.1)])
    keys = [f"q{i:04d}" for i in range(n)]
    arms = Arms(
        ("a", "b", "c"),
        keys,
        (rng.random((n, 3)) < chance).astype(float),
        np.column_stack([np.ones(n), 1 + x, np.full(n, 3.0)]),
        [f"f{i // 3}" for i in range(n)],
        ["k"] * n,
    )
    unknown = [None if i % 11 == 0 else float(rng.random()) for i in range(n)]
    return arms, pl.DataFrame(
        {"question_id": keys[::-1], "x": x[::-1], "noise": unknown, "kind": ["u", "v"] * (n // 2)}
    )


@pytest.mark.parametrize("kind", ROUTERS)
def test_a_router_finds_what_can_be_found_and_looks_better_in_sample(kind: str) -> None:
    arms, features = learnable()
    prices = [0.0, 0.05]
    gains = {}
    for split, predict in (("held_out", held_out), ("in_sample", in_sample)):
        told = predict(arms, features, kind, SEEDS)
        assert told.quality.shape == (2, 240, 3)
        assert 0 <= told.quality.min() <= told.quality.max() <= 1
        found = collected(arms, router_choices(told, prices), prices, resamples=200)
        gains[split] = [one.gain.estimate for one in found]
        for one, gap in zip(found, jensen_gap(arms, prices, resamples=10), strict=True):
            assert one.gap == pytest.approx(gap.gap.estimate)
            assert one.share_of_gap is not None
            assert one.share_of_gap <= 1
    assert min(gains["held_out"]) > 0.03  # type: ignore[type-var]
    assert all(a > b for a, b in zip(gains["in_sample"], gains["held_out"], strict=True))  # type: ignore[operator]


def test_predictions_know_nothing_of_their_own_filing() -> None:
    """Outcomes turned round on one filing leave the predictions for that filing as they were."""
    arms, features = learnable(60)
    before = held_out(arms, features, "ridge", (3,))
    mine = np.array([group == "f4" for group in arms.groups])
    turned = Arms(
        arms.routes,
        arms.keys,
        np.where(mine[:, None], 1 - arms.quality, arms.quality),
        np.where(mine[:, None], 9.0, arms.cost),
        arms.groups,
        arms.families,
    )
    after = held_out(turned, features, "ridge", (3,))
    assert (before.quality[:, mine] == after.quality[:, mine]).all()
    assert (before.cost[:, mine] == after.cost[:, mine]).all()
    assert (before.quality[:, ~mine] != after.quality[:, ~mine]).any()


def test_quadratic_ridge_is_sklearns_on_the_same_design() -> None:
    rng = np.random.default_rng(4)
    for n, p in ((80, 3), (20, 8)):
        matrix = rng.normal(size=(n, p))
        target = np.clip(0.5 + 0.2 * matrix[:, :2] * matrix[:, 1:3] + 0.05 * rng.normal(size=(n, 2)), 0, 1)
        groups = [f"f{i // 2}" for i in range(n)]
        model = QuadraticRidge(5).fit(matrix, target, groups)
        standard = (matrix - matrix.mean(axis=0)) / matrix.std(axis=0)
        left, right = np.triu_indices(p)
        wide = np.column_stack([standard, standard[:, left] * standard[:, right]])
        wide = (wide - wide.mean(axis=0)) / wide.std(axis=0)
        other = Ridge(alpha=model.penalties).fit(wide, target).predict(wide)
        assert model.predict(matrix) == pytest.approx(np.clip(other, 0, 1), abs=1e-8)
        assert set(model.penalties) <= set(PENALTIES)


def test_noise_gets_a_strong_penalty_and_a_signal_a_weak_one() -> None:
    rng = np.random.default_rng(6)
    matrix = rng.normal(size=(200, 2))
    target = np.column_stack([np.clip(0.5 + 0.2 * matrix[:, 0] ** 2, 0, 1), rng.random(200)])
    signal, noise = QuadraticRidge(1).fit(matrix, target, [f"f{i}" for i in range(200)]).penalties
    assert signal < 100 < noise


def test_the_signals_router_reads_the_benefit_models_signals() -> None:
    arms, features = learnable(120)
    told = features.select("question_id", refusal_phrases="x", cheap_refused="noise")
    collect = [
        collected(arms, router_choices(held_out(arms, told, kind, (1,)), [0.0]), [0.0], resamples=2)[0].gain
        for kind in ("signals", "boosting")
    ]
    assert (collect[0].estimate or 0.0) > 0.03 > (collect[1].estimate or 0.0)


def test_a_router_of_one_known_cost_predicts_it_exactly() -> None:
    arms, features = learnable(60)
    frame = pl.DataFrame({"question_id": list(arms.keys)}).join(features, on="question_id", how="left")
    _, cost = Router("ridge", 0).fit(frame, arms.quality, arms.cost, arms.groups).predict(frame)
    assert (cost[:, 0] == 1.0).all()
    assert (cost[:, 2] == 3.0).all()
    with pytest.raises(ValueError, match="unknown"):
        Router("oracle", 0)
    with pytest.raises(ValueError, match="no features"):
        held_out(arms, features.head(10), "ridge", SEEDS)


@pytest.mark.parametrize("kind", ROUTERS)
def test_a_feature_that_is_always_unknown_changes_nothing(kind: str) -> None:
    arms, features = learnable(60)
    with_it = features.with_columns(pl.lit(None, dtype=pl.Float64).alias("confidence"))
    one, other = (held_out(arms, known, kind, (3,)) for known in (features, with_it))
    assert (one.quality == other.quality).all()
    assert (one.cost == other.cost).all()


def test_calibration_error_of_known_bins() -> None:
    told = np.array([0.05, 0.05, 0.95, 0.95])
    assert calibration_error(told, np.array([0.0, 0.1, 1.0, 0.9])) == pytest.approx(0.0)
    assert calibration_error(told, np.array([1.0, 1.0, 0.0, 0.0])) == pytest.approx(0.95)
    both = Predicted(np.stack([told[:, None], told[:, None]]), np.zeros((2, 4, 1)))
    assert arm_calibration(both, np.array([[1.0], [1.0], [0.0], [0.0]])) == pytest.approx([0.95])


def test_p_value_is_the_paired_t_test_where_every_question_is_a_filing() -> None:
    rng = np.random.default_rng(7)
    a, b = rng.random(40), rng.random(40) + 0.1
    found = paired_p_value(a - b, [f"f{i}" for i in range(40)])
    assert found == pytest.approx(ttest_rel(a, b).pvalue)
    assert paired_p_value(np.zeros(4), ["a", "b", "c", "d"]) is None
    # Copies of a question on its filing are no news.
    assert paired_p_value(np.repeat(a - b, 5), np.repeat(np.arange(40), 5)) == pytest.approx(found)


def test_what_is_collected_is_the_mean_over_seeds_of_what_was_played() -> None:
    arms, _ = learnable(30)
    choices = np.random.default_rng(8).integers(0, 3, (2, 1, 30))
    found = collected(arms, choices, [0.1], resamples=50)[0]
    utility = utilities(arms.quality, arms.cost, 0.1)
    played = np.mean([utility[np.arange(30), one[0]].mean() for one in choices])
    assert found.utility == pytest.approx(played)
    assert found.gain.estimate == pytest.approx(played - utility.mean(axis=0).max())

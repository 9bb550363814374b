"""The laboratory: its draws, its shape over many seeds, and proposition 5 where E[Q | φ] can be simulated."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import ive

from apportion.routing.gap import jensen_gap
from apportion.routing.laboratory import CLASSES, Setting, corpus, softmax, study, unit, von_mises_fisher
from apportion.routing.laboratory_study import PRICES, figures, proposition_5, summary, sweep
from apportion.routing.routers import excess_loss


@cache
def shown() -> dict[str, tuple[float, float, float]]:
    frame = summary(Setting(), range(200))
    return {row["figure"]: (row["low"], row["median"], row["high"]) for row in frame.iter_rows(named=True)}


def test_draws_have_the_mean_length_of_von_mises_and_fisher() -> None:
    rng = np.random.default_rng(0)
    for d, concentration in ((3, 5.0), (32, 45.0), (32, 300.0)):
        mean = unit(rng.normal(size=(1, d)))
        drawn = von_mises_fisher(rng, np.repeat(mean, 20_000, axis=0), concentration)
        assert np.linalg.norm(drawn, axis=1) == pytest.approx(1.0)
        expected = ive(d / 2, concentration) / ive(d / 2 - 1, concentration)
        cosine = drawn @ mean[0]
        assert cosine.mean() == pytest.approx(expected, abs=4 * cosine.std() / np.sqrt(20_000))
        assert np.linalg.norm(drawn.mean(axis=0) - expected * mean[0]) < 0.02


def test_a_bridge_names_a_company_of_another_sector_at_its_angle() -> None:
    setting = Setting(bridge_concentration=1e7)
    found = corpus(setting, np.random.default_rng(1))
    assert (found.sector[found.named] != found.sector).all()
    bridges = found.passages[-16:]
    assert np.rad2deg(np.arccos((bridges * found.companies).sum(axis=1))) == pytest.approx(40, abs=0.5)
    assert len(found.passages) == 16 * 4 + 16


def test_the_same_seed_gives_the_same_study_and_another_corpus_seed_other_companies() -> None:
    one, again, other = study(seed=3), study(seed=3), study(seed=4)
    assert (one.quality == again.quality).all()
    assert (one.quality != other.quality).any()
    assert one.calibration.sum() == 36
    assert [int(one.calibration[np.array(one.classes) == name].sum()) for name in CLASSES] == [12, 12, 12]


def test_known_queries_are_right_under_every_arm() -> None:
    assert all(shown()[f"right:known:{arm}"] == (24, 24, 24) for arm in ("none", "single", "iterate"))


def test_a_single_retrieval_never_reaches_the_named_company_and_iteration_does() -> None:
    assert shown()["right:bridge:single"][1] == 0
    assert shown()["right:bridge:none"][1] == 0
    assert shown()["right:bridge:iterate"][1] >= 10


def test_there_is_a_gap_and_in_sample_flatters() -> None:
    for price in PRICES:
        assert shown()[f"gap:{price:g}"][0] > 0
        assert shown()[f"gain:{price:g}"][1] < shown()[f"gain_in_sample:{price:g}"][1]
        assert shown()[f"gain:{price:g}"][1] < shown()[f"gap:{price:g}"][1]


def test_reading_nothing_more_makes_iteration_single() -> None:
    one = study(Setting(retrievals=1), 5)
    assert (one.quality[:, 1] == one.quality[:, 2]).all()


def test_the_gap_closes_where_arms_stop_changing_places() -> None:
    """Where retrieval is dear enough nobody retrieves."""
    found = study(seed=2)
    assert figures(found, [50.0], router=False)["gap:50"] == 0
    gap = jensen_gap(found.arms(~found.calibration), [0.1], resamples=50)[0]
    assert gap.gap.estimate == pytest.approx(figures(found, [0.1], router=False)["gap:0.1"])


def test_sweep_moves_one_parameter_and_keeps_the_others() -> None:
    table = sweep(range(3), {"bridge_angle": [0.0, 40.0]}, [0.05])
    assert table["value"].unique().sort().to_list() == [0.0, 40.0]
    still = table.filter(pl.col("value") == 40).drop("parameter", "value")
    assert still.equals(summary(Setting(), range(3), [0.05], router=False))
    # Without an angle a bridge passage names nobody, and iterating reaches nobody.
    reached = table.filter(pl.col("figure") == "right:bridge:iterate").sort("value")["median"].to_list()
    assert reached[0] < reached[1]


@pytest.mark.parametrize("seed", range(5))
def test_proposition_5_holds_in_the_laboratory(seed: int) -> None:
    found = proposition_5(Setting(), seed, population=1000)
    assert found["worst"].max() <= 1e-12  # type: ignore[operator]
    assert (found["excess_loss"] >= 0).all()
    assert (found["excess_loss"] <= found["bound"]).all()


@given(
    rows=st.lists(st.tuples(*[st.floats(0, 1)] * 6), min_size=1, max_size=6),
    cost=st.tuples(*[st.floats(0, 5)] * 3),
    price=st.floats(0, 3),
)
def test_proposition_5_holds_for_any_estimates(
    rows: list[tuple[float, ...]], cost: tuple[float, ...], price: float
) -> None:
    both = np.array(rows)
    loss, bound = excess_loss(both[:, :3], both[:, 3:], np.broadcast_to(cost, (len(rows), 3)), price)
    assert (loss >= 0).all()
    assert (loss <= bound + 1e-12).all()


def test_what_the_cross_sector_feature_is_worth_depends_on_the_price() -> None:
    """It is most of the gain at middle prices, where telling bridge queries apart is all there is to gain."""
    for price, most in (("0.05", True), ("0.1", True), ("0.2", False)):
        lost = shown()[f"gain:{price}"][1] - shown()[f"gain_without_cross_sector:{price}"][1]
        assert lost > 0
        assert (lost > shown()[f"gain:{price}"][1] / 2) is most


def test_softmax_and_settings() -> None:
    assert softmax(np.array([[1000.0, 1000.0]])) == pytest.approx(np.array([[0.5, 0.5]]))
    with pytest.raises(ValueError, match="temperature"):
        replace(Setting(), temperature=0.0)
    with pytest.raises(ValueError, match="sectors"):
        Setting(sectors=1)

"""The benefit models: what they learn, what is held out from them, and what they may not read."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from graded_answers import tables, training

from apportion.evaluation.pairs import pair_outcomes
from apportion.evaluation.prediction_tables import (
    input_groups,
    learning_figures,
    prediction_quality,
    reliability,
)
from apportion.prediction.benefit import Chance
from apportion.prediction.crossfit import crossfit, fit_benefit, in_sample
from apportion.prediction.ensemble import NAME as PAPER_MODEL
from apportion.prediction.pool import AnswerPool
from apportion.prediction.quality import auroc
from apportion.prediction.selection import BENEFIT_NAMES, SELECTED, WEIGHTED, Scored
from apportion.prediction.texts import TextBoosting, TextParts
from apportion.prediction.training import Training


@pytest.fixture(scope="module")
def predicted() -> tuple[Training, pl.DataFrame]:
    made = training()
    return made, crossfit(made, seeds=(11,))


def test_every_model_predicts_every_question_once(predicted: tuple[Training, pl.DataFrame]) -> None:
    made, rows = predicted
    counted = rows.group_by("target", "model").agg(pl.len(), pl.col("question_id").n_unique().alias("n"))
    assert set(counted["len"]) == {made.features.height} == set(counted["n"])
    models = set(rows.filter(pl.col("target") == "gain")["model"])
    assert models == {"ridge_boosting", *BENEFIT_NAMES, WEIGHTED, SELECTED}


def test_the_model_in_use_finds_what_a_refusal_means(predicted: tuple[Training, pl.DataFrame]) -> None:
    made, rows = predicted
    assert made.helped is not None
    scores = rows.filter((pl.col("target") == "gain") & (pl.col("model") == WEIGHTED)).sort("question_id")
    found = auroc(made.helped.astype(np.float64), scores["predicted"].to_numpy())
    assert found is not None
    assert found > 0.8


def test_nothing_of_a_held_out_filing_is_learnt_from(predicted: tuple[Training, pl.DataFrame]) -> None:
    made, rows = predicted
    fold = rows.filter(pl.col("target") == "gain").unique("question_id")
    held_out = set(fold.filter(pl.col("fold") == 0)["question_id"])
    assert made.pool is not None
    upset = made.pool.answers.with_columns(
        correct=pl.when(pl.col("question_id").is_in(list(held_out)))
        .then(~pl.col("correct"))
        .otherwise("correct")
    )
    assert made.helped is not None
    assert made.hurt is not None
    out = made.features["question_id"].is_in(list(held_out)).to_numpy()
    turned = Training(
        made.features, made.groups, np.where(out, -made.gain, made.gain), made.input_tokens, made.output_tokens,
        made.helped ^ out, made.hurt ^ out, AnswerPool(upset, made.pool.key),
    )  # fmt: skip
    again = crossfit(turned, seeds=(11,))
    targets = pl.col("target").is_in(["help", "hurt", "gain"]) & pl.col("question_id").is_in(list(held_out))
    before, after = (
        r.filter(targets).sort("target", "model", "question_id").select("target", "model", "predicted")
        for r in (rows, again)
    )
    assert before.equals(after)


def test_the_paper_ensemble_can_be_selected_and_weights_follow_the_figures() -> None:
    """Gains that only the paper's features show: the ensemble is chosen, and still no label is needed to predict."""
    made = training(8)
    assert made.helped is not None
    told = made.features.with_columns(cheap_confidence=pl.Series(1.0 - made.helped))
    better = Training(
        told, made.groups, made.gain, made.input_tokens, made.output_tokens, made.helped, made.hurt, made.pool
    )
    found = fit_benefit(better, 11)[SELECTED]
    assert isinstance(found, Scored)
    helps, _ = found.chances(told)
    assert auroc(made.helped.astype(np.float64), helps) == 1.0
    weighted = fit_benefit(made, 11)[WEIGHTED]
    assert isinstance(weighted, Scored)
    assert sum(weighted.weights.values()) == pytest.approx(1.0)
    assert set(weighted.weights) == {"blend", "text_boosting"}


def test_parts_of_texts_are_learnt_from_the_training_texts_alone_and_absent_safe() -> None:
    texts = [
        "capital expenditure of the year",
        "capital expenditure last year",
        "dividends paid",
        "dividends",
    ]
    parts = TextParts(2).fit(texts)
    told = parts.transform([*texts, "capital expenditure", "unheard words"])
    assert told.shape == (6, 2)
    near = told[:2] @ told[4]
    assert near.min() > (told[2:4] @ told[4]).max()
    assert not told[5].any()
    assert not TextParts().fit(["", ""]).transform(["a b"]).any()
    assert not TextParts().fit(["one", "two"]).transform(["one"]).any()


def test_trees_that_read_texts_find_what_only_the_question_shows() -> None:
    made = training(10)
    assert made.pool is not None
    kinds = made.features.with_columns(
        question_text=pl.Series(["segment detail" if h else "annual total" for h in made.helped.tolist()])  # type: ignore[union-attr]
    ).drop("refuses", "refusal_phrases")
    asked = kinds.select("question_id", "question_text")
    answers = made.pool.answers.drop("refuses", "refusal_phrases").join(asked, on="question_id")
    model = TextBoosting(1, ("answer_words",)).fit(AnswerPool(answers, made.pool.key))
    helps, hurts = model.chances(kinds)
    assert auroc(made.helped.astype(np.float64), helps) == 1.0  # type: ignore[union-attr]
    assert np.ptp(hurts) == 0


def test_features_are_the_same_whatever_the_labels_say() -> None:
    assert training(4).features.equals(training(4, flip=True).features)


def test_predictions_repeat_to_the_bit() -> None:
    assert crossfit(training(3), seeds=(11,)).equals(crossfit(training(3), seeds=(11,)))


def test_more_signs_of_refusal_never_lower_the_monotone_gain() -> None:
    made = training()
    model = fit_benefit(made, 11)["monotone_boosting"]
    gains = []
    for phrases in range(4):
        helps, hurts = model.chances(made.features.with_columns(refusal_phrases=pl.lit(phrases)))
        gains.append(helps - hurts)
    assert all((after >= before - 1e-12).all() for before, after in pairwise(gains))


def test_an_event_that_never_varies_has_its_base_rate() -> None:
    rows = pl.DataFrame({"x": [1.0, 2.0, 3.0]})
    chance = Chance(["x"]).fit(rows, np.zeros(3, dtype=np.bool_))
    assert chance.predict(rows).tolist() == [0.125] * 3


def test_published_figures_hold_ceiling_difference_and_bins(predicted: tuple[Training, pl.DataFrame]) -> None:
    made, rows = predicted
    pairs = pair_outcomes(*tables(), "cheap", "deep")
    figures = prediction_quality(pairs, rows, in_sample(made, seeds=(11,)), gain_model=WEIGHTED)
    value = {
        (r["model"], r["split"], r["target"], r["metric"]): r["value"] for r in figures.iter_rows(named=True)
    }
    held = {name: value[name, "held_out", "gain", "auroc"] for name in ("blend", "ridge_boosting")}
    assert value["blend", "held_out", "gain", "auroc_less_ridge_boosting"] == pytest.approx(
        held["blend"] - held["ridge_boosting"]
    )
    wrong = (~pairs.frame["cheap_correct"]).to_numpy().astype(np.float64)
    assert value["perfect_detector", "held_out", "gain", "auroc"] == auroc(pairs.helped.astype(float), wrong)
    assert set(figures.filter(pl.col("in_use"))["model"]) == {WEIGHTED, "exact_prompt"}
    bins = reliability(rows)
    assert bins.group_by("target", "model").agg(pl.col("questions").sum())[
        "questions"
    ].unique().to_list() == [48]
    for name in (WEIGHTED, PAPER_MODEL):
        figured = learning_figures(made, name, 11)
        assert set(figured["model"]) == {name}
        learnt = dict(figured.select("metric", "value").iter_rows())
        told = [g for g, inputs in input_groups(name).items() if set(inputs) & set(made.features.columns)]
        assert {f"auroc_shuffled:{group}" for group in told} <= learnt.keys()
        assert {"auroc_learnt_from:0.25", "auroc_learnt_from:0.75"} <= learnt.keys()
        assert all(0 <= figure <= 1 for figure in learnt.values())
        if name == WEIGHTED:  # what it reads of a refusal is most of what it knows
            assert learnt["auroc_shuffled:refusal"] < value[WEIGHTED, "held_out", "gain", "auroc"]


def test_unknown_costs_teach_and_test_no_cost() -> None:
    made = training(6)
    tokens = made.input_tokens.copy()
    tokens[:5] = np.nan
    some = Training(made.features, made.groups, made.gain, tokens, made.output_tokens)
    rows = crossfit(some, seeds=(11,)).filter(pl.col("target") == "cost")
    assert rows.group_by("model").agg(pl.col("actual").null_count())["actual"].to_list() == [5, 5]
    assert rows["predicted"].is_finite().all()
    none = Training(made.features, made.groups, made.gain, tokens * np.nan, made.output_tokens)
    assert "cost" not in crossfit(none, seeds=(11,))["target"].to_list()


def test_an_encoders_vectors_are_read_in_the_place_of_words() -> None:
    made = training(10)
    assert made.pool is not None
    assert made.helped is not None
    telling = pl.Series([[1.0, 0.0, float(h)] for h in made.helped.tolist()], dtype=pl.List(pl.Float32))
    told = made.features.drop("refuses", "refusal_phrases").with_columns(
        question_vector=telling, answer_vector=pl.lit([0.0, 0.0, 0.0], dtype=pl.List(pl.Float32))
    )
    vectors = told.select("question_id", "question_vector", "answer_vector")
    answers = made.pool.answers.drop("refuses", "refusal_phrases").join(vectors, on="question_id")
    model = TextBoosting(1, ("answer_words",)).fit(AnswerPool(answers, made.pool.key))
    assert auroc(made.helped.astype(np.float64), model.chances(told)[0]) == 1.0
    with pytest.raises(ValueError, match="lack question_vector"):
        model.chances(made.features)

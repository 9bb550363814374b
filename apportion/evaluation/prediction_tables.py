"""The published figures of the predictors: held out beside in sample, with filing-clustered intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import polars as pl

from apportion.bootstrap import statistic_interval
from apportion.evaluation.pairs import Floats, Pairs
from apportion.features.kinds import FEATURE_GROUPS
from apportion.features.signals import SIGNAL_GROUPS
from apportion.prediction.cost import COST_MODEL_IN_USE
from apportion.prediction.crossfit import few_threads, fit_gain
from apportion.prediction.design import TEXTS, VECTORS
from apportion.prediction.ensemble import NAME as PAPER_MODEL
from apportion.prediction.quality import CHANCE, RANKING, REGRESSION, Metric, auroc
from apportion.prediction.selection import SELECTED, WEIGHTED
from apportion.prediction.texts import TextBoosting
from apportion.prediction.training import SEEDS, Training, grouped_folds

QUALITY_RESAMPLES = 500
"""Resamples for the figures of the predictors, which are computed anew on every resample."""

CEILING = "perfect_detector"
"""A detector that knows which cheap answers are wrong, and nothing of the deep ones: the ceiling of such signals."""

LEARNT_FROM = (0.25, 0.5, 0.75)
CHANCES = ("help", "hurt")


def prediction_quality(
    pairs: Pairs,
    held_out: pl.DataFrame,
    in_sample: pl.DataFrame,
    *,
    gain_model: str = PAPER_MODEL,
    seed: int = 0,
) -> pl.DataFrame:
    """Rows of `prediction_quality`: figures averaged over the seeds, with filing-clustered intervals.

    Gain predictions are measured as regression and as a ranking of the questions that the deep call helps; chances as
    chances. ``auroc_less_ridge_boosting`` is a model's AUROC less that of the paper's ensemble on the same resamples.
    Rows whose actual value is unknown test nothing.

    Args:
        pairs: the graded questions.
        held_out: rows of `predictions` of the pair.
        in_sample: predictions of the rows that the models were fitted on.
        gain_model: the benefit model that the policies use.
        seed: of the resamples.
    """
    helped = pl.DataFrame(
        {"question_id": pairs.frame["question_id"], "helped": pairs.helped, "group": pairs.groups}
    )
    rows: list[dict[str, Any]] = []
    for split, predictions in (("held_out", held_out), ("in_sample", in_sample)):
        tested = predictions.filter(pl.col("actual").is_not_null()).join(helped, on="question_id")
        parts = {
            (target, model): part
            for (target, model), part in tested.partition_by("target", "model", as_dict=True).items()
        }
        for target, model in sorted(parts):
            for metric, figure in _metrics(target):
                truth = "helped" if target == "gain" and metric in RANKING else "actual"
                # Of the chances, the model in use alone has intervals: each is hundreds of figures.
                wanted = split == "held_out" and (target not in CHANCES or model == gain_model)
                value, low, high = _averaged(parts[target, model], truth, figure, seed, with_interval=wanted)
                rows.append(_row(target, model, split, metric, value, low, high))
            paper = parts.get(("gain", PAPER_MODEL))
            if target == "gain" and split == "held_out" and model != PAPER_MODEL and paper is not None:
                figures = _difference(parts[target, model], paper, seed)
                rows.append(_row(target, model, split, f"auroc_less_{PAPER_MODEL}", *figures))
    wrong = (~pairs.frame["cheap_correct"]).to_numpy().astype(np.float64)
    knows = helped.with_columns(seed=pl.lit(0), predicted=pl.Series(wrong))
    for metric in RANKING:
        value, low, high = _averaged(knows, "helped", RANKING[metric], seed, with_interval=True)
        rows.append(_row("gain", CEILING, "held_out", metric, value, low, high))
    in_use = pl.col("model").is_in([gain_model, COST_MODEL_IN_USE]).alias("in_use")
    return pl.DataFrame(rows, infer_schema_length=None).with_columns(in_use)


def learning_figures(training: Training, gain_model: str = PAPER_MODEL, seed: int = SEEDS[0]) -> pl.DataFrame:
    """Rows of `prediction_quality` on how the gain model in use learns, held out, under one seed.

    ``auroc_shuffled:GROUP`` is its AUROC with one group of its inputs permuted among the held-out questions;
    ``auroc_learnt_from:SHARE`` with that share of the training filings alone. A group that the features lack has none.
    """
    if training.helped is None:
        raise ValueError("learning figures rank helped questions, which this training lacks")
    folds = grouped_folds(training.groups, seed)
    there = {
        group: [name for name in names if name in training.features.columns]
        for group, names in input_groups(gain_model).items()
    }
    shuffled = {group: np.zeros(len(folds)) for group, names in there.items() if names}
    learnt = {share: np.zeros(len(folds)) for share in LEARNT_FROM}
    with few_threads(training):
        for fold in range(int(folds.max()) + 1):
            out = folds == fold
            tested, seen = training.features.filter(pl.Series(out)), training.part(~out)
            held_out = training.groups_at(out)
            model = fit_gain(seen, gain_model, seed, without=held_out)
            order = np.random.default_rng([seed, fold]).permutation(tested.height)
            for group, scores in shuffled.items():
                mixed = tested.with_columns(tested[name].gather(order) for name in there[group])
                scores[out] = model.predict(mixed)
            known = set(seen.groups) if training.pool is None else {*training.pool.answers["group"]}
            kept = sorted(known - held_out)
            drawn = np.random.default_rng([seed, fold, 1]).permutation(len(kept))
            for share, scores in learnt.items():
                gone = {kept[i] for i in drawn[max(round(share * len(kept)), 2) :]}
                part = seen.part(np.array([group not in gone for group in seen.groups]))
                if part.features.height:
                    few = fit_gain(part, gain_model, seed, without=held_out | gone)
                    scores[out] = few.predict(tested)
    truth = training.helped.astype(np.float64)
    figures = {f"auroc_shuffled:{group}": auroc(truth, scores) for group, scores in shuffled.items()}
    figures |= {f"auroc_learnt_from:{share}": auroc(truth, scores) for share, scores in learnt.items()}
    rows = [_row("gain", gain_model, "held_out", name, value) for name, value in figures.items()]
    return pl.DataFrame(
        rows, schema_overrides=dict.fromkeys(("value", "ci_low", "ci_high"), pl.Float64)
    ).with_columns(in_use=pl.lit(value=True))


def input_groups(gain_model: str) -> dict[str, tuple[str, ...]]:
    """The inputs of a gain model by kind; `selected` may read them all."""
    if gain_model == PAPER_MODEL:
        return FEATURE_GROUPS
    if gain_model == SELECTED:
        return FEATURE_GROUPS | SIGNAL_GROUPS | {"texts": (*TEXTS, *VECTORS)}
    read = {"question": FEATURE_GROUPS["question"]} | SIGNAL_GROUPS
    return read | {"texts": (*TEXTS, *VECTORS)} if gain_model in (WEIGHTED, TextBoosting.name) else read


def reliability(held_out: pl.DataFrame, bins: int = 5) -> pl.DataFrame:
    """Rows of `reliability`: predicted chances beside what happened, in bins of equal numbers of questions.

    Args:
        held_out: rows of `predictions` of a pair; targets help and hurt are read, averaged over the seeds.
        bins: how many.
    """
    mean = (
        held_out.filter(pl.col("target").is_in(["help", "hurt"]) & pl.col("actual").is_not_null())
        .group_by("target", "model", "question_id")
        .agg(pl.col("predicted").mean(), pl.col("actual").first())
        .sort("target", "model", "predicted", "question_id")
    )
    place = pl.int_range(pl.len()).over("target", "model")
    size = pl.len().over("target", "model")
    return (
        mean.with_columns(bin=(place * bins // size + 1).cast(pl.Int64))
        .group_by("target", "model", "bin")
        .agg(
            pl.len().cast(pl.Int64).alias("questions"),
            pl.col("predicted").mean(),
            pl.col("actual").mean().alias("observed"),
        )
        .sort("target", "model", "bin")
    )


def _metrics(target: str) -> Iterator[tuple[str, Metric]]:
    if target in CHANCES:
        yield from (RANKING | CHANCE).items()
        return
    yield from ((name, metric) for name, metric in REGRESSION.items() if target != "gain" or name != "mape")
    if target == "gain":
        yield from RANKING.items()


def _row(
    target: str,
    model: str,
    split: str,
    metric: str,
    value: float | None,
    low: float | None = None,
    high: float | None = None,
) -> dict[str, Any]:
    return {
        "target": target,
        "model": model,
        "split": split,
        "metric": metric,
        "value": value,
        "ci_low": low,
        "ci_high": high,
    }


def _wide(part: pl.DataFrame, truth: str) -> tuple[Floats, Floats, list[str]]:
    wide = part.pivot(on="seed", index=["question_id", truth, "group"], values="predicted").sort(
        "question_id"
    )
    predicted = wide.drop("question_id", truth, "group").to_numpy()
    return wide[truth].cast(pl.Float64).to_numpy(), predicted, wide["group"].to_list()


def _mean_over_seeds(metric: Metric, actual: Floats, predicted: Floats, counts: Floats) -> float:
    rows = np.repeat(np.arange(len(actual)), counts.astype(np.int64))
    values = [metric(actual[rows], predicted[rows, column]) for column in range(predicted.shape[1])]
    known = [value for value in values if value is not None]
    return float(np.mean(known)) if known and len(known) == len(values) else float("nan")


def _averaged(
    part: pl.DataFrame, truth: str, metric: Metric, seed: int, *, with_interval: bool
) -> tuple[float | None, float | None, float | None]:
    actual, predicted, groups = _wide(part, truth)
    if not with_interval:
        value = _mean_over_seeds(metric, actual, predicted, np.ones(len(actual)))
        return (None if np.isnan(value) else value), None, None
    interval = statistic_interval(
        lambda counts: _mean_over_seeds(metric, actual, predicted, counts),
        groups,
        resamples=QUALITY_RESAMPLES,
        seed=seed,
    )
    return interval.estimate, interval.low, interval.high


def _difference(
    part: pl.DataFrame, baseline: pl.DataFrame, seed: int
) -> tuple[float | None, float | None, float | None]:
    actual, predicted, groups = _wide(part, "helped")
    _, other, _ = _wide(baseline, "helped")
    interval = statistic_interval(
        lambda counts: (
            _mean_over_seeds(auroc, actual, predicted, counts)
            - _mean_over_seeds(auroc, actual, other, counts)
        ),
        groups,
        resamples=QUALITY_RESAMPLES,
        seed=seed,
    )
    return interval.estimate, interval.low, interval.high

"""What the benefit models learn from: graded answers of a set and of its sister sets, with their signals."""

from collections.abc import Sequence

import polars as pl

from apportion.evaluation.pairs import question_groups
from apportion.features.decision import question_features
from apportion.features.logged import Contexts, answer_rows
from apportion.prediction.ensemble import NAME as PAPER_MODEL
from apportion.prediction.pool import AnswerPool, PairKey
from assets.encoding import with_vectors
from assets.reading import pages_version, set_questions
from assets.resources import Comparison
from warehouse.store import Store

MOST_ANSWERS = 20_000
"""Answers that a pool takes of one set: whole questions, evenly over their ids."""

MOST_PAGES = 10
"""Pages of a context that is read again for its figures; a whole filing supports any figure."""


def sister_sets(store: Store, outcome_set: str) -> list[str]:
    """The set itself, then those that share its name up to a colon: other models on the same questions."""
    family, colon, _ = outcome_set.partition(":")
    if not colon:
        return [outcome_set]
    others = [name for name in store.slices("questions", "outcome_set") if name.startswith(f"{family}:")]
    return [outcome_set, *(name for name in others if name != outcome_set)]


def answer_pool(store: Store, outcome_set: str, comparison: Comparison, judge: str) -> AnswerPool:
    """Every answer that the judge graded in the set and its sisters."""
    frames = [_graded(store, name, judge, encoder_of(comparison)) for name in sister_sets(store, outcome_set)]
    return AnswerPool(
        pl.concat([frame for frame in frames if frame is not None], how="vertical_relaxed"),
        PairKey(outcome_set, comparison.cheap, comparison.deep),
    )


def judge_of(store: Store, outcome_set: str, comparison: Comparison) -> str:
    """Whose grades of a set are learnt from."""
    return comparison.judge or str(store.read("route_quality", {"outcome_set": outcome_set})["judge"][0])


def pool_of_sets(store: Store, sets: Sequence[str], comparison: Comparison) -> AnswerPool:
    """Every graded answer of some sets, taken as one set.

    Their sister sets stay out: the set that is decided on may be one of them.
    """
    name = "+".join(sets)
    frames = [
        (one, _graded(store, one, judge_of(store, one, comparison), encoder_of(comparison))) for one in sets
    ]
    return AnswerPool(
        pl.concat(
            [
                graded.with_columns(
                    outcome_set=pl.lit(name), question_id=pl.concat_str(pl.lit(f"{one}/"), "question_id")
                )
                for one, graded in frames
                if graded is not None
            ],
            how="vertical_relaxed",
        ),
        PairKey(name, comparison.cheap, comparison.deep),
    )


def features_with_texts(
    store: Store, outcome_set: str, comparison: Comparison, known: pl.DataFrame
) -> pl.DataFrame:
    """Features of a pair with the texts of question and cheap answer."""
    told = with_texts(
        known.with_columns(pl.lit(comparison.cheap).alias("route")),
        set_questions(store, outcome_set),
        store.read("route_outcomes", {"outcome_set": outcome_set}),
        encoder_of(comparison),
    )
    return told.drop("route")


def encoder_of(comparison: Comparison) -> str | None:
    """What encodes texts; the paper's ensemble reads none."""
    return None if comparison.gain_model == PAPER_MODEL else comparison.text_encoder


def _graded(store: Store, outcome_set: str, judge: str, encoder: str | None) -> pl.DataFrame | None:
    where = {"outcome_set": outcome_set}
    grades = (
        store.read("route_quality", where)
        .filter((pl.col("judge") == judge) & pl.col("correct").is_not_null())
        .select("question_id", "route", "correct")
    )
    if grades.is_empty():
        return None
    asked = set_questions(store, outcome_set)
    step = -(-grades.height // MOST_ANSWERS)
    asked = asked.sort("question_id").gather_every(step)
    outcomes = store.read("route_outcomes", where).join(grades, on=["question_id", "route"], how="semi")
    signals = answer_rows(asked, outcomes, contexts_of(store, outcome_set, outcomes))
    return (
        with_texts(signals, asked, outcomes, encoder)
        .join(grades, on=["question_id", "route"])
        .join(question_features(asked), on="question_id")
        .join(question_groups(asked).select("question_id", "group"), on="question_id")
        .with_columns(outcome_set=pl.lit(outcome_set))
        .sort("question_id", "route")
    )


def with_texts(
    rows: pl.DataFrame, asked: pl.DataFrame, outcomes: pl.DataFrame, encoder: str | None
) -> pl.DataFrame:
    """Rows of answers, by question and route, with the texts that a benefit model may read, and their vectors."""
    questions = asked.select("question_id", pl.col("text").alias("question_text"))
    answers = outcomes.select("question_id", "route", pl.col("answer").alias("answer_text"))
    told = rows.join(questions, on="question_id", how="left").join(
        answers, on=["question_id", "route"], how="left"
    )
    return told if encoder is None else with_vectors(told, encoder)


def contexts_of(store: Store, outcome_set: str, outcomes: pl.DataFrame) -> Contexts:
    """The text that each answer was made from, by question and route, where the pages are known and few.

    Pages are read from the snapshot that the set keeps to.
    """
    wanted = (
        outcomes.filter(pl.col("context").list.len().is_between(1, MOST_PAGES))
        .select("question_id", "route", "context")
        .explode("context")
        .unnest("context")
    )
    if wanted.is_empty():
        return {}
    pages = (
        store.scan("pages", version=pages_version(store, outcome_set))
        .join(
            wanted.lazy().select("filing_id", "page_number").unique(),
            on=["filing_id", "page_number"],
            how="semi",
        )
        .select("filing_id", "page_number", "text")
        .collect()
    )
    texts: dict[tuple[str, str], list[str]] = {}
    joined = wanted.join(pages, on=["filing_id", "page_number"]).sort(
        "question_id", "route", "filing_id", "page_number"
    )
    for question, route, text in joined.select("question_id", "route", "text").iter_rows():
        texts.setdefault((question, route), []).append(text)
    return {key: "\n".join(parts) for key, parts in texts.items()}

"""The two outcomes of each question, side by side: what every table of a pair of routes is computed from."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.features.consistency import samples_of

Floats = npt.NDArray[np.float64]

COLUMNS: dict[str, pl.DataType | type[pl.DataType]] = {
    "question_id": pl.String,
    "group": pl.String,
    "family": pl.String,
    "cheap_quality": pl.Float64,
    "deep_quality": pl.Float64,
    "cheap_correct": pl.Boolean,
    "deep_correct": pl.Boolean,
    "cheap_tokens": pl.Int64,
    "deep_tokens": pl.Int64,
    "deep_input_tokens": pl.Int64,
    "deep_output_tokens": pl.Int64,
}


@dataclass(frozen=True)
class Pairs:
    """Questions whose two outcomes are graded and whose tokens are known, in the order of their ids.

    ``left_out`` counts the set's questions that are not here: not asked on both routes, without a graded pass, or
    without a token count.
    """

    frame: pl.DataFrame
    left_out: int

    def __len__(self) -> int:
        return self.frame.height

    def values(self, column: str) -> Floats:
        """One column as floats, shape (questions,)."""
        return self.frame[column].cast(pl.Float64).to_numpy()

    @property
    def groups(self) -> list[str]:
        """The filing of each question; a question without one is a group of its own."""
        return self.frame["group"].to_list()

    @cached_property
    def gain(self) -> Floats:
        """Quality of the deep answer less that of the cheap one."""
        return self.values("deep_quality") - self.values("cheap_quality")

    @cached_property
    def helped(self) -> npt.NDArray[np.bool_]:
        """Wrong by the cheap route, right by the deep one."""
        return self.frame.select(~pl.col("cheap_correct") & pl.col("deep_correct")).to_series().to_numpy()

    @cached_property
    def hurt(self) -> npt.NDArray[np.bool_]:
        """Right by the cheap route, wrong by the deep one."""
        return self.frame.select(pl.col("cheap_correct") & ~pl.col("deep_correct")).to_series().to_numpy()


def question_groups(questions: pl.DataFrame) -> pl.DataFrame:
    """question_id, family and group of each question: its filing, else the first it cites, else the group
    its source gives it, else itself."""
    cited = pl.col("evidence").list.first().struct.field("filing_id")
    return questions.select(
        "question_id",
        "family",
        pl.coalesce(
            pl.col("filing_id"),
            cited,
            pl.lit("group:")
            + (pl.col("question_group") if "question_group" in questions.columns else pl.lit(None)),
            pl.lit("question:") + pl.col("question_id"),
        ).alias("group"),
    )


def pair_outcomes(
    questions: pl.DataFrame,
    outcomes: pl.DataFrame,
    quality: pl.DataFrame,
    cheap_route: str,
    deep_route: str,
    *,
    costed: bool = True,
) -> Pairs:
    """Join two routes' outcomes and grades by question.

    Args:
        questions: rows of `questions` of one set.
        outcomes: its rows of `route_outcomes`.
        quality: its rows of `route_quality` of one judge.
        cheap_route, deep_route: the pair; further samples of the cheap route are charged to it.
        costed: leave out questions without token counts; else they stay, with unknown tokens, to learn gains from.

    Raises:
        ValueError: a route has no outcome in the set, or the grades are of more than one judge.
    """
    if quality["judge"].n_unique() > 1:
        judges = ", ".join(quality["judge"].unique().sort())
        raise ValueError(f"grades of several judges ({judges}); choose one with --judge")
    frame = question_groups(questions)
    for side, route in (("cheap", cheap_route), ("deep", deep_route)):
        answered = outcomes.filter(pl.col("route") == route)
        if answered.is_empty():
            known = ", ".join(outcomes["route"].unique().sort()) or "none"
            raise ValueError(f"no outcome of route {route!r} in the set; routes there: {known}")
        graded = quality.filter(pl.col("route") == route).select(
            "question_id",
            pl.col("quality").alias(f"{side}_quality"),
            pl.col("correct").alias(f"{side}_correct"),
        )
        spent = answered.select(
            "question_id",
            pl.col("total_tokens").alias(f"{side}_tokens"),
            pl.col("input_tokens").alias(f"{side}_input_tokens"),
            pl.col("output_tokens").alias(f"{side}_output_tokens"),
        )
        if side == "cheap":
            spent = _with_samples(spent, outcomes, route)
        frame = frame.join(spent, on="question_id", how="left").join(graded, on="question_id", how="left")
    needed = [name for name in COLUMNS if name != "family" and (costed or not name.endswith("_tokens"))]
    usable = frame.select(*COLUMNS).drop_nulls(needed).sort("question_id")
    return Pairs(usable, frame.height - usable.height)


def _with_samples(spent: pl.DataFrame, outcomes: pl.DataFrame, route: str) -> pl.DataFrame:
    """The cheap call's tokens with those of further samples of its route, which were drawn before the decision."""
    further = outcomes.filter(samples_of(route))
    if further.is_empty():
        return spent
    # One unknown count makes the sum unknown.
    unknown = pl.col("total_tokens").null_count() > 0
    added = further.group_by("question_id").agg(
        pl.when(unknown).then(None).otherwise(pl.col("total_tokens").sum()).alias("further"),
        pl.lit(value=True).alias("sampled"),
    )
    total = pl.when(pl.col("sampled").fill_null(value=False)).then(pl.col("cheap_tokens") + pl.col("further"))
    return (
        spent.join(added, on="question_id", how="left")
        .with_columns(total.otherwise(pl.col("cheap_tokens")).alias("cheap_tokens"))
        .drop("further", "sampled")
    )

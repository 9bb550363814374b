"""Questions × arms: what each arm's answer was worth and what it cost, and the rule that chooses one arm a question.

The expected loss of arm a is c_err · (1 − Q_a) + c_a, so the best arm is argmax of Q_a − λ·c_a with λ = 1 / c_err
(adaptive routing, theorem 1). With the two arms *emit* (quality s, cost 0) and *abstain* (quality 0, cost
c_abs − c_err) that is Chow's rule: emit where s > 1 − c_abs / c_err.

Ties go to the cheaper arm, then to the first: with emit and abstain a tie abstains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.allocation.inputs import finite

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

TOKENS_A_UNIT = 1000.0
"""Prices are quality per 1,000 tokens; costs are held in that unit."""


@dataclass(frozen=True)
class Arms:
    """A log of n questions answered by K arms, in the order of the keys.

    Attributes:
        routes: names of the arms; after the cheap answer the first is the one already paid for.
        keys: unique, one a question.
        quality: in [0, 1], shape (n, K).
        cost: in units of the price (1,000 tokens; retrieval calls in the laboratory), shape (n, K); NaN is unknown.
        groups: the filing of each question.
        families: the kind of each question.
        left_out: questions of the set that aren't graded on every arm.
    """

    routes: tuple[str, ...]
    keys: Sequence[str]
    quality: Floats
    cost: Floats
    groups: Sequence[str]
    families: Sequence[str]
    left_out: int = 0

    def __post_init__(self) -> None:
        n, k = len(self.keys), len(self.routes)
        if k < 2 or len(set(self.routes)) < k:
            raise ValueError(
                f"routes are {', '.join(self.routes) or 'none'}: a choice needs two or more, each once"
            )
        quality = finite("quality", self.quality, self.keys)
        if quality.shape != (n, k) or self.cost.shape != (n, k):
            raise ValueError(
                f"quality has shape {quality.shape}, cost {self.cost.shape}: give one of each for {n} questions "
                f"and {k} arms"
            )
        if len(self.groups) != n or len(self.families) != n:
            raise ValueError(f"{len(self.groups)} groups and {len(self.families)} families for {n} questions")
        if np.isinf(self.cost).any():
            raise ValueError("a cost is infinite: leave an unknown cost as NaN")

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def costed(self) -> Flags:
        """Questions whose cost is known for every arm, shape (n,)."""
        return np.asarray(~np.isnan(self.cost).any(axis=1))

    def at_price(self, price: float) -> Arms:
        """The questions that count at a price: all at 0, those with every cost known above it."""
        known = self.costed
        return self if price == 0 or known.all() else self.rows(known)

    def rows(self, keep: Flags) -> Arms:
        """Some of the questions; the others are counted in ``left_out``."""
        at = np.flatnonzero(keep).tolist()
        return Arms(
            self.routes,
            [self.keys[i] for i in at],
            self.quality[at],
            self.cost[at],
            [self.groups[i] for i in at],
            [self.families[i] for i in at],
            self.left_out + len(self) - len(at),
        )


def check_price(price: float) -> float:
    """The price itself.

    Raises:
        ValueError: it is negative or not finite.
    """
    if not np.isfinite(price) or price < 0:
        raise ValueError(f"price is {price}: give quality per 1,000 tokens, 0 or more")
    return float(price)


def utilities(quality: Floats, cost: Floats, price: float) -> Floats:
    """Q − λ·C, the same shape; at price 0 unknown costs don't matter."""
    if price == 0:
        return np.asarray(quality, dtype=np.float64)
    utility: Floats = quality - price * cost
    return utility


def choose(quality: Floats, cost: Floats, price: float) -> Ints:
    """The K-action rule: each question's best arm, shape (n,).

    Args:
        quality: true, logged or estimated, shape (n, K).
        cost: shape (n, K); unknown ones (NaN) tie as the dearest at price 0 and are refused above it.
        price: λ.

    Raises:
        ValueError: a cost is unknown where the price is above 0.
    """
    if price > 0 and np.isnan(cost).any():
        raise ValueError("a cost is unknown: leave its question out, or choose at price 0")
    utility = utilities(quality, cost, check_price(price))
    best = utility.max(axis=1, keepdims=True)
    known = np.where(np.isnan(cost), np.inf, cost)
    among = utility == best
    least = np.min(known, axis=1, keepdims=True, where=among, initial=np.inf)
    # argmax takes the first of equals.
    arms: Ints = np.argmax(among & (known == least), axis=1).astype(np.int64)
    return arms


def chow(score: Floats, abstention_cost: float, error_cost: float) -> Flags:
    """Chow's rule as the K-action rule over emit and abstain: whether to emit, shape (n,).

    Args:
        score: probability that the answer is right, shape (n,).
        abstention_cost: loss of not answering, 0 or more.
        error_cost: loss of answering wrongly, above 0.
    """
    if error_cost <= 0 or abstention_cost < 0:
        raise ValueError(
            f"costs are {abstention_cost} and {error_cost}: an error costs more than 0, abstaining 0 or more"
        )
    s = np.asarray(score, dtype=np.float64)
    quality = np.column_stack([s, np.zeros_like(s)])
    cost = np.column_stack([np.zeros_like(s), np.full_like(s, abstention_cost - error_cost)])
    emits: Flags = choose(quality, cost, 1.0 / error_cost) == 0
    return emits


def stage_costs(tokens: Floats, stage: str) -> Floats:
    """Costs of the arms at a stage, in 1,000 tokens.

    At the front door each arm costs its whole self. After the cheap answer that of the first arm is sunk for every
    arm: it costs nothing more, a deeper arm its whole call on top.

    Args:
        tokens: of each whole arm, shape (n, K), the cheap arm first; NaN is unknown.
        stage: ``front_door`` or ``after_cheap``.
    """
    if stage not in ("front_door", "after_cheap"):
        raise ValueError(f"stage {stage!r} is unknown: choose front_door or after_cheap")
    cost = np.asarray(tokens, dtype=np.float64) / TOKENS_A_UNIT
    if stage == "after_cheap":
        cost = cost.copy()
        cost[:, 0] = 0.0
    return cost


def arms_of(
    questions: pl.DataFrame, outcomes: pl.DataFrame, quality: pl.DataFrame, routes: Sequence[str], stage: str
) -> Arms:
    """The arms of a set's log.

    Args:
        questions: question_id, family and group, a row a question.
        outcomes: its rows of `route_outcomes`.
        quality: its rows of `route_quality` of one judge; a failed route is there with quality 0.
        routes: the arms, the cheap one first.
        stage: what is sunk.

    Raises:
        ValueError: a route has no outcome, grades are of several judges, or no question is graded on every arm.
    """
    if quality["judge"].n_unique() > 1:
        judges = ", ".join(quality["judge"].unique().sort())
        raise ValueError(f"grades of several judges ({judges}); choose one with --judge")
    known = outcomes["route"].unique().sort().to_list()
    for route in routes:
        if route not in known:
            raise ValueError(
                f"no outcome of route {route!r} in the set; routes there: {', '.join(known) or 'none'}"
            )
    frame = questions.select("question_id", "family", "group")
    for number, route in enumerate(routes):
        graded = quality.filter(pl.col("route") == route).select(
            "question_id", pl.col("quality").alias(f"q{number}")
        )
        spent = outcomes.filter(pl.col("route") == route).select(
            "question_id", pl.col("total_tokens").cast(pl.Float64).alias(f"c{number}")
        )
        frame = frame.join(graded, on="question_id", how="left").join(spent, on="question_id", how="left")
    columns = range(len(routes))
    usable = frame.drop_nulls([f"q{number}" for number in columns]).sort("question_id")
    if usable.is_empty():
        raise ValueError(f"no question is graded on each of {', '.join(routes)}")
    return Arms(
        tuple(routes),
        usable["question_id"].to_list(),
        usable.select(f"q{number}" for number in columns).to_numpy().astype(np.float64),
        stage_costs(
            usable.select(pl.col(f"c{number}").fill_null(np.nan) for number in columns).to_numpy(), stage
        ),
        usable["group"].to_list(),
        usable["family"].fill_null("unknown").to_list(),
        frame.height - usable.height,
    )

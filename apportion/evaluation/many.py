"""One deep route of several for each question: every policy at every budget, from the pairs' held-out predictions.

The cheap answer is there; each deep route costs its whole call on top. Gains and costs over the cheap route come from
the predictions of each pair. A budget is a share of what the dearest call for everybody is predicted to cost.

| policy | which questions | which deep route |
|---|---|---|
| `gain_per_token` | steps of the path, the best gain per token first, each taken if it fits | the path's |
| `gain_only` | the largest predicted gain first, first-fit | that of the largest predicted gain |
| `knapsack` | all at once, the most predicted gain within the budget (`multiple_choice`) | its own |
| `oracle_cost_knapsack`, `oracle` | likewise, by measured costs, and by measured gains too | its own |
| `random`, `low_confidence`, `low_margin`, `refusal` | as with one deep route | the dearest: they know no gains |
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.allocation.candidates import Candidates
from apportion.allocation.greedy import first_fit
from apportion.allocation.multiple_choice import multiple_choice
from apportion.allocation.path import allocation_path
from apportion.allocation.policies import (
    KNAPSACK_UNIT,
    ORACLE_POLICIES,
    POLICIES,
    budget_levels,
    policy_order,
)
from apportion.allocation.several import walk
from apportion.evaluation.pairs import Floats, Pairs
from apportion.evaluation.sweep import BUDGETS, GAIN_POLICIES, predicted_by, unknown_as_nan, whole_costs

Ints = npt.NDArray[np.int64]


@dataclass(frozen=True)
class ManyRoutes:
    """Questions graded, and their tokens known, on the cheap route and on every deep one, in the order of their ids.

    Attributes:
        routes: the deep ones, the dearest by mean tokens last.
        keys, groups: question ids, and the filing of each.
        quality, correct, tokens: of the cheap route first, then of each deep one, shape (n, K).
        left_out: questions of the set that aren't here.
    """

    routes: tuple[str, ...]
    keys: list[str]
    groups: list[str]
    quality: Floats
    correct: Floats
    tokens: Floats
    left_out: int

    @classmethod
    def of(cls, pairs: Mapping[str, Pairs]) -> ManyRoutes:
        """From the pairs of one cheap route with each deep one.

        Raises:
            ValueError: no question has both outcomes on all of them.
        """
        frames = [
            pair.frame.select(
                "question_id",
                "group",
                *(pl.col(f"cheap_{what}").alias(f"{what}:") for what in ("quality", "correct", "tokens")),
                *(
                    pl.col(f"deep_{what}").alias(f"{what}:{route}")
                    for what in ("quality", "correct", "tokens")
                ),
            )
            for route, pair in pairs.items()
        ]
        shared = ["question_id", "group", "quality:", "correct:", "tokens:"]
        joined = reduce(
            lambda one, other: one.join(other.drop(shared[1:]), on="question_id"),
            frames,
        ).sort("question_id")
        if joined.is_empty():
            raise ValueError(
                f"no question is graded and has its tokens counted on each of {', '.join(pairs)}"
            )
        means = {route: float(joined[f"tokens:{route}"].mean()) for route in pairs}  # type: ignore[arg-type]
        routes = tuple(sorted(pairs, key=lambda route: (means[route], route)))

        def columns(what: str) -> Floats:
            names = [f"{what}:", *(f"{what}:{route}" for route in routes)]
            return joined.select(pl.col(names).cast(pl.Float64)).to_numpy()

        asked = max(len(pair) + pair.left_out for pair in pairs.values())
        return cls(
            routes,
            joined["question_id"].to_list(),
            joined["group"].to_list(),
            columns("quality"),
            columns("correct"),
            columns("tokens"),
            asked - joined.height,
        )


@dataclass(frozen=True)
class ManySweep:
    """What each policy chose; members as in `Sweep`.

    Attributes:
        log: the questions and their outcomes.
        policies, seeds, budgets: the axes.
        arms: 0 for the cheap answer, else the number of the deep route from 1, shape
            (policies, seeds, budgets, questions).
        limits: whole tokens allowed, shape (policies, seeds, budgets).
        predicted_cost: whole tokens, shape (seeds, questions, deep routes).
        gain_model: name of the benefit model.
    """

    log: ManyRoutes
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    budgets: tuple[float, ...]
    arms: Ints
    limits: Ints
    predicted_cost: Ints
    gain_model: str

    def model_of(self, policy: str) -> str:
        """The benefit model behind a policy; empty where it uses none."""
        return self.gain_model if policy in GAIN_POLICIES else ""

    @property
    def groups(self) -> list[str]:
        """The filing of each question."""
        return self.log.groups

    @property
    def left_out(self) -> int:
        """Questions of the set that aren't here."""
        return self.log.left_out

    @property
    def cheap_tokens(self) -> float:
        """Mean tokens of the cheap call."""
        return float(self.log.tokens[:, 0].mean())

    @property
    def deep_tokens(self) -> float:
        """Mean tokens of the dearest deep call, made for every question."""
        return float(self.log.tokens[:, -1].mean())

    @cached_property
    def shares(self) -> Floats:
        """Share of the seeds under which each arm was played, shape (policies, budgets, questions, K)."""
        each = [(self.arms == arm).mean(axis=1) for arm in range(self.log.quality.shape[1])]
        return np.stack(each, axis=-1)

    @cached_property
    def calls(self) -> Floats:
        """Share of the seeds under which a deep call was bought, shape (policies, budgets, questions)."""
        return np.asarray(self.shares[..., 1:].sum(axis=-1))

    @cached_property
    def spent(self) -> Floats:
        """Mean over the seeds of the bought calls' tokens, shape (policies, budgets)."""
        return np.asarray(np.einsum("pbnk,nk->pb", self.shares[..., 1:], self.log.tokens[:, 1:]))

    def played(self, what: str) -> Floats:
        """As `Sweep.played`."""
        values: Floats = getattr(self.log, what)
        if what == "tokens":
            bought = np.einsum("pbnk,nk->pbn", self.shares[..., 1:], values[:, 1:])
            return np.asarray(values[:, 0] + bought)
        return np.asarray(np.einsum("pbnk,nk->pbn", self.shares, values))

    @cached_property
    def changed(self) -> tuple[Floats, Floats]:
        """Bought calls that helped, and that hurt, averaged over the seeds, both of shape (policies, budgets)."""
        apart = self.log.correct - self.log.correct[:, [0]]
        both = [
            np.einsum("pbnk,nk->pb", self.shares, sign.astype(np.float64)) for sign in (apart > 0, apart < 0)
        ]
        return both[0], both[1]

    def predicted_spend(self) -> Floats:
        """Tokens the bought calls were predicted to cost (oracles: did cost), shape (policies, budgets)."""
        rows = []
        for p, policy in enumerate(self.policies):
            measured = policy in ORACLE_POLICIES
            paid = [
                _taken(self.log.tokens[:, 1:] if measured else self.predicted_cost[s], self.arms[p, s]).sum(
                    axis=1
                )
                for s in range(len(self.seeds))
            ]
            rows.append(np.mean(paid, axis=0))
        return np.asarray(rows, dtype=np.float64)

    def in_common(self, a: int, b: int) -> tuple[Floats, Floats]:
        """Questions sent to the same deep route by both policies, and to any by either, shape (seeds, budgets)."""
        one, other = self.arms[a], self.arms[b]
        return (
            np.asarray(((one == other) & (one > 0)).sum(axis=2), dtype=np.float64),
            np.asarray(((one > 0) | (other > 0)).sum(axis=2), dtype=np.float64),
        )


def sweep_many(
    log: ManyRoutes,
    features: pl.DataFrame,
    predictions: Mapping[str, pl.DataFrame],
    *,
    gain_model: str,
    cost_model: str,
    policies: Sequence[str] = POLICIES,
    budgets: Sequence[float] = BUDGETS,
    bought: pl.DataFrame | None = None,
) -> ManySweep:
    """Allocate among several deep routes under every policy, budget and seed, or read what was allocated.

    Args:
        log: the questions.
        features: rows of `features` of one of the pairs; what they say of the cheap answer is read.
        predictions: rows of `predictions` of each pair, by its deep route.
        gain_model, cost_model: whose predictions to use.
        policies, budgets: what to sweep.
        bought: rows of `selections`; with them nothing is allocated anew.

    Raises:
        ValueError: a question has no prediction.
    """
    ids = pl.DataFrame({"question_id": log.keys}, schema={"question_id": pl.String})
    known = ids.join(
        features.select("question_id", "cheap_confidence", "margin", "cheap_refused"),
        on="question_id",
        how="left",
    )
    signals = {
        name: unknown_as_nan(known[column])
        for name, column in (
            ("confidence", "cheap_confidence"),
            ("margin", "margin"),
            ("refused", "cheap_refused"),
        )
    }
    seeds = tuple(sorted(set.intersection(*(set(rows["seed"]) for rows in predictions.values()))))
    shape = (len(policies), len(seeds), len(budgets))
    arms = np.zeros((*shape, len(log.keys)), dtype=np.int64)
    limits = np.zeros(shape, dtype=np.int64)
    costs = np.zeros((len(seeds), len(log.keys), len(log.routes)), dtype=np.int64)
    for s, seed in enumerate(seeds):
        told = [
            [predicted_by(ids, predictions[route], target, model, seed) for route in log.routes]
            for target, model in (("gain", gain_model), ("cost", cost_model))
        ]
        gains, costs[s] = np.column_stack(told[0]), whole_costs(np.column_stack(told[1]))
        for p, policy in enumerate(policies):
            problem = _Problem(log, gains, costs[s], signals, policy, seed)
            limits[p, s] = problem.levels(budgets)
            if bought is None:
                arms[p, s] = problem.solve(limits[p, s])
    if bought is not None:
        _mark(arms, bought, policies, seeds, budgets, log)
    return ManySweep(log, tuple(policies), seeds, tuple(budgets), arms, limits, costs, gain_model)


@dataclass(frozen=True)
class _Problem:
    """One policy under one seed."""

    log: ManyRoutes
    gains: Floats
    costs: Ints
    signals: Mapping[str, Floats]
    policy: str
    seed: int

    def levels(self, budgets: Sequence[float]) -> list[int]:
        return budget_levels(self.policy, self._candidates(self._dearest()), budgets)

    def _dearest(self) -> Ints:
        measured = self.policy in ORACLE_POLICIES
        dearest = (self.log.tokens[:, 1:] if measured else self.costs).argmax(axis=1)
        return np.asarray(dearest + 1, dtype=np.int64)

    def _candidates(self, arm: Ints) -> Candidates:
        """The questions as candidates for one deep route each."""
        real = self.log.quality[:, 1:] - self.log.quality[:, [0]]
        return Candidates(
            keys=self.log.keys,
            predicted_gain=_taken(self.gains, arm),
            predicted_cost=_taken(self.costs, arm).astype(np.int64),
            realised_gain=_taken(real, arm),
            realised_cost=_taken(self.log.tokens[:, 1:], arm).astype(np.int64),
            **self.signals,
        )

    def solve(self, levels: Sequence[int] | Ints) -> Ints:
        """The arm of each question at each budget, shape (budgets, n)."""
        if self.policy == "gain_per_token":
            path = allocation_path(self.gains, self.costs.astype(np.float64), keys=self.log.keys)
            priced = self.costs[:, :, None].astype(np.float64)
            return np.stack([walk(path, self.gains, priced, np.array([float(level)])) for level in levels])
        if self.policy in ("knapsack", *ORACLE_POLICIES):
            gains, costs, unit = self.gains, self.costs, KNAPSACK_UNIT
            if self.policy in ORACLE_POLICIES:
                costs = self.log.tokens[:, 1:].astype(np.int64)
            if self.policy == "oracle":
                # In single tokens: in tens it could fall below another policy at the same spend.
                gains, unit = self.log.quality[:, 1:] - self.log.quality[:, [0]], 1
            return np.stack(
                [
                    multiple_choice(gains, costs, int(level), unit=unit, keys=self.log.keys).arm
                    for level in levels
                ]
            )
        last = np.full(len(self.log.keys), len(self.log.routes), dtype=np.int64)
        arm = self.gains.argmax(axis=1).astype(np.int64) + 1 if self.policy == "gain_only" else last
        candidates = self._candidates(arm)
        order = policy_order(self.policy, candidates, seed=self.seed)
        return np.where(first_fit(order, candidates.predicted_cost, levels), arm, 0)  # type: ignore[arg-type]


def many_selection_frames(sweep: ManySweep) -> Iterator[pl.DataFrame]:
    """Rows of `selections`, a policy and seed at a time, without the set and the pair."""
    ids, routes = pl.Series(sweep.log.keys, dtype=pl.String), pl.Series(sweep.log.routes, dtype=pl.String)
    for p, policy in enumerate(sweep.policies):
        for s, seed in enumerate(sweep.seeds):
            level, row = np.nonzero(sweep.arms[p, s])
            place = sweep.arms[p, s][level, row] - 1
            yield pl.DataFrame(
                {
                    "policy": pl.Series([policy], dtype=pl.String).new_from_index(0, len(row)),
                    "gain_model": pl.Series([sweep.model_of(policy)], dtype=pl.String).new_from_index(
                        0, len(row)
                    ),
                    "budget_fraction": np.asarray(sweep.budgets)[level],
                    "seed": np.full(len(row), seed, dtype=np.int64),
                    "question_id": ids.gather(row),
                    "route": routes.gather(place),
                    "predicted_cost": sweep.predicted_cost[s][row, place],
                    "realised_cost": sweep.log.tokens[row, place + 1].astype(np.int64),
                }
            )


def _mark(
    arms: Ints,
    bought: pl.DataFrame,
    policies: Sequence[str],
    seeds: Sequence[int],
    budgets: Sequence[float],
    log: ManyRoutes,
) -> None:
    """Set the arms where the table of selections has a row; rows off the axes are of another sweep."""
    placed = bought
    axes = (("policy", policies), ("seed", seeds), ("budget_fraction", budgets), ("question_id", log.keys))
    for name, values in (*axes, ("route", log.routes)):
        axis = pl.DataFrame({name: pl.Series(list(values), dtype=bought.schema[name])}).with_row_index(
            f"at_{name}"
        )
        placed = placed.join(axis, on=name)
    where = tuple(placed[f"at_{name}"].to_numpy() for name, _ in axes)
    arms[where] = placed["at_route"].cast(pl.Int64).to_numpy() + 1


def _taken(values: npt.NDArray[np.generic], arms: Ints) -> Floats:
    """Values of the chosen deep routes, 0 for the cheap answer, the shape of the arms (..., n)."""
    n = values.shape[0]
    found = np.where(arms > 0, values[np.arange(n), arms - 1], 0)
    return np.asarray(found, dtype=np.float64)

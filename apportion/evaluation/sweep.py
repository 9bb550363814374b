"""Every policy at every budget under every seed: orders, selections, and what they bought."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.allocation.candidates import Candidates
from apportion.allocation.policies import (
    ORACLE_POLICIES,
    POLICIES,
    budget_levels,
    ordered_selection,
)
from apportion.evaluation.pairs import Floats, Pairs

BUDGETS = (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0)
"""Nominal budget fractions of the escalation paper, section III-A."""

GAIN_POLICIES = ("gain_only", "gain_per_token", "knapsack", "oracle_cost_knapsack")
"""Policies that use a benefit model."""


class Allocated(Protocol):
    """What policies chose, of one deep route or of several; `Sweep` says what each member is."""

    @property
    def policies(self) -> tuple[str, ...]: ...  # noqa: D102
    @property
    def budgets(self) -> tuple[float, ...]: ...  # noqa: D102
    @property
    def limits(self) -> npt.NDArray[np.int64]: ...  # noqa: D102
    @property
    def groups(self) -> list[str]: ...  # noqa: D102
    @property
    def left_out(self) -> int: ...  # noqa: D102
    @property
    def cheap_tokens(self) -> float: ...  # noqa: D102
    @property
    def deep_tokens(self) -> float: ...  # noqa: D102
    @property
    def calls(self) -> Floats: ...  # noqa: D102
    @property
    def spent(self) -> Floats: ...  # noqa: D102
    @property
    def changed(self) -> tuple[Floats, Floats]: ...  # noqa: D102
    def played(self, what: str) -> Floats: ...  # noqa: D102
    def predicted_spend(self) -> Floats: ...  # noqa: D102
    def in_common(self, a: int, b: int) -> tuple[Floats, Floats]: ...  # noqa: D102
    def model_of(self, policy: str) -> str: ...  # noqa: D102


@dataclass(frozen=True)
class Sweep:
    """What each policy chose.

    Attributes:
        pairs: the questions and their outcomes.
        policies, seeds, budgets: the axes.
        chosen: booleans, shape (policies, seeds, budgets, questions).
        limits: whole tokens allowed, shape (policies, seeds, budgets); predicted, for oracles measured.
        predicted_gain: held out, shape (seeds, questions).
        predicted_cost: whole tokens, shape (seeds, questions).
        orders: by (policy, seed), positions of the questions in the order in which calls are offered the budget.
        gain_model: name of the benefit model.
    """

    pairs: Pairs
    policies: tuple[str, ...]
    seeds: tuple[int, ...]
    budgets: tuple[float, ...]
    chosen: npt.NDArray[np.bool_]
    limits: npt.NDArray[np.int64]
    predicted_gain: Floats
    predicted_cost: npt.NDArray[np.int64]
    orders: Mapping[tuple[str, int], npt.NDArray[np.int64]]
    gain_model: str

    @property
    def groups(self) -> list[str]:
        """The filing of each question."""
        return self.pairs.groups

    @property
    def left_out(self) -> int:
        """Questions of the set that aren't here."""
        return self.pairs.left_out

    @property
    def cheap_tokens(self) -> float:
        """Mean tokens of the cheap call."""
        return float(self.pairs.values("cheap_tokens").mean())

    @property
    def deep_tokens(self) -> float:
        """Mean tokens of the deep call, made for every question."""
        return float(self.pairs.values("deep_tokens").mean())

    @cached_property
    def calls(self) -> Floats:
        """Share of the seeds under which a deep call was bought, shape (policies, budgets, questions)."""
        return self.share_chosen

    @cached_property
    def spent(self) -> Floats:
        """Mean over the seeds of the bought calls' tokens, shape (policies, budgets)."""
        return self.spend(self.pairs.values("deep_tokens"))

    def played(self, what: str) -> Floats:
        """Each question's ``quality``, ``correct`` or ``tokens`` after allocation, averaged over the seeds.

        Shape (policies, budgets, questions).
        """
        cheap, deep = self.pairs.values(f"cheap_{what}"), self.pairs.values(f"deep_{what}")
        if what == "tokens":
            return np.asarray(cheap + self.share_chosen * deep, dtype=np.float64)
        return np.asarray(cheap + self.share_chosen * (deep - cheap), dtype=np.float64)

    @cached_property
    def changed(self) -> tuple[Floats, Floats]:
        """Bought calls that helped, and that hurt, averaged over the seeds, both of shape (policies, budgets)."""
        return self.share_chosen @ self.pairs.helped, self.share_chosen @ self.pairs.hurt

    def in_common(self, a: int, b: int) -> tuple[Floats, Floats]:
        """Calls that both of two policies bought, and that either bought, both of shape (seeds, budgets)."""
        return (
            np.asarray((self.chosen[a] & self.chosen[b]).sum(axis=2), dtype=np.float64),
            np.asarray((self.chosen[a] | self.chosen[b]).sum(axis=2), dtype=np.float64),
        )

    def model_of(self, policy: str) -> str:
        """The benefit model behind a policy; empty where it uses none."""
        return self.gain_model if policy in GAIN_POLICIES else ""

    @cached_property
    def share_chosen(self) -> Floats:
        """Share of the seeds under which each call was bought, shape (policies, budgets, questions)."""
        return np.asarray(self.chosen.mean(axis=1), dtype=np.float64)

    def spend(self, costs: Floats) -> Floats:
        """Mean over the seeds of the bought calls' costs, shape (policies, budgets)."""
        return np.asarray(self.share_chosen @ costs, dtype=np.float64)

    def predicted_spend(self) -> Floats:
        """Tokens the bought calls were predicted to cost (oracles: did cost), shape (policies, budgets)."""
        rows = []
        for i, policy in enumerate(self.policies):
            if policy in ORACLE_POLICIES:
                rows.append(self.share_chosen[i] @ self.pairs.values("deep_tokens"))
            else:
                rows.append(np.einsum("sbn,sn->b", self.chosen[i], self.predicted_cost) / len(self.seeds))
        return np.asarray(rows, dtype=np.float64)


def whole_costs(predicted: Floats) -> npt.NDArray[np.int64]:
    """Predicted costs as whole tokens, at least one, so that sums are exact."""
    return np.maximum(np.rint(predicted), 1).astype(np.int64)


def sweep_policies(
    pairs: Pairs,
    features: pl.DataFrame,
    predictions: pl.DataFrame,
    *,
    gain_model: str,
    cost_model: str,
    policies: Sequence[str] = POLICIES,
    budgets: Sequence[float] = BUDGETS,
    bought: pl.DataFrame | None = None,
) -> Sweep:
    """Allocate under every policy, budget and seed from held-out predictions, or read what was allocated.

    Args:
        pairs: the questions.
        features: rows of `features` of the pair; confidence and margin are read.
        predictions: rows of `predictions` of the pair.
        gain_model, cost_model: whose predictions to use.
        policies, budgets: what to sweep.
        bought: rows of `selections` of the pair; with them nothing is allocated anew.

    Raises:
        ValueError: a question has no prediction or no features.
    """
    ids = pairs.frame.select("question_id")
    signals = ids.join(
        features.select("question_id", "cheap_confidence", "margin", "cheap_refused"),
        on="question_id",
        how="left",
    )
    seeds = tuple(predictions["seed"].unique().sort().to_list())
    shape = (len(policies), len(seeds), len(budgets))
    chosen = np.zeros((*shape, len(pairs)), dtype=np.bool_)
    limits = np.zeros(shape, dtype=np.int64)
    gains = np.zeros((len(seeds), len(pairs)))
    costs = np.zeros((len(seeds), len(pairs)), dtype=np.int64)
    orders: dict[tuple[str, int], npt.NDArray[np.int64]] = {}
    for s, seed in enumerate(seeds):
        gains[s] = predicted_by(ids, predictions, "gain", gain_model, seed)
        costs[s] = whole_costs(predicted_by(ids, predictions, "cost", cost_model, seed))
        candidates = Candidates(
            keys=ids["question_id"].to_list(),
            predicted_gain=gains[s],
            predicted_cost=costs[s],
            confidence=unknown_as_nan(signals["cheap_confidence"]),
            margin=unknown_as_nan(signals["margin"]),
            refused=unknown_as_nan(signals["cheap_refused"]),
            realised_gain=pairs.gain,
            realised_cost=pairs.frame["deep_tokens"].to_numpy(),
        )
        for p, policy in enumerate(policies):
            levels = budget_levels(policy, candidates, budgets)
            limits[p, s] = levels
            if bought is not None:
                continue
            order, chosen[p, s] = ordered_selection(policy, candidates, levels, seed=seed)
            if order is not None:
                orders[policy, seed] = order
    if bought is not None:
        _mark_bought(chosen, bought, policies, seeds, budgets, ids)
    return Sweep(
        pairs, tuple(policies), seeds, tuple(budgets), chosen, limits, gains, costs, orders, gain_model
    )


def order_frames(sweep: Sweep) -> Iterator[pl.DataFrame]:
    """Rows of `orders`, a policy and seed at a time, without the set and the pair."""
    ids = sweep.pairs.frame["question_id"]
    for (policy, seed), order in sweep.orders.items():
        s = sweep.seeds.index(seed)
        yield pl.DataFrame(
            {
                "policy": policy,
                "gain_model": sweep.model_of(policy),
                "seed": seed,
                "question_id": ids.gather(order),
                "position": np.arange(len(order)),
                "predicted_gain": sweep.predicted_gain[s][order],
                "predicted_cost": sweep.predicted_cost[s][order],
            }
        )


def selection_frames(sweep: Sweep, deep_route: str) -> Iterator[pl.DataFrame]:
    """Rows of `selections`, a policy and seed at a time, without the set and the pair."""
    ids = sweep.pairs.frame["question_id"]
    realised = sweep.pairs.frame["deep_tokens"]
    for p, policy in enumerate(sweep.policies):
        for s, seed in enumerate(sweep.seeds):
            level, row = np.nonzero(sweep.chosen[p, s])
            yield pl.DataFrame(
                {
                    "policy": pl.Series([policy], dtype=pl.String).new_from_index(0, len(row)),
                    "gain_model": pl.Series([sweep.model_of(policy)], dtype=pl.String).new_from_index(
                        0, len(row)
                    ),
                    "budget_fraction": np.asarray(sweep.budgets)[level],
                    "seed": np.full(len(row), seed, dtype=np.int64),
                    "question_id": ids.gather(row),
                    "route": pl.Series([deep_route], dtype=pl.String).new_from_index(0, len(row)),
                    "predicted_cost": sweep.predicted_cost[s][row],
                    "realised_cost": realised.gather(row),
                }
            )


def _mark_bought(
    chosen: npt.NDArray[np.bool_],
    bought: pl.DataFrame,
    policies: Sequence[str],
    seeds: Sequence[int],
    budgets: Sequence[float],
    ids: pl.DataFrame,
) -> None:
    """Set ``chosen`` where the table of selections has a row; rows off the axes are of another sweep."""
    axes = (
        ("policy", policies),
        ("seed", seeds),
        ("budget_fraction", budgets),
        ("question_id", ids["question_id"]),
    )
    placed = bought
    for name, values in axes:
        axis = pl.DataFrame({name: pl.Series(list(values), dtype=bought.schema[name])}).with_row_index(
            f"at_{name}"
        )
        placed = placed.join(axis, on=name)
    chosen[tuple(placed[f"at_{name}"].to_numpy() for name, _ in axes)] = True


def predicted_by(ids: pl.DataFrame, predictions: pl.DataFrame, target: str, model: str, seed: int) -> Floats:
    """One model's predictions under one seed for the questions, in their order, shape (n,).

    Raises:
        ValueError: a question has none.
    """
    found = predictions.filter(
        (pl.col("target") == target) & (pl.col("model") == model) & (pl.col("seed") == seed)
    ).select("question_id", "predicted")
    joined = ids.join(found, on="question_id", how="left")
    missing = joined.filter(pl.col("predicted").is_null())
    if not missing.is_empty():
        raise ValueError(
            f"no {target} prediction of model {model!r}, seed {seed}, for question {missing['question_id'][0]!r} "
            f"({missing.height} such questions)"
        )
    return joined["predicted"].to_numpy()


def unknown_as_nan(series: pl.Series) -> Floats:
    """A column as floats, unknown as NaN."""
    return series.cast(pl.Float64).fill_null(np.nan).to_numpy()

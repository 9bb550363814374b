"""First-fit at many budgets in little more than the sort.

Down an order, each budget accepts runs: as far as the running sum fits, then from the next call that fits. Running
sums find the end of a run and a tree of least costs finds the next call, both in logarithmic time, so a budget costs
its runs and not its questions. Selections stay runs until somebody asks for rows. For users of the library: commands
have a handful of budgets and take ``greedy``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from apportion.allocation.compiled import kernels
from apportion.allocation.greedy import checked_order, first_fit_positions
from apportion.allocation.inputs import finite, whole, whole_budgets

Ints = NDArray[np.int64]
_COMPILED_FROM = 20_000_000  # items times budgets, from where loading compiled code repays itself


@dataclass(frozen=True)
class FirstFits:
    """First-fit selections of one order at b budgets.

    Attributes:
        order: positions of items, best first, shape (m,).
        budgets: whole tokens, shape (b,).
        offsets: budget i's runs are `offsets[i]` to `offsets[i + 1]`, shape (b + 1,).
        starts: first place of each run in `order`, shape (runs,).
        ends: place behind its last, shape (runs,).
        spend: whole tokens accepted at each budget, shape (b,).
    """

    order: Ints
    budgets: Ints
    offsets: Ints
    starts: Ints
    ends: Ints
    spend: Ints

    @property
    def counts(self) -> Ints:
        """How many are accepted at each budget, shape (b,)."""
        counts: Ints = self._by_budget(self.ends - self.starts)
        return counts

    def accepted(self, budget: int) -> Ints:
        """Return the positions of items accepted at the budget of that index, in order."""
        runs = range(int(self.offsets[budget]), int(self.offsets[budget + 1]))
        pieces = [self.order[self.starts[run] : self.ends[run]] for run in runs]
        return np.concatenate([*pieces, np.zeros(0, dtype=np.int64)])

    def sums(self, values: ArrayLike) -> NDArray[np.float64]:
        """Return the sum of `values`, finite and of shape (n,), over the accepted items of each budget."""
        running = np.concatenate([[0.0], np.cumsum(finite("value", values)[self.order])])
        sums: NDArray[np.float64] = self._by_budget(running[self.ends] - running[self.starts])
        return sums

    def chosen(self, n: int) -> NDArray[np.bool_]:
        """Return who is accepted, shape (b, n)."""
        rows = np.zeros((self.budgets.shape[0], n), dtype=np.bool_)
        for budget in range(self.budgets.shape[0]):
            rows[budget, self.accepted(budget)] = True
        return rows

    def _by_budget(self, of_runs: NDArray[Any]) -> Any:
        running = np.concatenate([np.zeros(1, dtype=of_runs.dtype), np.cumsum(of_runs)])
        return running[self.offsets[1:]] - running[self.offsets[:-1]]


def first_fit_many(order: ArrayLike, costs: ArrayLike, budgets: ArrayLike) -> FirstFits:
    """Return first-fit at every budget; arguments and errors as in `apportion.allocation.greedy.first_fit`."""
    tokens = np.maximum(whole("cost", costs), 0)
    places = checked_order(order, tokens.shape[0])
    levels = whole_budgets(budgets)
    ordered = tokens[places]
    sums = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(ordered)])
    compiled = kernels(places.shape[0] * levels.shape[0] >= _COMPILED_FROM)
    runs = compiled.first_fit_runs if compiled is not None else first_fit_runs
    offsets, starts, ends = runs(ordered, sums, levels)
    running = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sums[ends] - sums[starts])])
    return FirstFits(places, levels, offsets, starts, ends, running[offsets[1:]] - running[offsets[:-1]])


def first_fit_runs(costs: Ints, sums: Ints, budgets: Ints) -> tuple[Ints, Ints, Ints]:
    """Return offsets, starts and ends of the accepted runs.

    Args:
        costs: in order, 0 or more, shape (m,).
        sums: running sums from 0, shape (m + 1,).
        budgets: shape (b,).
    """
    offsets, starts, ends = [0], [np.zeros(0, dtype=np.int64)], [np.zeros(0, dtype=np.int64)]
    for budget in budgets:
        places = first_fit_positions(costs, int(budget))
        breaks = np.flatnonzero(np.diff(places) > 1)
        if places.size:
            starts.append(places[np.concatenate([[0], breaks + 1])])
            ends.append(places[np.concatenate([breaks, [places.size - 1]])] + 1)
            offsets.append(offsets[-1] + breaks.size + 1)
        else:
            offsets.append(offsets[-1])
    return np.array(offsets, dtype=np.int64), np.concatenate(starts), np.concatenate(ends)

"""What predictors learn from, and how it is dealt into folds: a filing is never in two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import polars as pl

from apportion.prediction.design import Floats
from apportion.prediction.pool import AnswerPool

FOLDS = 5
SEEDS = (11, 22, 33)


class TooFewFilings(ValueError):  # noqa: N818 - names the condition
    """Held-out predictions need at least two filings."""


def grouped_folds(groups: Sequence[str], seed: int, folds: int = FOLDS) -> npt.NDArray[np.int64]:
    """The held-out fold of each row, shape (n,), numbers from zero.

    Filings are shuffled by the seed and dealt out, largest first, to the fold that holds fewest rows, so that
    folds are of nearly equal size. A filing is never in two folds. With fewer filings than folds there are as
    many folds as filings. The order of the rows changes nothing.

    Raises:
        TooFewFilings: there is a single filing.
    """
    names, codes, sizes = np.unique(
        np.asarray(groups, dtype=object).astype(str), return_inverse=True, return_counts=True
    )
    if len(names) < 2:
        raise TooFewFilings(
            f"{len(names)} filing with judged questions: held-out predictions need at least two; add questions on "
            "other filings"
        )
    shuffled = np.random.default_rng(seed).permutation(len(names))
    largest_first = shuffled[np.argsort(-sizes[shuffled], kind="stable")]
    count = min(folds, len(names))
    loads = np.zeros(count, dtype=np.int64)
    fold_of = np.zeros(len(names), dtype=np.int64)
    for filing in largest_first:
        fold = int(np.argmin(loads))
        fold_of[filing] = fold
        loads[fold] += sizes[filing]
    return fold_of[codes]


@dataclass(frozen=True)
class Training:
    """What the predictors learn from: one row a question that has both outcomes graded.

    Attributes:
        features: decision-time features, with ``question_id``.
        groups: the filing of each row.
        gain: quality of the deep answer less that of the cheap one.
        input_tokens, output_tokens: of the deep call; NaN where nobody counted: such rows teach and test no cost.
        helped, hurt: wrong by the cheap route and right by the deep one, and the other way round.
        pool: graded answers of the set and its sisters, for the models that learn from more than the pair.
    """

    features: pl.DataFrame
    groups: Sequence[str]
    gain: Floats
    input_tokens: Floats
    output_tokens: Floats
    helped: npt.NDArray[np.bool_] | None = None
    hurt: npt.NDArray[np.bool_] | None = None
    pool: AnswerPool | None = None

    @property
    def cost(self) -> Floats:
        """Tokens of the deep call."""
        return self.input_tokens + self.output_tokens

    def groups_at(self, rows: npt.NDArray[np.bool_]) -> frozenset[str]:
        """The filings of some rows."""
        return frozenset(group for group, at in zip(self.groups, rows, strict=True) if at)

    def part(self, rows: npt.NDArray[np.bool_]) -> Training:
        """Some rows; the pool stays whole."""
        return Training(
            self.features.filter(pl.Series(rows)),
            [group for group, at in zip(self.groups, rows, strict=True) if at],
            self.gain[rows],
            self.input_tokens[rows],
            self.output_tokens[rows],
            None if self.helped is None else self.helped[rows],
            None if self.hurt is None else self.hurt[rows],
            self.pool,
        )

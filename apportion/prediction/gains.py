"""Gains by a benefit model: its chances in the mean sizes that help and harm had in training."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from apportion.prediction.benefit import BenefitModel
from apportion.prediction.design import Floats
from apportion.prediction.selection import Scored
from apportion.prediction.training import Training


@dataclass(frozen=True)
class BenefitGain:
    """A fitted benefit model that predicts gains.

    Grades that are shares of passes make help and harm come in sizes.

    Attributes:
        model: the benefit model.
        won: mean gain of a deep call that helps.
        lost: mean loss by one that hurts.
    """

    model: BenefitModel
    won: float = 1.0
    lost: float = 1.0

    @classmethod
    def of(cls, seen: Training, model: BenefitModel) -> BenefitGain:
        """With the sizes over the rows seen."""
        helped, hurt = seen.helped, seen.hurt
        return cls(
            model,
            float(seen.gain[helped].mean()) if helped is not None and helped.any() else 1.0,
            -float(seen.gain[hurt].mean()) if hurt is not None and hurt.any() else 1.0,
        )

    def predict(self, features: pl.DataFrame) -> Floats:
        """Predicted gain, shape (n,)."""
        return self.with_chances(features)[0]

    def with_chances(self, features: pl.DataFrame) -> tuple[Floats, Floats, Floats]:
        """Predicted gain, and the chances to help and to hurt, shapes (n,)."""
        helps, hurts = self.model.chances(features)
        if isinstance(self.model, Scored):
            return self.won * self.model.gain(features), helps, hurts
        return helps * self.won - hurts * self.lost, helps, hurts

"""The additional call's cost: what it spreads over, and what is unknown of calls that cost nothing."""

from __future__ import annotations

import polars as pl
import pytest

from apportion.evaluation.pairs import Pairs
from apportion.evaluation.route_tables import cost_summary
from warehouse.contracts import TABLES


@pytest.mark.parametrize(("costs", "variation"), [([100, 300], 0.5), ([200, 200], 0.0), ([0, 0], None)])
def test_a_share_of_nothing_is_unknown(costs: list[int], variation: float | None) -> None:
    row = cost_summary(Pairs(pl.DataFrame({"deep_tokens": costs}), left_out=0))
    assert row["coefficient_of_variation"].to_list() == [variation]
    assert row["mean"].to_list() == [sum(costs) / 2]
    named = {name: pl.lit(name) for name in ("outcome_set", "cheap_route", "deep_route")}
    table = TABLES["cost_summary"]
    table.validate(table.arrange(row.with_columns(**named)))

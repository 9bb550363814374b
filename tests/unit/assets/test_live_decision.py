"""The live decision: what calls are priced at, and gains by a stored benefit model."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest
from commandline import CommandLine

from apportion.llm.prices import PriceTable
from assets.live import expected_usd, predict_set
from assets.resources import Comparison, Escalation, Warehouse


def test_a_prompt_that_is_not_known_yet_is_priced_by_its_predicted_tokens() -> None:
    price = PriceTable({"m": {"input": 2.0, "output": 10.0}}).price("m")
    assert price is not None
    known = pl.DataFrame({"deep_prompt_tokens": [None, 300, 900]}, schema={"deep_prompt_tokens": pl.Int64})
    priced = expected_usd(price, known, np.array([500.4, 500.4, 500.4]))
    assert priced == pytest.approx([500 * 2e-6, 300 * 2e-6 + 200 * 10e-6, 500 * 2e-6])


def test_a_stored_benefit_model_decides_on_a_set(
    apportion: CommandLine, tiny_run: Callable[[CommandLine], CommandLine]
) -> None:
    warehouse = Warehouse(root=str(tiny_run(apportion).warehouse))
    learnt = Escalation(learn_from=["tiny"])
    known, gain, cost, origin = predict_set(
        warehouse.store(), warehouse, "tiny", Comparison(gain_model="weighted"), learnt
    )
    assert origin == "weighted fitted on tiny"
    assert len(gain) == len(cost) == known.height == 24
    assert np.isfinite(gain).all()
    folder = warehouse.models_folder(["tiny"], "top1", "top5", "weighted")
    written = (folder / "models.skops").stat().st_mtime_ns
    _, again, _, _ = predict_set(
        warehouse.store(), warehouse, "tiny", Comparison(gain_model="weighted"), learnt
    )
    assert np.array_equal(gain, again)
    # Equal data and versions fit nothing.
    assert (folder / "models.skops").stat().st_mtime_ns == written

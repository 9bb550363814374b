"""Judge-against-human agreement against counts made by hand."""

from __future__ import annotations

import polars as pl
import pytest

from apportion.judging.human import agreement


def quality(labels: list[tuple[str, bool | None, bool | None]]) -> pl.DataFrame:
    rows = []
    for question, human, judge in labels:
        rows.append(
            {"question_id": question, "route": "a", "judge": "human", "correct": human, "judged_by": "human"}
        )
        rows.append(
            {"question_id": question, "route": "a", "judge": "j", "correct": judge, "judged_by": "llm"}
        )
    return pl.DataFrame(rows, schema_overrides={"correct": pl.Boolean})


def asked(ids: list[str], families: list[str | None]) -> pl.DataFrame:
    page = pl.List(pl.Struct({"filing_id": pl.String, "page_number": pl.Int64}))
    return pl.DataFrame(
        {"question_id": ids, "family": families, "filing_id": [f"f{i // 2}" for i in range(len(ids))]}
    ).with_columns(pl.lit(None, dtype=page).alias("evidence"))


def test_kappa_and_bias_are_those_of_the_four_counts() -> None:
    labels = [
        ("a", True, True),
        ("b", True, False),
        ("c", False, False),
        ("d", False, True),
        ("e", True, True),
    ]
    questions = asked(list("abcdefg"), ["x", "x", "y", "y", None, "x", "x"])
    found = agreement(quality([*labels, ("f", None, True), ("g", True, None)]), questions)
    first = found.row(0, named=True)
    assert (first["family"], first["answers"]) == ("all", 5)
    assert first["agreement"] == pytest.approx(3 / 5)
    assert first["kappa"] == pytest.approx((3 / 5 - (9 + 4) / 25) / (1 - 13 / 25))
    assert first["bias"] == pytest.approx(0.0)
    assert first["kappa_ci_low"] <= first["kappa"] <= first["kappa_ci_high"]
    assert first["bias_ci_low"] <= 0 <= first["bias_ci_high"]
    assert found["family"].to_list() == ["all", "unknown", "x", "y"]
    assert found.filter(pl.col("family") == "x")["bias"].item() == pytest.approx(-1 / 2)


def test_agreement_by_chance_alone_has_no_kappa() -> None:
    questions = asked(["a"], ["x"])
    assert agreement(quality([("a", True, True)]), questions)["kappa"].to_list() == [None, None]


def test_without_both_there_is_nothing() -> None:
    questions = asked(["a"], ["x"])
    assert agreement(quality([("a", True, None)]), questions).is_empty()

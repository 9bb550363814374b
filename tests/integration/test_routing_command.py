"""`apportion routing` over a real warehouse: an answer in words, tables that agree with the library, plots."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from commandline import CommandLine

from apportion.routing.arms import Arms
from apportion.routing.gap import jensen_gap
from warehouse.store import Store

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def answered(
    shared_apportion: Callable[[str], CommandLine], tiny_run: Callable[[CommandLine], CommandLine]
) -> CommandLine:
    return tiny_run(shared_apportion("routing"))


def test_it_says_whether_routing_pays_and_publishes_what_it_says(
    answered: CommandLine, tmp_path: Path
) -> None:
    out = answered.ok("routing", "--set", "tiny", "--price", "0,0.05,0.3", "--plots", str(tmp_path / "plots"))
    assert "Set tiny, front door:" in out
    assert "Set tiny, after cheap:" in out
    assert any(word in out for word in ("Routing pays", "may pay", "not shown to pay", "worthless"))
    drawn = sorted(path.name for path in (tmp_path / "plots").iterdir())
    assert drawn == ["routing_frontiers_tiny.png", "routing_gap_tiny.png"]

    store = Store(str(answered.warehouse))
    gap = store.read("routing_gap", {"outcome_set": "tiny"})
    assert gap.height == 6
    routes = gap["routes"][0].split(",")
    assert routes[0] == "direct"  # the cheapest
    tokens = store.read("route_outcomes", {"outcome_set": "tiny"}).pivot(
        on="route", index="question_id", values="total_tokens"
    )
    quality = store.read("route_quality", {"outcome_set": "tiny"}).pivot(
        on="route", index="question_id", values="quality"
    )
    both = quality.join(tokens, on="question_id", suffix="_tokens").sort("question_id")
    keys = both["question_id"].to_list()
    log = Arms(
        tuple(routes),
        keys,
        both.select(routes).to_numpy(),
        both.select(f"{route}_tokens" for route in routes).to_numpy() / 1000,
        [key.rsplit("_", 1)[0] for key in keys],
        ["any"] * len(keys),
    )
    for found in jensen_gap(log, [0.0, 0.05, 0.3]):
        row = gap.row(
            by_predicate=(pl.col("stage") == "front_door") & (pl.col("price") == found.price), named=True
        )
        assert row["gap"] == pytest.approx(found.gap.estimate)
        assert (row["ci_low"], row["ci_high"]) == pytest.approx((found.gap.low, found.gap.high))
        assert row["best_fixed_route"] == routes[found.best_fixed_arm]

    summary = store.read("router_summary", {"outcome_set": "tiny"})
    held = summary.filter(pl.col("split") == "held_out")
    assert set(held["router"]) == {"ridge", "boosting", "signals", "certified"}
    assert (held["gain"] <= held["gap"] + 1e-9).all()
    # Nothing can be certified on a dozen filings, and then no question is routed.
    certified = held.filter(pl.col("router") == "certified")
    assert not certified["certified"].any()

    frontier = store.read("routing_frontier", {"outcome_set": "tiny"})
    for (_, name), part in frontier.group_by("stage", "frontier"):
        rising = part.sort("vertex")
        assert (np.diff(rising["cost"]) > 0).all(), name
        assert (np.diff(rising["quality"]) >= 0).all(), name


def test_the_same_call_prints_the_same_bytes(answered: CommandLine) -> None:
    once, again = (
        answered.ok("routing", "--set", "tiny", "--routes", "top1,top5", "--price", "0.1", "--format", "csv")
        for _ in range(2)
    )
    assert once == again
    listed = json.loads(
        answered.ok("routing", "--set", "tiny", "--routes", "top1,top5", "--price", "0.1", "--format", "json")
    )
    assert {row["router"] for row in listed} == {"ridge", "boosting", "signals", "certified"}
    assert {row["routes"] for row in listed} == {"top1,top5"}


def test_one_of_several_deep_routes_is_chosen_for_each_question(answered: CommandLine) -> None:
    shown = answered.ok(
        "evaluate", "--set", "tiny", "--cheap", "direct", "--deep", "top1,top5", "--budgets", "0,0.3,1",
        "--format", "csv",
    )  # fmt: skip
    rows = pl.read_csv(shown.encode())
    assert set(rows["deep_route"]) == {"*"}
    assert (rows["predicted_spend"] <= rows["predicted_budget"]).all()
    store = Store(str(answered.warehouse))
    bought = store.read("selections", {"outcome_set": "tiny", "cheap_route": "direct", "deep_route": "*"})
    assert set(bought["route"]) <= {"top1", "top5"}
    oracle = rows.filter((pl.col("policy") == "oracle") & (pl.col("budget_fraction") == 1))
    quality = store.read("route_quality", {"outcome_set": "tiny"}).pivot(
        on="route", index="question_id", values="quality"
    )
    best = quality.select(pl.max_horizontal("direct", "top1", "top5")).to_series().mean()
    assert oracle["quality"][0] == pytest.approx(best)
    for pair in ("top1", "top5"):
        assert store.read("policy_summary", {"outcome_set": "tiny", "deep_route": pair}).height
    refused = answered("evaluate", "--set", "tiny", "--cheap", "direct", "--deep", "direct,top1")
    assert refused.status == 2
    assert len(refused.error_lines) == 1


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--routes", "top1"), "two or more"),
        (("--routes", "top1,topp5"), "did you mean top5"),
        (("--price", "-1"), "price"),
        (("--price", "dear"), "price"),
        (("--risk", "2"), "risk"),
    ],
)
def test_a_wrong_call_is_one_line_and_status_2(
    answered: CommandLine, arguments: tuple[str, ...], says: str
) -> None:
    shown = answered("routing", "--set", "tiny", *arguments)
    assert shown.status == 2
    assert len(shown.error_lines) == 1
    assert says in shown.error_lines[0]


@pytest.mark.filterwarnings("ignore")  # of Dagster about its own interfaces
def test_the_laboratory_is_an_asset_whose_rows_are_the_same_each_time(tmp_path: Path) -> None:
    import dagster as dg

    from assets.laboratory import Laboratory, laboratory
    from assets.resources import Warehouse

    resources = {
        "warehouse": Warehouse(root=str(tmp_path / "warehouse")),
        "laboratory_size": Laboratory(seeds=4, sweep_seeds=2),
    }
    store = Store(str(tmp_path / "warehouse"))
    read = []
    with dg.DagsterInstance.ephemeral() as instance:
        for _ in range(2):
            assert dg.materialize([laboratory], resources=resources, instance=instance).success
            read.append([store.read("laboratory_queries"), store.read("laboratory_summary")])
    assert all(one.equals(other) for one, other in zip(*read, strict=True))
    queries, summary = read[0]
    assert queries.height == 3 * 72 * 3
    known = queries.filter(
        (pl.col("query_class") == "known") & (pl.col("seed") == 0) & (pl.col("arm") == "none")
    )
    figure = (pl.col("parameter") == "none") & (pl.col("figure") == "right:known:none")
    assert known["correct"].sum() == 24
    assert summary.row(by_predicate=figure, named=True)["median"] == 24
    bound = summary.filter(pl.col("figure") == "bound:0.05")["median"][0]
    assert summary.filter(pl.col("figure") == "excess_loss:0.05")["median"][0] <= bound


@pytest.mark.data
def test_the_order_of_routes_reverses_on_human_labelled_answers(test_data: Path) -> None:
    """Read from the labels directly: whole filing against gold pages, GPT-4 Turbo."""
    folder = test_data / "financebench" / "results"
    routes = ("closedBook", "sharedStore", "singleStore", "inContext_reverse", "oracle")
    labels = {}
    for route in routes:
        lines = (folder / f"gpt-4-1106-preview_{route}.jsonl").read_text(encoding="utf-8").splitlines()
        labels[route] = {
            row["financebench_id"]: "correct" in row["label"].lower()
            and "incorrect" not in row["label"].lower()
            for row in map(json.loads, lines)
        }
    source = test_data / "financebench" / "financebench_open_source.jsonl"
    listed = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    keys = sorted(row["financebench_id"] for row in listed)
    filing = {row["financebench_id"]: row["doc_name"] for row in listed}
    quality = np.array([[float(labels[route][key]) for route in routes] for key in keys])
    assert quality.sum(axis=0).tolist() == [14, 29, 75, 118, 128]
    arms = Arms(
        routes, keys, quality, np.full(quality.shape, np.nan), [filing[key] for key in keys], ["any"] * 150
    )
    found = jensen_gap(arms, [0.0])[0]
    assert routes[found.best_fixed_arm] == "oracle"
    wrong_but_another_right = int((quality.max(axis=1) > quality[:, 4]).sum())
    assert found.gap.estimate == pytest.approx(wrong_but_another_right / 150)
    assert found.gap.low is not None
    assert found.gap.low > 0

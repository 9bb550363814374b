"""Every check passes on tables that hold together and finds the one thing that is wrong with broken ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl
import pytest

from apportion.corpus.page_kinds import PAGE_KINDS
from apportion.evaluation.systems import METRICS
from apportion.retrieval.accounting.signals import SIGNAL_COLUMNS, SIGNALS
from apportion.retrieval.resolver.resolver import STATUSES
from apportion.retrieval.summary import retrieval_summary
from assets.checks import shown, sql_checks
from warehouse import catalog
from warehouse.contracts import TABLES
from warehouse.paths import sql_folder
from warehouse.schema import ContractError, Table
from warehouse.store import Store

PAIR = {"cheap_route": "top1", "deep_route": "top5"}
ASKED = [f"q{i}" for i in range(6)]


def made(table: str, rows: list[dict[str, Any]]) -> pl.DataFrame:
    """Rows of a table, their other columns filled with what its contract takes at the least."""
    contract: Table = TABLES[table]
    plain: dict[Any, Any] = {pl.String: "x", pl.Int64: 0, pl.Float64: 0.0, pl.Boolean: False}
    blank = {
        c.name: None
        if c.nullable
        else c.values[0]
        if c.values
        else max(c.low or 0, plain.get(c.dtype, 0))
        if c.dtype.is_numeric()
        else plain.get(c.dtype, [])
        for c in contract.columns
    }
    of_set = {"outcome_set": "s"} if "outcome_set" in contract.by_name else {}
    frame = pl.DataFrame([{**blank, **of_set, **row} for row in rows], schema=contract.schema)
    return contract.arrange(frame)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A set of six questions on two routes: two calls bought under each of two seeds, one of them a help."""
    store = Store(str(tmp_path_factory.mktemp("warehouse")))
    page = {"filing_id": "f", "page_number": 0}
    grouped = {"question_group": "g"}
    put(store, "questions", [{"question_id": q, "text": "?", **grouped, "evidence": [page]} for q in ASKED])
    grades = [
        {
            "question_id": q,
            "route": route,
            "judge": "judge",
            "judged_by": "llm",
            "correct": q == "q0" and route == "top5",
        }
        for q in ASKED
        for route in ("top1", "top5")
    ]
    put(store, "route_quality", grades, judge="judge")
    answers = [
        {
            "question_id": q,
            "route": r,
            "input_tokens": 10 + i,
            "output_tokens": 3 + i,
            "total_tokens": 13 + 2 * i,
        }
        for i, q in enumerate(ASKED)
        for r in ("top1", "top5")
    ]
    put(store, "route_outcomes", answers)
    bought = [
        {
            **PAIR,
            "policy": "random",
            "gain_model": "",
            "budget_fraction": 0.5,
            "seed": s,
            "question_id": q,
            "route": "top5",
        }
        for s in (0, 1)
        for q in ("q0", f"q{s + 1}")
    ]
    put(store, "selections", bought, **PAIR)
    put(store, "predictions", folds(), **PAIR)
    put(store, "features", known(), **PAIR)
    ranked = [
        {
            "question_id": "q0",
            "retriever": "accounting",
            "pool": "filing",
            "rank": rank,
            "filing_id": "f",
            "page_number": p,
        }
        for rank, p in ((1, 4), (2, 0))
    ]
    put(store, "retrievals", ranked, retriever="accounting", pool="filing")
    filing = {"filing_id": "f", "filing_batch": "b", "page_count": 1}
    store.write_slice("filings", made("filings", [filing]), {"filing_batch": "b"})
    return store


def put(store: Store, table: str, rows: list[dict[str, Any]], **where: str) -> None:
    store.write_slice(table, made(table, rows), {"outcome_set": "s", **where})


def folds(one: int = 0) -> list[dict[str, Any]]:
    """Predictions of a set of one group: all in fold 0, but for one question where told."""
    return [
        {**PAIR, "target": "gain", "model": "m", "seed": s, "question_id": q, "fold": one if q == "q3" else 0}
        for s in (0, 1)
        for q in ASKED
    ]


def known(**leak: str) -> list[dict[str, Any]]:
    """Features with an honest count of the deep prompt; ``leak`` names columns that hold a count of the deep call."""
    counts = [{"input": 10 + i, "output": 3 + i, "total": 13 + 2 * i} for i in range(6)]
    return [
        {
            **PAIR,
            "question_id": q,
            "cheap_input_tokens": count["input"],
            "cheap_output_tokens": count["output"],
            "deep_prompt_tokens": count["input"],
            **{column: count[what] for column, what in leak.items()},
        }
        for q, count in zip(ASKED, counts, strict=True)
    ]


def summary(**changed: float) -> list[dict[str, Any]]:
    right = {"selected_calls": 2.0, "helped": 1.0, "hurt": 0.0, "neutral": 1.0}
    at = {**PAIR, "policy": "random", "gain_model": "", "budget_fraction": 0.5}
    return [{**at, **right, **changed}]


def reasons(first: int = 4) -> list[dict[str, Any]]:
    where = {"question_id": "q0", "retriever": "accounting", "pool": "filing", "filing_id": "f"}
    return [{**where, "rank": 1, "page_number": first}, {**where, "rank": 2, "page_number": 0}]


def finals(**changed: str) -> list[dict[str, Any]]:
    return [{**PAIR, "question_id": q, "route": "top1", "quotes": [], **changed} for q in ASKED]


def compared(low: float) -> list[dict[str, Any]]:
    return [{**PAIR, "policy": "random", "difference": 0.1, "ci_low": low, "ci_high": 0.2}]


def graded(*labels: str) -> list[dict[str, Any]]:
    one = {"question_id": "q0", "judge": "j", "session": "1", "pass_number": 0, "status": "judged"}
    return [{**one, "route": f"top{i}", "candidate_label": label} for i, label in enumerate(labels)]


CASES = [
    ("policy_summary", "calls_add_up", summary(), True),
    # Neutral is what is left over: only counting the calls again tells that these are wrong.
    ("policy_summary", "calls_add_up", summary(helped=0.0, neutral=2.0), False),
    ("policy_summary", "calls_add_up", summary(helped=2.0, neutral=0.0), False),
    ("policy_summary", "calls_add_up", summary(hurt=1.0, neutral=0.0), False),
    ("policy_summary", "calls_add_up", summary(selected_calls=3.0, neutral=2.0), False),
    ("policy_summary", "drift", summary(predicted_budget=100.0, realised_spend=20.0), True),
    ("policy_summary", "drift", summary(predicted_budget=100.0, realised_spend=106.0), False),
    ("judgements", "one_label_a_route", graded("A", "B"), True),
    ("judgements", "one_label_a_route", graded("A", "A"), False),
    ("predictions", "each_filing_in_one_fold", folds(), True),
    ("predictions", "each_filing_in_one_fold", folds(1), False),
    ("features", "not_the_deep_outcome", known(), True),
    ("features", "not_the_deep_outcome", known(deep_prompt_tokens="total"), False),
    ("features", "not_the_deep_outcome", known(cheap_numbers="output"), False),
    ("features", "not_the_deep_outcome", known(answer_words="input"), False),
    ("policy_comparison", "interval_holds_the_difference", compared(0.0), True),
    ("policy_comparison", "interval_holds_the_difference", compared(0.15), False),
    ("retrieval_reasons", "of_the_first_pages", reasons(), True),
    ("retrieval_reasons", "of_the_first_pages", reasons(5), False),
    ("final_answers", "once_a_question", finals(), True),
    ("final_answers", "once_a_question", finals()[1:], False),
    ("final_answers", "once_a_question", finals(route="direct"), False),
]


@pytest.mark.parametrize(("table", "check", "rows", "passes"), CASES)
def test_a_check_finds_what_it_is_for(
    store: Store, table: str, check: str, rows: list[dict[str, Any]], passes: bool
) -> None:
    [one] = [one for one in sql_checks()[table] if one.name == check]
    found = catalog.query(store, one.statement, shown(table, made(table, rows)))
    assert found.is_empty() == passes, found


@pytest.mark.parametrize(("pages", "passes"), [([0], True), ([], False), ([0, 1], False)])
def test_a_filing_without_its_pages_is_found(store: Store, pages: list[int], passes: bool) -> None:
    """A batch of no page at all is checked against its filings too."""
    [one] = [one for one in sql_checks()["pages"] if one.name == "filing_known"]
    rows = made("pages", [{"filing_id": "f", "filing_batch": "b", "page_number": n} for n in pages])
    found = catalog.query(store, one.statement, shown("pages", rows, {"filing_batch": "b"}))
    assert found.is_empty() == passes


def test_closed_sets_are_the_library_s_own() -> None:
    def values(table: str, column: str) -> set[str]:
        return set(TABLES[table].by_name[column].values)

    assert values("pages", "page_kind") == values("retrieval_reasons", "page_kind") == set(PAGE_KINDS)
    assert values("resolutions", "status") == set(STATUSES)
    assert values("resolver_summary", "status") == {*STATUSES, "all"}
    assert values("retrieval_shares", "left_out") == set(SIGNALS)
    assert values("system_comparison", "metric") == set(METRICS)
    listed = [c.name for c in TABLES["retrieval_reasons"].columns if c.dtype == pl.Float64]
    assert tuple(listed) == SIGNAL_COLUMNS
    with pytest.raises(ContractError, match="status"):
        TABLES["resolutions"].validate(made("resolutions", [{"question_id": "q0", "status": "guessed"}]))


def test_hit_rates_by_query_are_those_of_the_summary(warehouse_folder: Path) -> None:
    """Questions without cited pages say nothing of hits; one without a ranked page is a miss."""
    store = Store()
    page = {"filing_id": "f", "page_number": 0}
    rows = [{"question_id": q, "text": "?", "evidence": [] if q == "q5" else [page]} for q in ASKED]
    store.write_slice("questions", made("questions", rows), {"outcome_set": "s"})
    ranked = [
        {
            "question_id": q,
            "retriever": "tfidf",
            "pool": "filing",
            "rank": rank,
            "filing_id": "f",
            "page_number": p,
        }
        for q, order in {"q0": (0, 1), "q1": (1, 0), "q2": (1,), "q5": (0,)}.items()
        for rank, p in enumerate(order, start=1)
    ]
    put(store, "retrievals", ranked, retriever="tfidf", pool="filing")
    wanted = retrieval_summary(store.read("questions"), made("retrievals", ranked), {"f": "whole"})
    query = (sql_folder("queries") / "hit_rates.sql").read_text(encoding="utf-8")
    [row] = catalog.query(store, query).rows(named=True)
    at = {
        k: rate for k, rate, family in wanted.select("k", "hit_rate", "family").iter_rows() if family == "all"
    }
    assert (row["questions"], row["first"], row["first_five"]) == (5, at[1], at[5]) == (5, 0.2, 0.4)

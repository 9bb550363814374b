"""Names in a call are refused before anything is written: sets, routes, judges, policies, rankings."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from apportion.defaults import GAIN_MODEL
from apportion.prediction.cost import COST_MODEL_IN_USE
from assets.answered import answered_ranking, check_one_ranking
from assets.judged import is_decided_by_itself, sets_to_learn_from
from assets.resources import Comparison
from orchestration.app import CallError
from orchestration.commands import checking, live
from orchestration.commands.checking import DEPLOYABLE, check_grades, check_policy, check_route, set_ranking
from orchestration.commands.work import lacking
from orchestration.output import Format
from warehouse.contracts import TABLES
from warehouse.store import Store

MADE = {"retriever": "accounting", "pool": "evidence"}


def write(store: Store, table: str, rows: list[dict[str, object]], **made: object) -> None:
    """Commit rows of one set, with the arguments that made them."""
    where = {"outcome_set": str(rows[0]["outcome_set"])}
    if table == "route_quality":
        where["judge"] = str(rows[0]["judge"])
    metadata = {"asset_partition": where["outcome_set"], "slice": where, "arguments": made}
    store.write_slice(table, TABLES[table].arrange(pl.DataFrame(rows)), where, metadata)


def ask(store: Store, name: str, *golds: str | None) -> None:
    """A question a filing."""
    rows = [
        {
            "outcome_set": name,
            "question_id": f"q{i or ''}",
            "text": "why?",
            "evidence": [{"filing_id": f"f{i}", "page_number": 1}],
            "reference_answer": gold,
        }
        for i, gold in enumerate(golds)
    ]
    write(store, "questions", rows)


def answer(store: Store, name: str, *routes: str, **made: object) -> None:
    row = {
        "outcome_set": name,
        "question_id": "q",
        "model": "m",
        "calls_made": 1,
        "status": "ok",
        "context": [],
    }
    write(store, "route_outcomes", [{**row, "route": route, "quotes": []} for route in routes], **made)


def grade(store: Store, name: str, judge: str) -> None:
    row = {"outcome_set": name, "question_id": "q", "route": "top1", "judge": judge, "judged_by": "llm"}
    write(store, "route_quality", [{**row, "quality": 1.0, "correct": True}])


@pytest.fixture
def store(warehouse_folder: Path) -> Store:
    """Set `mine` answered on two routes that read pages, `bare` on none, `log` elsewhere; `fresh` not at all."""
    store = Store()
    for name in ("mine", "bare", "log", "fresh"):
        ask(store, name, "5", "6")
    answer(store, "mine", "direct", "top1", "top2", "hdrr", routes=["direct"], model="m", **MADE)
    answer(store, "bare", "direct", "hdrr", **MADE)
    answer(store, "log", "top1", "top1#2", "gpt")
    grade(store, "mine", "embedded/judge")
    grade(store, "log", "human")
    grade(store, "log", "other")
    return store


def test_a_set_keeps_the_ranking_it_was_answered_from(store: Store) -> None:
    assert set_ranking("mine", None, None, ["cbr", "hdrr"]) == MADE
    assert set_ranking("mine", None, None) == MADE
    assert set_ranking("mine", "accounting", None, ["top5"]) == MADE
    for new in ("fresh", "log"):
        assert set_ranking(new, None, None, ["top1"]) == {"retriever": "tfidf", "pool": "filing"}
        assert set_ranking(new, "fulltext", "corpus", ["top1"]) == {"retriever": "fulltext", "pool": "corpus"}
    assert answered_ranking(store, "log") == answered_ranking(store, "fresh") == {}


@pytest.mark.parametrize("routes", [["cbr", "hdrr"], ["top1"], ["direct", "top1", "top5"], []])
def test_another_ranking_is_refused_beside_answers_that_stay(store: Store, routes: list[str]) -> None:
    kept = "top1, top2" if "top1" not in routes else "top2"
    with pytest.raises(
        CallError, match=f"--retriever tfidf: set 'mine' was answered from accounting, and {kept} "
    ):
        set_ranking("mine", "tfidf", None, routes)
    with pytest.raises(CallError, match=f"--pool filing: set 'mine' was answered from evidence, and {kept} "):
        set_ranking("mine", None, "filing", routes)
    # Whoever starts the step elsewhere than at the command line is refused by the same rule.
    with pytest.raises(ValueError, match=rf"\(--routes {','.join((*routes, *kept.split(', ')))}\)$"):
        check_one_ranking(store, "mine", {"retriever": "tfidf", "pool": "evidence"}, routes)


def test_another_ranking_may_answer_every_route_that_reads_pages(store: Store) -> None:
    assert set_ranking("mine", "tfidf", None, ["top1", "top2"]) == {**MADE, "retriever": "tfidf"}
    assert set_ranking("bare", "tfidf", "filing", ["top1"]) == {"retriever": "tfidf", "pool": "filing"}


def test_decisions_rest_on_the_pages_that_the_answers_read(store: Store) -> None:
    with pytest.raises(CallError, match="was answered from accounting; leave --retriever out"):
        set_ranking("mine", "tfidf", None)
    with pytest.raises(CallError, match="was answered from evidence; leave --pool out"):
        set_ranking("bare", None, "corpus")
    with pytest.raises(CallError, match=r"--retriever acounting: .* did you mean accounting\?"):
        set_ranking("mine", "acounting", None)
    with pytest.raises(CallError, match=r"there is no set 'mime'; did you mean mine\?"):
        set_ranking("mime", None, None)


def test_a_judge_has_to_have_graded(store: Store) -> None:
    check_grades("human", "log")
    check_grades(None, "mine")
    check_grades("human", "mine", "log")
    check_grades("human")
    check_grades(None, "log", needed=False)
    with pytest.raises(
        CallError, match=r"no grades by 'embedded/juge' in set 'mine'; did you mean embedded/judge\?"
    ):
        check_grades("embedded/juge", "mine")
    with pytest.raises(CallError, match="no grades by 'human' in set 'mine'"):
        check_grades("human", "mine")
    with pytest.raises(CallError, match=r"several judges \(human, other\); choose one with --judge"):
        check_grades(None, "log")
    with pytest.raises(CallError, match="no grades in set 'bare'"):
        check_grades(None, "bare")


def test_policies_are_those_that_can_decide() -> None:
    for policy in DEPLOYABLE:
        check_policy(policy)
    with pytest.raises(CallError, match=r"did you mean gain_per_token\?"):
        check_policy("gain_per_tokn")
    with pytest.raises(CallError, match="choose a deployable one"):
        check_policy("oracle")


def test_a_route_is_one_of_ours_or_of_the_log(store: Store) -> None:
    check_route("--deep", "hdrr")
    check_route("--deep", "gpt", ["gpt"])
    with pytest.raises(CallError, match=r"--deep top55: there is no route 'top55'; did you mean top5\?"):
        check_route("--deep", "top55")
    with pytest.raises(CallError, match=r"no outcome on route 'top11'; did you mean top1\?"):
        checking.check_answered("mine", "hdrr", "top11")
    with pytest.raises(CallError, match="has no outcome yet; answer it with `apportion run --set fresh`"):
        checking.check_answered("fresh")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"policy": "gain_per_tokn"}, "did you mean gain_per_token"),
        ({"deep": "top9"}, "did you mean top5"),
        ({"cheap": "top11"}, "did you mean top1"),
        ({"judge": "embedded/juge"}, "did you mean embedded/judge"),
        (
            {"learn_from": ["mime"], "judge": None},
            "--learn-from mime: no such set is evaluated from top1 to top5",
        ),
        ({"budget": 0.1, "tokens": 5}, "exactly one"),
        ({}, "no set is evaluated from top1 to top5"),
    ],
)
def test_plan_and_escalate_check_names_alike_and_first(
    store: Store, wrong: dict[str, object], said: str
) -> None:
    given = {
        "cheap": "top1",
        "deep": "top5",
        "judge": None,
        "policy": "knapsack",
        "learn_from": [],
        "tokens": 9,
    }
    given |= wrong
    comparison = {name: given.pop(name) for name in ("cheap", "deep", "judge")}
    for command in (live.plan, live.escalate):
        with pytest.raises(CallError, match=said):
            command("mine", comparison, MADE, given, Format.csv)
    assert store.version("features") is None


def test_grades_to_learn_from_are_one_judge_s(store: Store) -> None:
    of_pair = {"outcome_set": "log", "cheap_route": "top1", "deep_route": "top5"}
    told = {"target": "gain", "model": "m", "seed": 1, "question_id": "q", "fold": 0, "predicted": 0.5}
    write(store, "predictions", [{**of_pair, **told}])
    given = {"policy": "knapsack", "learn_from": [], "tokens": 9}
    pair = {"cheap": "top1", "deep": "top5", "judge": None}
    for learn_from in ([], ["log"]):
        with pytest.raises(CallError, match="set 'log' has grades of several judges"):
            live.plan("mine", pair, MADE, {**given, "learn_from": learn_from}, Format.csv)
    with pytest.raises(CallError, match="no grades by 'embedded/judge' in set 'log'"):
        live.escalate("mine", {**pair, "judge": "embedded/judge"}, MADE, given, Format.csv)
    assert store.version("features") is None


def predict(store: Store, name: str) -> None:
    pair = {"outcome_set": name, "cheap_route": "top1", "deep_route": "top5"}
    told = {"seed": 1, "question_id": "q", "fold": 0, "predicted": 0.5}
    models = {"gain": GAIN_MODEL, "cost": COST_MODEL_IN_USE}
    write(
        store, "predictions", [{**pair, **told, "target": target, "model": m} for target, m in models.items()]
    )


def test_a_set_learns_from_sets_of_its_own_ranking(store: Store) -> None:
    pair = Comparison()
    ask(store, "other", "5")
    answer(store, "other", "top1", "top5", retriever="tfidf", pool="filing")
    predict(store, "other")
    with pytest.raises(ValueError, match=r"'mine' was answered from accounting and evidence.* are: other"):
        sets_to_learn_from(store, "mine", pair)
    given = {"policy": "knapsack", "learn_from": [], "tokens": 9}
    sides = {"cheap": "top1", "deep": "top5", "judge": None}
    for command in (live.plan, live.escalate):
        with pytest.raises(CallError, match="name others with --learn-from"):
            command("mine", sides, MADE, given, Format.csv)
    assert sets_to_learn_from(store, "mine", pair, ["other"]) == ["other"]
    # Neither log has a ranking: one teaches whoever asks, the other learns from whoever is judged.
    predict(store, "log")
    assert sets_to_learn_from(store, "mine", pair) == ["log"]
    assert sets_to_learn_from(store, "log", pair) == ["log", "other"]


def test_a_set_teaches_itself_where_its_predictions_are_held_out(store: Store) -> None:
    predict(store, "mine")
    assert sets_to_learn_from(store, "mine", Comparison()) == ["mine"]
    assert is_decided_by_itself(store, "mine", Comparison())
    with pytest.raises(ValueError, match="`apportion evaluate --set mine --gain-model weighted` makes them"):
        sets_to_learn_from(store, "mine", Comparison(gain_model="weighted"))


def test_an_encoder_is_there_before_it_is_asked(tmp_path: Path) -> None:
    for there in (None, "local", str(tmp_path)):
        assert checking.comparison("a", "b", None, None, text_encoder=there)["text_encoder"] == there
    with pytest.raises(CallError, match="there is no such folder; give one, or local"):
        checking.comparison("a", "b", None, None, text_encoder=str(tmp_path / "nowhere"))
    with pytest.raises(CallError, match=r"did you mean ridge_boosting\?"):
        checking.comparison("a", "b", None, None, "ridge_bosting")


def test_a_pair_is_told_apart_or_in_one_list() -> None:
    assert checking.pair_of(None, None, None) == ("top1", "top5")
    assert checking.pair_of(None, "*", None) == ("top1", "*")
    assert checking.pair_of(None, None, "hdrr, top1,sfr") == ("hdrr", "top1,sfr")
    for routes in ("top1", "top1,top1", "", ","):
        with pytest.raises(CallError, match="two or more, each once, the cheap one first"):
            checking.pair_of(None, None, routes)
    for cheap, deep in (("top1", None), (None, "top5")):
        with pytest.raises(CallError, match="leave --cheap and --deep out"):
            checking.pair_of(cheap, deep, "top1,top5")


def test_what_an_evaluation_lacks_is_named_with_its_remedy(store: Store) -> None:
    assert lacking("mine", "top1", "top5", ["top5"]) is None
    assert lacking("mine", "top1", "hdrr", ["cbr"]) is None
    assert lacking("fresh", "top1", "top5", ["top1", "hdrr"]) == (
        "the pair top1, top5 has no answers on top5; "
        "`apportion evaluate --set fresh --routes top1,hdrr` compares what there is"
    )
    assert "no answers on top1 and top5; " in str(lacking("fresh", "top1", "top5", ["sfr", "hdrr"]))
    assert "--routes sfr,hdrr`" in str(lacking("fresh", "top1", "top5", ["sfr", "hdrr"]))
    assert str(lacking("fresh", "top1", "top5", ["top1"])).endswith(
        "`apportion run --set fresh --routes top5` answers"
    )
    assert "#" not in str(lacking("log", "direct", "top5", ["cbr"]))
    ask(store, "half", "5", None)
    assert "answers are of one filing" in str(lacking("half", "top1", "top5", ["top1", "top5"]))
    ask(store, "blind", None)
    assert "no question has a reference answer" in str(lacking("blind", "top1", "top5", ["top1", "top5"]))

"""From what is known at the decision to who is escalated: features, held-out predictions, orders, selections."""

from collections.abc import Iterator
from typing import Any

import dagster as dg
import polars as pl

from apportion.evaluation.many import ManyRoutes, ManySweep, many_selection_frames, sweep_many
from apportion.evaluation.pairs import Pairs, pair_outcomes
from apportion.evaluation.sweep import Sweep, order_frames, selection_frames, sweep_policies
from apportion.features.accounting import accounting_signals
from apportion.features.consistency import samples_of
from apportion.features.decision import decision_features
from apportion.features.logged import answer_rows, logged_features
from apportion.features.signals import SIGNAL_GROUPS, retrieval_signals
from apportion.prediction.cost import COST_MODEL_IN_USE
from apportion.prediction.crossfit import crossfit
from apportion.prediction.ensemble import NAME as PAPER_MODEL
from apportion.prediction.pool import AnswerPool
from apportion.prediction.training import Training
from apportion.retrieval.retrievers import ACCOUNTING
from apportion.routes.answering import DEPTHS
from assets.checks import specs
from assets.learning import answer_pool, contexts_of, encoder_of, features_with_texts, judge_of
from assets.partitions import every_batch, outcome_sets
from assets.publishing import column_schema, publish
from assets.reading import retrieved_pages, set_questions
from assets.resources import Answering, Comparison, Warehouse
from assets.several import MANY, SeveralComparison
from warehouse.contracts import TABLES
from warehouse.store import Store


def pair_slice(outcome_set: str, comparison: Comparison) -> dict[str, str]:
    """The slice of one pair of routes of one set."""
    return {"outcome_set": outcome_set, "cheap_route": comparison.cheap, "deep_route": comparison.deep}


def with_pair(rows: pl.DataFrame, outcome_set: str, comparison: Comparison) -> pl.DataFrame:
    """Rows with the columns of their slice."""
    return rows.with_columns(
        pl.lit(value).alias(name) for name, value in pair_slice(outcome_set, comparison).items()
    )


def read_pairs(store: Store, outcome_set: str, comparison: Comparison, *, costed: bool = True) -> Pairs:
    """The set's questions with both outcomes of the pair; without ``costed`` also those whose tokens nobody counted."""
    quality = store.read("route_quality", {"outcome_set": outcome_set})
    if comparison.judge is not None:
        quality = quality.filter(pl.col("judge") == comparison.judge)
    pairs = pair_outcomes(
        set_questions(store, outcome_set),
        store.read("route_outcomes", {"outcome_set": outcome_set}),
        quality,
        comparison.cheap,
        comparison.deep,
        costed=costed,
    )
    if len(pairs) == 0:
        what = "graded and has its tokens counted" if costed else "graded"
        raise ValueError(
            f"set {outcome_set!r} has no question that is {what} on both {comparison.cheap} and {comparison.deep}"
        )
    return pairs


def training_of(pairs: Pairs, features: pl.DataFrame, pool: AnswerPool | None = None) -> Training:
    """What the predictors learn from, in the order of the question ids."""
    rows = pairs.frame.select("question_id").join(features, on="question_id", how="left").sort("question_id")
    return Training(
        features=rows,
        groups=pairs.groups,
        gain=pairs.gain,
        input_tokens=pairs.values("deep_input_tokens"),
        output_tokens=pairs.values("deep_output_tokens"),
        helped=pairs.helped,
        hurt=pairs.hurt,
        pool=pool,
    )


def read_training(store: Store, outcome_set: str, comparison: Comparison) -> tuple[Pairs, Training]:
    """The graded questions of a pair, and all that the predictors learn from."""
    pairs = read_pairs(store, outcome_set, comparison, costed=False)
    # The paper's ensemble learns from the pair alone; the pool costs every other answer's signals.
    pool = None
    if comparison.gain_model != PAPER_MODEL:
        pool = answer_pool(store, outcome_set, comparison, judge_of(store, outcome_set, comparison))
    known = store.read("features", pair_slice(outcome_set, comparison))
    told = features_with_texts(store, outcome_set, comparison, known)
    return pairs, training_of(pairs, told, pool)


@dg.asset(
    group_name="decisions",
    partitions_def=outcome_sets,
    deps=["questions", "retrievals", "route_outcomes", every_batch("pages")],
    check_specs=specs("features"),
    metadata={"dagster/column_schema": column_schema("features")},
    kinds={"deltalake", "polars"},
)
def features(
    context: dg.AssetExecutionContext, warehouse: Warehouse, answering: Answering, comparison: Comparison
) -> Iterator[Any]:
    """What is known of each question when the deeper call is decided on."""
    store = warehouse.store()
    outcome_set = context.partition_key
    ranked = store.read(
        "retrievals", {"outcome_set": outcome_set, "retriever": answering.retriever, "pool": answering.pool}
    )
    asked = set_questions(store, outcome_set)
    outcomes = store.read("route_outcomes", {"outcome_set": outcome_set})
    cheap = outcomes.filter(pl.col("route") == comparison.cheap)
    sampled = outcomes.filter((pl.col("route") == comparison.cheap) | samples_of(comparison.cheap))
    signals = (
        answer_rows(asked, sampled, contexts_of(store, outcome_set, cheap))
        .filter(pl.col("route") == comparison.cheap)
        .drop("route")
    )
    if ranked.is_empty() or not {comparison.cheap, comparison.deep} <= DEPTHS.keys():
        deep = outcomes.filter(pl.col("route") == comparison.deep)
        # Without our own wording of an abstention, a refusal is told by its wording alone.
        refused = (pl.col("cheap_refused") | pl.col("refuses")).alias("cheap_refused")
        rows = logged_features(asked, cheap, deep).join(signals, on="question_id").with_columns(refused)
    else:
        read = retrieved_pages(store, outcome_set, ranked)
        found = decision_features(
            asked,
            ranked,
            read,
            cheap,
            comparison.cheap,
            comparison.deep,
        ).join(signals, on="question_id", maintain_order="left")
        rows = found.hstack(_retrieval_signals(store, outcome_set, answering, comparison, ranked, found))
        if answering.retriever == ACCOUNTING:
            rows = rows.hstack(
                accounting_signals(
                    found.select("question_id").join(asked, on="question_id", maintain_order="left"),
                    ranked,
                    read,
                    DEPTHS[comparison.cheap],
                    DEPTHS[comparison.deep],
                )
            )
    yield from publish(
        context,
        store,
        "features",
        with_pair(rows, outcome_set, comparison),
        pair_slice(outcome_set, comparison),
        inputs={"questions": None, "retrievals": None, "route_outcomes": None},
        arguments={"retriever": answering.retriever, "pool": answering.pool},
    )


def _retrieval_signals(
    store: Store,
    outcome_set: str,
    answering: Answering,
    comparison: Comparison,
    ranked: pl.DataFrame,
    found: pl.DataFrame,
) -> pl.DataFrame:
    """What retrieval says of the pages not read, in the order of the features."""
    depth = DEPTHS[comparison.cheap]
    scores = _by_question(ranked)
    return pl.DataFrame(
        [
            retrieval_signals(scores.get(question, ()), depth, cheap, deep)
            for question, cheap, deep in found.select(
                "question_id", "coverage_cheap", "coverage_deep"
            ).iter_rows()
        ],
        schema=dict.fromkeys(SIGNAL_GROUPS["retrieval"], pl.Float64),
    )


def _by_question(ranked: pl.DataFrame) -> dict[str, list[float]]:
    scores: dict[str, list[float]] = {}
    for question, score in ranked.sort("question_id", "rank").select("question_id", "score").iter_rows():
        scores.setdefault(question, []).append(score)
    return scores


@dg.asset(
    group_name="decisions",
    partitions_def=outcome_sets,
    deps=["features", "route_outcomes", "route_quality"],
    check_specs=specs("predictions"),
    metadata={"dagster/column_schema": column_schema("predictions")},
    kinds={"deltalake", "scikitlearn"},
)
def predictions(
    context: dg.AssetExecutionContext, warehouse: Warehouse, comparison: Comparison
) -> Iterator[Any]:
    """Gain and cost of the deeper call, predicted by models that saw nothing of the question's filing."""
    store = warehouse.store()
    outcome_set = context.partition_key
    where = pair_slice(outcome_set, comparison)
    pairs, training = read_training(store, outcome_set, comparison)
    rows = crossfit(training)
    yield from publish(
        context,
        store,
        "predictions",
        with_pair(rows, outcome_set, comparison),
        where,
        inputs={"features": None, "route_outcomes": None, "route_quality": None},
        arguments=None if encoder_of(comparison) is None else {"text_encoder": encoder_of(comparison)},
        metadata={"filings": len(set(pairs.groups)), "left_out": pairs.left_out},
    )


def allocate(
    store: Store, outcome_set: str, comparison: Comparison, bought: pl.DataFrame | None = None
) -> Sweep | ManySweep:
    """Every policy at every budget from the stored predictions, or as ``bought``, rows of `selections`, has it."""
    if comparison.deep == MANY:
        return _allocate_many(store, outcome_set, comparison, bought)
    where = pair_slice(outcome_set, comparison)
    return sweep_policies(
        read_pairs(store, outcome_set, comparison),
        store.read("features", where),
        store.read("predictions", where),
        gain_model=comparison.gain_model,
        cost_model=COST_MODEL_IN_USE,
        budgets=comparison.budgets,
        bought=bought,
    )


def _deep_routes(comparison: Comparison) -> list[str]:
    return list(comparison.deep_routes) if isinstance(comparison, SeveralComparison) else []


def _allocate_many(
    store: Store, outcome_set: str, comparison: Comparison, bought: pl.DataFrame | None
) -> ManySweep:
    routes = _deep_routes(comparison)
    pairs = {route: comparison.model_copy(update={"deep": route}) for route in routes}
    predicted = {
        route: store.read("predictions", pair_slice(outcome_set, pair)) for route, pair in pairs.items()
    }
    lacking = [route for route, rows in predicted.items() if rows.is_empty()]
    if len(pairs) < 2 or lacking:
        raise ValueError(
            f"set {outcome_set!r} has no predictions from {comparison.cheap} to {', '.join(lacking) or 'two routes'}; "
            "`apportion evaluate` with all of --deep makes them"
        )
    known = store.read("features", pair_slice(outcome_set, pairs[routes[0]]))
    return sweep_many(
        ManyRoutes.of({route: read_pairs(store, outcome_set, pair) for route, pair in pairs.items()}),
        known,
        predicted,
        gain_model=comparison.gain_model,
        cost_model=COST_MODEL_IN_USE,
        budgets=comparison.budgets,
        bought=bought,
    )


@dg.multi_asset(
    name="allocation",
    group_name="decisions",
    partitions_def=outcome_sets,
    specs=[
        dg.AssetSpec(
            "orders",
            deps=["features", "predictions", "route_outcomes", "route_quality"],
            description="The order in which each greedy policy offers the budget.",
            metadata={"dagster/column_schema": column_schema("orders")},
            kinds={"deltalake", "numpy"},
        ),
        dg.AssetSpec(
            "selections",
            deps=["orders"],
            description="The calls that each policy bought at each budget.",
            metadata={"dagster/column_schema": column_schema("selections")},
            kinds={"deltalake", "numpy"},
        ),
    ],
    check_specs=[*specs("orders"), *specs("selections")],
)
def allocation(
    context: dg.AssetExecutionContext, warehouse: Warehouse, comparison: Comparison
) -> Iterator[Any]:
    """Who is escalated, by every policy at every budget under every seed."""
    store = warehouse.store()
    outcome_set = context.partition_key
    sweep = allocate(store, outcome_set, comparison)
    if isinstance(sweep, ManySweep):
        # Several steps of one question may stand in an order: only what was chosen is kept.
        written = (("orders", iter(())), ("selections", many_selection_frames(sweep)))
    else:
        written = (("orders", order_frames(sweep)), ("selections", selection_frames(sweep, comparison.deep)))
    for table, frames in written:
        rows = pl.concat(
            [TABLES[table].empty().drop(*pair_slice(outcome_set, comparison)), *frames],
            how="vertical_relaxed",
        )
        yield from publish(
            context,
            store,
            table,
            with_pair(rows, outcome_set, comparison),
            pair_slice(outcome_set, comparison),
            inputs={"features": None, "predictions": None, "route_outcomes": None, "route_quality": None},
            arguments={
                "budgets": list(comparison.budgets),
                "gain_model": comparison.gain_model,
                "cost_model": COST_MODEL_IN_USE,
                **({"deep_routes": _deep_routes(comparison)} if comparison.deep == MANY else {}),
            },
        )


def read_sweep(store: Store, outcome_set: str, comparison: Comparison) -> Sweep | ManySweep:
    """The sweep as the table `selections` has it."""
    return allocate(
        store, outcome_set, comparison, store.read("selections", pair_slice(outcome_set, comparison))
    )

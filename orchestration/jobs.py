"""Jobs: the stages that a command, a schedule or a person in the UI runs."""

from __future__ import annotations

import dagster as dg

from assets.published import PUBLISHED_TABLES
from assets.routing import ROUTING_TABLES
from assets.several import MANY_TABLES
from assets.systems_published import SYSTEM_TABLES

CORPUS = ("filings", "pages")
RETRIEVAL = ("resolutions", "retrievals")
ANSWERS = ("route_outcomes", "judgements", "route_quality", "calls")
DECISIONS = ("features", "predictions", "orders", "selections")
GRADES = ("judgements", "route_quality", "calls", "human_agreement")
PUBLISHED = ("human_agreement", *PUBLISHED_TABLES)
SEVERAL = ("orders", "selections", "route_summary", *MANY_TABLES)
"""What there is where one of several deep routes is chosen for each question."""

ingest_filings = dg.define_asset_job(
    "ingest_filings", dg.AssetSelection.assets(*CORPUS), description="A batch of filings and their pages."
)
ingest_questions = dg.define_asset_job(
    "ingest_questions", dg.AssetSelection.assets("questions"), description="The questions of a set."
)
list_edgar = dg.define_asset_job(
    "list_edgar", dg.AssetSelection.assets("edgar_index"), description="What EDGAR lists for a day."
)
index_pages = dg.define_asset_job(
    "index_pages", dg.AssetSelection.assets("page_index"), description="The shards of a batch's filings."
)
index_chunks = dg.define_asset_job(
    "index_chunks",
    dg.AssetSelection.assets("chunks", "chunk_index"),
    description="The chunks of a batch's filings and their index.",
)
retrieve = dg.define_asset_job(
    "retrieve",
    dg.AssetSelection.assets(
        *RETRIEVAL, "resolver_summary", "retrieval_summary", "retrieval_reasons", "retrieval_shares"
    ),
    description="Rank pages and count hits. No model is called.",
)
import_log = dg.define_asset_job(
    "import_log",
    dg.AssetSelection.assets("imported_log"),
    description="A log of outcomes from elsewhere, as a set. No model is called.",
)
answer = dg.define_asset_job(
    "answer",
    dg.AssetSelection.assets(*RETRIEVAL, *ANSWERS),
    description="Retrieve, answer on every route, judge. Calls models.",
)
grade = dg.define_asset_job(
    "grade",
    dg.AssetSelection.assets(*GRADES),
    description="Grade a set's answers, logged ones too, and compare with its human labels. Calls the judge.",
)
evaluate = dg.define_asset_job(
    "evaluate",
    dg.AssetSelection.assets(*DECISIONS, *PUBLISHED),
    description="Predict, allocate and publish from logged outcomes. No model is called.",
)
evaluate_many = dg.define_asset_job(
    "evaluate_many",
    dg.AssetSelection.assets(*SEVERAL),
    description="Choose among several deep routes, from the predictions of each. No model is called.",
)
publish = dg.define_asset_job(
    "publish", dg.AssetSelection.assets(*PUBLISHED), description="The published tables, from what is decided."
)
run = dg.define_asset_job(
    "run",
    dg.AssetSelection.assets(*RETRIEVAL, *ANSWERS, *DECISIONS, *PUBLISHED),
    description="The whole way from a set's questions to its published tables. Calls models.",
)

fit_models = dg.define_asset_job(
    "fit_models",
    dg.AssetSelection.assets("benefit_model", "cost_model"),
    description="What the live decision uses, from the judged sets.",
)
routing = dg.define_asset_job(
    "routing",
    dg.AssetSelection.assets(*ROUTING_TABLES),
    description="Whether routing among K arms could pay, and how much a router collects. No model is called.",
)
compare_systems = dg.define_asset_job(
    "compare_systems",
    dg.AssetSelection.assets("resolver_summary", "rubric_scores", *SYSTEM_TABLES),
    description="Score every answer by the rubric and compare the systems. Calls models unless the judge is embedded.",
)
laboratory = dg.define_asset_job(
    "laboratory",
    dg.AssetSelection.assets("laboratory_queries", "laboratory_summary"),
    description="The synthetic corpus on which arms change places by construction.",
)
report = dg.define_asset_job(
    "write_report", dg.AssetSelection.assets("report"), description="The HTML report."
)
escalate = dg.define_asset_job(
    "escalate",
    dg.AssetSelection.assets("features", "final_answers", "calls"),
    description="Make the deeper calls that a budget buys. Calls models.",
)

jobs = [
    ingest_filings,
    ingest_questions,
    list_edgar,
    index_pages,
    index_chunks,
    retrieve,
    import_log,
    answer,
    grade,
    evaluate,
    evaluate_many,
    publish,
    run,
    fit_models,
    routing,
    compare_systems,
    laboratory,
    report,
    escalate,
]

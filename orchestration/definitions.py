"""Everything Dagster sees of the project."""

from __future__ import annotations

import dagster as dg

from assets.agreement import human_agreement
from assets.asking import questions, retrieval_summary, retrievals
from assets.chunking import chunk_index, chunks
from assets.corpus import corpus
from assets.decisions import allocation, features, predictions
from assets.edgar import Edgar, edgar_index
from assets.explaining import retrieval_reasons, retrieval_shares
from assets.filings import FilingFiles
from assets.importing import OutcomeLog, imported_log
from assets.indices import page_index
from assets.laboratory import Laboratory, laboratory
from assets.live import decision_models, final_answers
from assets.outcomes import calls, judgements, route_outcomes, route_quality
from assets.published import published
from assets.reporting import report
from assets.resolving import resolutions, resolver_summary
from assets.resources import defaults
from assets.routing import Routing, routing
from assets.several import SeveralComparison
from assets.systems_published import rubric_scores, system_tables
from orchestration.jobs import jobs
from orchestration.schedules import schedules
from orchestration.sensors import sensors

defs = dg.Definitions(
    assets=[
        corpus,
        edgar_index,
        page_index,
        chunks,
        chunk_index,
        questions,
        imported_log,
        retrieval_reasons,
        retrieval_shares,
        resolutions,
        resolver_summary,
        retrievals,
        retrieval_summary,
        route_outcomes,
        judgements,
        route_quality,
        calls,
        human_agreement,
        features,
        predictions,
        allocation,
        decision_models,
        final_answers,
        routing,
        laboratory,
        *published,
        rubric_scores,
        *system_tables,
        report,
    ],
    resources={
        **defaults(),
        "comparison": SeveralComparison(),
        "edgar": Edgar(),
        "filing_files": FilingFiles(),
        "outcome_log": OutcomeLog(),
        "routing_setting": Routing(),
        "laboratory_size": Laboratory(),
    },
    jobs=jobs,
    schedules=schedules,
    sensors=sensors,
    executor=dg.in_process_executor,
)

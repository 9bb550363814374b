"""Columns and values that several tables share."""

from __future__ import annotations

from warehouse.schema import Column, real, share, text, whole

COVERAGE = ("evidence", "whole")
POOLS = ("evidence", "filing", "corpus")
USAGE_SOURCES = ("provider", "estimated", "assumed")
PURPOSES = ("answer", "judge", "resolve", "rewrite", "verify", "contextualise", "rerank", "embed")
CALL_STATUSES = (
    "ok",
    "refused",
    "truncated",
    "context_overflow",
    "rate_limited",
    "timeout",
    "malformed",
    "failed",
)
TARGETS = ("gain", "cost", "latency", "help", "hurt", "quality")
TARGET = text("target", "what is predicted; no model predicts `latency` or `quality` as yet", values=TARGETS)
POLICIES = (
    "random",
    "low_confidence",
    "low_margin",
    "gain_only",
    "gain_per_token",
    "knapsack",
    "oracle_cost_knapsack",
    "oracle",
    "refusal",
)
DECISIONS_MADE = ("not_selected", "same_context", "escalated", "escalation_failed", "left_out")
JUDGED_BY = ("human", "llm", "rubric", "logged")
PAGE_KINDS = (
    "cover",
    "contents",
    "index",
    "income",
    "balance",
    "cash_flow",
    "equity",
    "comprehensive_income",
    "discussion",
    "risk_factors",
    "notes",
    "legal",
    "properties",
    "market",
    "business",
    "controls",
    "governance",
    "auditor",
    "exhibits",
    "segments",
    "non_gaap",
    "other",
)
RESOLUTION_STATUSES = (
    "exact",
    "name",
    "alias",
    "filename",
    "fallback_no_ticker",
    "fallback_ambiguous",
    "fallback_no_filing",
)
ACCOUNTING_SIGNALS = {
    "question": "full text for the question's words",
    "expansion": "full text for the words that filings use for it",
    "phrases": "full text for their phrases",
    "tfidf": "hybrid TF-IDF",
    "page_kind": "how likely its kind holds the answer",
    "line_items": "wanted line items that it prints",
    "period": "asked years that head its columns",
    "figures": "its share of figures, where a figure is asked for",
    "neighbours": "full text of the pages beside it",
}
"""Signals of the retriever ``accounting``, and what each is."""
SIGNAL_COLUMNS = {"page_kind": "kind", "line_items": "items"}
"""Signals whose column has another name, since their own names a fact about the page."""
STAGES = ("front_door", "after_cheap")
SPLITS = ("held_out", "in_sample")

BATCH = text("filing_batch", "the batch that first brought the filing's bytes, or made it whole")
FILING = text("filing_id", "accession number, else the document's own name made safe")
PAGE = whole("page_number", "zero-based")
SET = text("outcome_set", "the batch of questions and all that follows from it")
QUESTION = text("question_id", "the question's id in its source")
ROUTE = text("route", "the way the question was answered")
JUDGE = text("judge", "the model, or `human`, that graded")
CHEAP = text("cheap_route", "the route already paid for")
DEEP = text("deep_route", "the deeper call decided on; `*` where there are more than two routes")
PAIR = (CHEAP, DEEP)
POLICY = text("policy", "the rule that chose", values=POLICIES)
GAIN_MODEL = text("gain_model", "the benefit model behind the policy; empty where it uses none")
BUDGET = share(
    "budget_fraction", "share of what escalating every question is predicted (oracles: was measured) to cost"
)
SEED = whole("seed", "shuffles the folds and seeds whatever is random")
QUESTIONS = whole("questions", "questions in the denominator")
ARMS = text("routes", "the routes compared, joined by commas")
STAGE = text("stage", "what is known and sunk when the choice is made", values=STAGES)


def interval(what: str) -> tuple[Column, Column]:
    """The ends of a filing-clustered 95 % interval; null where it is not estimable."""
    return (
        real("ci_low", f"lower end of the 95 % interval of {what}", nullable=True),
        real("ci_high", f"upper end of the 95 % interval of {what}", nullable=True),
    )

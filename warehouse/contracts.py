"""Every table of the warehouse, stated once.

Empty tables, validation, SQL views, column comments and the documentation page all derive from here.
"""

from __future__ import annotations

import polars as pl

from warehouse.schema import Column, Table, flag, pages, real, share, text, whole

COVERAGE = ("evidence", "whole")
POOLS = ("evidence", "filing", "corpus")
USAGE_SOURCES = ("provider", "estimated", "assumed")
PURPOSES = ("answer", "judge", "resolve", "rewrite", "verify", "contextualise", "rerank")
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


CORPUS = (
    Table(
        "filings",
        "corpus",
        "one filing",
        (
            FILING,
            BATCH,
            text("source", "the kind of source it came from"),
            text("company", "company name as its source gives it", nullable=True),
            text("ticker", "ticker symbol", nullable=True),
            text("cik", "SEC central index key, ten digits", nullable=True),
            text("form", "form type, such as 10-K", nullable=True),
            whole("fiscal_year", "fiscal year reported on", nullable=True, low=1900, high=2200),
            Column("period_end", pl.Date, "end of the period reported on", nullable=True),
            Column("filed_at", pl.Date, "day of filing", nullable=True),
            text("amends", "filing_id of the filing it amends", nullable=True),
            whole("page_count", "pages stored of it"),
            text("coverage", "only the pages that questions cite, or the whole filing", values=COVERAGE),
            text("sha256", "SHA-256 of its bytes, in hex"),
            text("status", "whether it could be read", values=("ok", "no_text", "failed")),
            text("status_reason", "why it could not", nullable=True),
        ),
        key=("filing_id",),
        slices=("filing_batch",),
    ),
    Table(
        "pages",
        "corpus",
        "one page of a filing",
        (
            FILING,
            PAGE,
            BATCH,
            text("text", "the page's text"),
            whole("token_count", "cl100k_base tokens"),
            flag("has_text", "false for an image-only page"),
            text("item", "10-K item the page belongs to", nullable=True),
            text("page_kind", "what the page is: a statement, notes, contents", nullable=True),
        ),
        key=("filing_id", "page_number"),
        slices=("filing_batch",),
    ),
    Table(
        "chunks",
        "corpus",
        "one chunk of a filing's running text",
        (
            FILING,
            whole("chunk_number", "zero-based within the filing"),
            BATCH,
            whole("page_number", "page on which the chunk begins, zero-based"),
            whole("start_char", "offset of its first character in the running text"),
            whole("end_char", "offset behind its last character"),
            text("text", "the chunk's text"),
        ),
        key=("filing_id", "chunk_number"),
        slices=("filing_batch",),
    ),
)

ASKING = (
    Table(
        "questions",
        "questions",
        "one question of a set",
        (
            SET,
            QUESTION,
            text("text", "the question"),
            text("family", "kind of question, as its source names it", nullable=True),
            text("company", "company the question names, as its source gives it", nullable=True),
            text("filing_id", "the filing named with the question", nullable=True),
            text(
                "question_group", "where no filing is known, what stays together when held out", nullable=True
            ),
            text("reference_answer", "the gold answer", nullable=True),
            pages("evidence", "the pages that hold the answer"),
            Column(
                "asked_at", pl.Datetime("us", "UTC"), "when it was asked, if its source says", nullable=True
            ),
        ),
        key=("outcome_set", "question_id"),
        slices=("outcome_set",),
    ),
    Table(
        "resolutions",
        "questions",
        "one question's resolution to filings",
        (
            SET,
            QUESTION,
            text("status", "how the filing was found, or why not"),
            Column("filing_ids", pl.List(pl.String), "the filings it resolved to"),
            Column("candidates", pl.List(pl.String), "filings that were possible"),
            Column("tickers", pl.List(pl.String), "tickers named or meant"),
            Column("fiscal_years", pl.List(pl.Int64), "fiscal years named or meant"),
        ),
        key=("outcome_set", "question_id"),
        slices=("outcome_set",),
    ),
    Table(
        "retrievals",
        "questions",
        "one ranked page or chunk for a question",
        (
            SET,
            QUESTION,
            text("retriever", "the ranking method"),
            text("pool", "which pages were searched", values=POOLS),
            whole("rank", "1 is best", low=1),
            FILING,
            PAGE,
            whole("chunk_number", "the chunk, where chunks are ranked", nullable=True),
            real("score", "the method's own score; larger is better"),
        ),
        key=("outcome_set", "question_id", "retriever", "pool", "rank"),
        slices=("outcome_set", "retriever", "pool"),
    ),
)

OUTCOMES = (
    Table(
        "calls",
        "outcomes",
        "one model call, as the ledger settled it",
        (
            text("call_id", "the ledger's id of the call"),
            SET,
            text("question_id", "the question it was first made for", nullable=True),
            text("route", "the route it was first made for", nullable=True),
            text("purpose", "what the call was for", values=PURPOSES),
            text("model", "LiteLLM model name"),
            text("request_hash", "hash of everything that identifies the call, with its algorithm"),
            text(
                "status", "how it ended, or why it has not", values=(*CALL_STATUSES, "pending", "abandoned")
            ),
            whole("attempts", "requests sent"),
            whole("input_tokens", "prompt tokens, cached ones included", nullable=True),
            whole("cached_input_tokens", "prompt tokens the provider served from its cache", nullable=True),
            whole("output_tokens", "completion tokens, reasoning included", nullable=True),
            whole("reasoning_tokens", "part of the output spent on reasoning", nullable=True),
            text("usage_source", "where the counts come from", nullable=True, values=USAGE_SOURCES),
            real("cost_usd", "money spent, USD; null where the price is unknown", nullable=True, low=0),
            real("latency_ms", "milliseconds from sending to settling", nullable=True, low=0),
            Column("created_at", pl.Datetime("us", "UTC"), "when it was first written to the ledger"),
        ),
        key=("call_id",),
        slices=("outcome_set",),
        notes="The ledger itself is append-only; this is its published copy.",
    ),
    Table(
        "route_outcomes",
        "outcomes",
        "one question answered by one route",
        (
            SET,
            QUESTION,
            ROUTE,
            text("model", "LiteLLM model name"),
            text("answer", "the answer; null where the route failed", nullable=True),
            share("confidence", "the model's confidence in its answer", nullable=True),
            text("confidence_source", "where it comes from", nullable=True, values=("logprob", "stated")),
            whole("input_tokens", "prompt tokens as if nothing had been cached", nullable=True),
            whole("output_tokens", "completion tokens", nullable=True),
            whole("total_tokens", "input and output, summed over the calls the route made", nullable=True),
            text("usage_source", "where the counts come from", nullable=True, values=USAGE_SOURCES),
            real("latency_ms", "milliseconds", nullable=True, low=0),
            real("cost_usd", "USD; null where the price is unknown", nullable=True, low=0),
            whole("calls_made", "model calls the route consists of"),
            text("status", "how the route ended", values=CALL_STATUSES),
            pages("context", "the pages it read, in prompt order"),
            Column("quotes", pl.List(pl.String), "rows the answer quotes from its pages"),
        ),
        key=("outcome_set", "question_id", "route"),
        slices=("outcome_set",),
    ),
    Table(
        "judgements",
        "outcomes",
        "one grade of one answer in one pass",
        (
            SET,
            QUESTION,
            ROUTE,
            JUDGE,
            text("session", "the routes graded jointly"),
            whole("pass_number", "zero-based"),
            text("candidate_label", "the label under which the judge saw the answer"),
            flag("correct", "the verdict", nullable=True),
            share("score", "the grade", nullable=True),
            text("status", "whether the judge gave a grade", values=("judged", "unjudged")),
        ),
        key=("outcome_set", "question_id", "route", "judge", "session", "pass_number"),
        slices=("outcome_set", "judge", "session"),
    ),
    Table(
        "rubric_scores",
        "outcomes",
        "one rubric score of one answer",
        (
            SET,
            QUESTION,
            ROUTE,
            JUDGE,
            whole("rubric_score", "1 to 10", nullable=True, low=1, high=10),
            text("reason", "the judge's reason", nullable=True),
            text("status", "whether the judge gave a score", values=("judged", "unjudged")),
        ),
        key=("outcome_set", "question_id", "route", "judge"),
        slices=("outcome_set", "judge"),
    ),
    Table(
        "route_quality",
        "outcomes",
        "how good one route's answer was",
        (
            SET,
            QUESTION,
            ROUTE,
            JUDGE,
            share("quality", "mean score over the graded passes; null without one", nullable=True),
            flag("correct", "majority of the graded passes", nullable=True),
            share("token_f1", "token overlap with the gold answer", nullable=True),
            flag(
                "numeric_agreement", "the numbers agree; null where ambiguous or not numeric", nullable=True
            ),
            real("logged_score", "the score as an imported log gives it; quality is within 0 to 1", nullable=True),
            text("judged_by", "kind of judge; `logged`: scores of an imported log", values=JUDGED_BY),
        ),
        key=("outcome_set", "question_id", "route", "judge"),
        slices=("outcome_set", "judge"),
    ),
)

FEATURES: tuple[Column, ...] = (
    text("family", "kind of question", nullable=True),
    whole("question_tokens", "cl100k_base tokens of the question"),
    whole("question_numbers", "numbers in the question"),
    whole("question_years", "years and fiscal years in the question"),
    flag("question_has_formula", "the question defines how to compute its answer"),
    flag("question_is_yes_no", "the question asks whether something is so"),
    real("score_first", "retrieval score of the first page", nullable=True),
    real("score_mean", "mean retrieval score of the deep route's pages", nullable=True),
    real(
        "margin", "score of the first page less that of the second; a lone page's is its score", nullable=True
    ),
    real("entropy", "entropy of the scores over the candidate pages, nats", nullable=True, low=0),
    share("coverage_cheap", "share of the question's terms found in the cheap context", nullable=True),
    share("coverage_deep", "share of the question's terms found in the deep context", nullable=True),
    share("redundancy", "mean pairwise word overlap (Jaccard) of the deep route's pages", nullable=True),
    whole("cheap_context_tokens", "cl100k_base tokens of the cheap route's pages"),
    share("cheap_confidence", "the cheap answer's confidence", nullable=True),
    flag("cheap_refused", "the cheap answer is an abstention or a failure"),
    flag("cheap_hedged", "the cheap answer hedges"),
    whole("cheap_input_tokens", "prompt tokens of the cheap route", nullable=True),
    whole("cheap_output_tokens", "completion tokens of the cheap route", nullable=True),
    whole("cheap_numbers", "numbers in the cheap answer"),
    share("cheap_numbers_found", "share of them that stand in its context", nullable=True),
    whole("cheap_prompt_tokens", "cl100k_base tokens of the cheap route's exact prompt"),
    whole("deep_prompt_tokens", "cl100k_base tokens of the deep route's exact prompt"),
    whole("deep_pages", "pages in the deep route's context"),
    whole("deep_new_pages", "pages of it that the cheap route did not read"),
)

DECISIONS = (
    Table(
        "features",
        "decisions",
        "what is known of one question when the deeper call is decided on",
        (SET, *PAIR, QUESTION, *FEATURES),
        key=("outcome_set", "cheap_route", "deep_route", "question_id"),
        slices=("outcome_set", "cheap_route", "deep_route"),
        notes="Nothing learnt after the decision.",
    ),
    Table(
        "predictions",
        "decisions",
        "one cross-fitted prediction",
        (
            SET,
            *PAIR,
            text("target", "what is predicted", values=TARGETS),
            text("model", "the predictor"),
            SEED,
            QUESTION,
            whole("fold", "the held-out fold; no filing stands in two"),
            real("predicted", "the held-out prediction"),
            real("upper_bound", "conformal upper bound, where one is kept", nullable=True),
            real("actual", "what was measured; null where unknown", nullable=True),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "target", "model", "seed", "question_id"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "orders",
        "decisions",
        "one question's place in a greedy policy's order",
        (
            SET,
            *PAIR,
            POLICY,
            GAIN_MODEL,
            SEED,
            QUESTION,
            whole("position", "zero-based; the order in which calls are offered the budget"),
            real("predicted_gain", "quality"),
            whole("predicted_cost", "tokens"),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "policy", "gain_model", "seed", "question_id"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "selections",
        "decisions",
        "one call that a policy bought",
        (
            SET,
            *PAIR,
            POLICY,
            GAIN_MODEL,
            BUDGET,
            SEED,
            QUESTION,
            ROUTE,
            whole("predicted_cost", "tokens"),
            whole("realised_cost", "tokens; null where the call was never made", nullable=True),
        ),
        key=(
            "outcome_set",
            "cheap_route",
            "deep_route",
            "policy",
            "gain_model",
            "budget_fraction",
            "seed",
            "question_id",
        ),
        slices=("outcome_set", "cheap_route", "deep_route"),
        notes="Only what was chosen.",
    ),
)

PUBLISHED = (
    Table(
        "policy_summary",
        "published",
        "one policy at one budget, averaged over the seeds",
        (
            SET,
            *PAIR,
            POLICY,
            GAIN_MODEL,
            BUDGET,
            QUESTIONS,
            whole("left_out", "questions without a grade or a cost"),
            share("accuracy", "share of questions answered right"),
            share("quality", "mean adjudication quality"),
            real("tokens_per_question", "realised tokens, the cheap call included", low=0),
            real("tokens_saved_against_deep", "share of the one-pass deep route's tokens not spent"),
            share("escalated_share", "share of questions escalated"),
            real("selected_calls", "calls bought", low=0),
            real("mean_selected_cost", "mean realised tokens of a bought call", nullable=True, low=0),
            real("helped", "bought calls that turned a wrong answer right", low=0),
            real("hurt", "bought calls that turned a right answer wrong", low=0),
            real("neutral", "bought calls that did neither", low=0),
            real("predicted_budget", "tokens allowed", low=0),
            real("predicted_spend", "tokens the bought calls were predicted to cost", low=0),
            real("realised_spend", "tokens they did cost", low=0),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "policy", "gain_model", "budget_fraction"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "policy_comparison",
        "published",
        "one policy less another, paired by question, resampled by filing",
        (
            SET,
            *PAIR,
            POLICY,
            text("baseline", "the policy compared with", values=POLICIES),
            GAIN_MODEL,
            BUDGET,
            text("metric", "what is compared", values=("quality", "accuracy", "tokens_per_question")),
            real("difference", "policy less baseline"),
            *interval("the difference"),
            whole("resamples", "bootstrap resamples over filings"),
        ),
        key=(
            "outcome_set",
            "cheap_route",
            "deep_route",
            "policy",
            "baseline",
            "gain_model",
            "budget_fraction",
            "metric",
        ),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "selection_overlap",
        "published",
        "how far two policies buy the same calls",
        (
            SET,
            *PAIR,
            BUDGET,
            text("policy_a", "a policy", values=POLICIES),
            text("policy_b", "another", values=POLICIES),
            share("share_a", "share of questions the first escalates"),
            share("share_b", "share of questions the second escalates"),
            real("shared", "calls both buy", low=0),
            share("jaccard", "shared calls by calls either buys; null where neither buys any", nullable=True),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "budget_fraction", "policy_a", "policy_b"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "prediction_quality",
        "published",
        "one figure of one predictor",
        (
            SET,
            *PAIR,
            text("target", "what is predicted", values=TARGETS),
            text("model", "the predictor"),
            text("split", "held out by filing, or fitted on the same rows", values=SPLITS),
            text("metric", "r2, mae, mape (a fraction), auroc, auprc, ..."),
            real("value", "the figure, averaged over the seeds; null where undefined", nullable=True),
            *interval("the figure"),
            flag("in_use", "policies use this model"),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "target", "model", "split", "metric"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "route_summary",
        "published",
        "one route taken for every question",
        (
            SET,
            ROUTE,
            text("model", "LiteLLM model name"),
            JUDGE,
            QUESTIONS,
            whole("left_out", "questions without a grade"),
            whole("failed", "questions on which the route failed; they score 0"),
            share("accuracy", "share answered right"),
            share("quality", "mean adjudication quality"),
            *interval("the quality"),
            real("tokens_per_question", "mean total tokens; null where unknown", nullable=True, low=0),
            real("latency_ms", "mean milliseconds; null where unknown", nullable=True, low=0),
            real("cost_usd", "total USD; null where a price is unknown", nullable=True, low=0),
        ),
        key=("outcome_set", "route", "judge"),
        slices=("outcome_set",),
    ),
    Table(
        "family_summary",
        "published",
        "one family of questions under a pair of routes",
        (
            SET,
            *PAIR,
            text("family", "kind of question"),
            QUESTIONS,
            share("accuracy_cheap", "share right by the cheap route"),
            share("accuracy_deep", "share right by the deep route"),
            whole("helped", "wrong by the cheap route, right by the deep one"),
            whole("hurt", "right by the cheap route, wrong by the deep one"),
            real("mean_cost", "mean tokens of the deep call", nullable=True, low=0),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "family"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "cost_summary",
        "published",
        "the additional call's cost over the set",
        (
            SET,
            *PAIR,
            QUESTIONS,
            whole("minimum", "tokens"),
            real("quartile_1", "tokens", low=0),
            real("median", "tokens", low=0),
            real("quartile_3", "tokens", low=0),
            whole("maximum", "tokens"),
            real("mean", "tokens", low=0),
            real("coefficient_of_variation", "standard deviation (n in the denominator) by mean", low=0),
        ),
        key=("outcome_set", "cheap_route", "deep_route"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "cost_quartiles",
        "published",
        "the questions of one quartile of the additional call's cost",
        (
            SET,
            *PAIR,
            whole("quartile", "1 is cheapest", low=1, high=4),
            QUESTIONS,
            real("mean_cost", "tokens", low=0),
            real("mape", "held-out mean absolute error of the cost, as a fraction", nullable=True, low=0),
            whole("helped", "wrong by the cheap route, right by the deep one"),
            whole("hurt", "right by the cheap route, wrong by the deep one"),
            share("accuracy_cheap", "share right by the cheap route"),
            share("accuracy_deep", "share right by the deep route"),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "quartile"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "question_audit",
        "published",
        "one question: what the deeper call did, and where its signals lay",
        (
            SET,
            *PAIR,
            QUESTION,
            text(
                "outcome", "what the deeper call did", values=("helped", "hurt", "both_right", "both_wrong")
            ),
            real("gain", "quality of the deep answer less that of the cheap one", low=-1, high=1),
            real("predicted_gain", "held out, averaged over the seeds"),
            whole("predicted_gain_quartile", "1 is lowest", low=1, high=4),
            whole(
                "score_quartile", "quartile of the first page's retrieval score", nullable=True, low=1, high=4
            ),
            whole(
                "coverage_quartile", "quartile of the cheap context's coverage", nullable=True, low=1, high=4
            ),
            whole("cost", "tokens of the deep call", nullable=True),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "question_id"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
    Table(
        "frontier",
        "published",
        "one point of quality against tokens",
        (
            SET,
            *PAIR,
            text("kind", "a policy at a budget, or a route for every question", values=("policy", "route")),
            text("name", "the policy or route"),
            BUDGET,
            real("tokens_per_question", "realised tokens", low=0),
            share("quality", "mean adjudication quality"),
            *interval("the quality"),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "kind", "name", "budget_fraction"),
        slices=("outcome_set", "cheap_route", "deep_route"),
    ),
)

LIVE = (
    Table(
        "final_answers",
        "live",
        "one question's final answer after an escalation under a budget",
        (
            SET,
            *PAIR,
            QUESTION,
            ROUTE,
            text("model", "LiteLLM model name"),
            text("answer", "the answer; null where the route failed", nullable=True),
            share("confidence", "the model's confidence in its answer", nullable=True),
            text("status", "how the route ended", values=CALL_STATUSES),
            pages("context", "the pages it read, in prompt order"),
            Column("quotes", pl.List(pl.String), "rows the answer quotes from its pages"),
            text("decision", "what the escalation did with the question", values=DECISIONS_MADE),
            real("predicted_gain", "quality", nullable=True),
            whole("predicted_cost", "tokens of the deep call", nullable=True),
            whole("realised_cost", "tokens the deep call took; null where it was not made", nullable=True),
            text("usage_source", "where the counts come from", nullable=True, values=USAGE_SOURCES),
            real(
                "cost_usd",
                "USD of the deep call; null where not made or the price is unknown",
                nullable=True,
                low=0,
            ),
        ),
        key=("outcome_set", "cheap_route", "deep_route", "question_id"),
        slices=("outcome_set", "cheap_route", "deep_route"),
        notes="A deep answer that failed leaves the cheap one in place.",
    ),
)

ROUTING = (
    Table(
        "routing_gap",
        "routing",
        "the Jensen gap at one price",
        (
            SET,
            ARMS,
            STAGE,
            real("price", "quality per 1,000 tokens", low=0),
            real("oracle", "mean utility of the best arm a question"),
            text("best_fixed_route", "the best arm for all"),
            real("best_fixed", "its mean utility"),
            real("gap", "oracle less best fixed", low=0),
            *interval("the gap"),
            share("reversal_share", "questions on which another arm is strictly better"),
        ),
        key=("outcome_set", "routes", "stage", "price"),
        slices=("outcome_set", "routes"),
    ),
    Table(
        "routing_frontier",
        "routing",
        "one vertex of a frontier",
        (
            SET,
            ARMS,
            STAGE,
            text("frontier", "whose", values=("fixed", "fitted", "oracle")),
            whole("vertex", "zero-based, cheapest first"),
            real("cost", "mean tokens a question", low=0),
            share("quality", "mean quality"),
            real("price", "price at which the vertex is best", nullable=True, low=0),
        ),
        key=("outcome_set", "routes", "stage", "frontier", "vertex"),
        slices=("outcome_set", "routes"),
    ),
    Table(
        "router_summary",
        "routing",
        "one router at one price",
        (
            SET,
            ARMS,
            STAGE,
            real("price", "quality per 1,000 tokens", low=0),
            text("router", "kind of router", values=("ridge", "boosting", "signals", "certified")),
            text("split", "held out by filing, or fitted on the same rows", values=SPLITS),
            real("utility", "mean utility"),
            real("gain", "utility less the best fixed arm's"),
            real("share_of_gap", "gain by gap; null where the gap is zero", nullable=True),
            *interval("the gain"),
            share("p_value", "of the paired test of no gain", nullable=True),
            flag("certified", "the gain is certified at the chosen risk", nullable=True),
        ),
        key=("outcome_set", "routes", "stage", "price", "router", "split"),
        slices=("outcome_set", "routes"),
    ),
)

RETRIEVAL = (
    Table(
        "retrieval_summary",
        "retrieval",
        "hit rates of one retriever at one depth",
        (
            SET,
            text("retriever", "the ranking method"),
            text("pool", "which pages were searched", values=POOLS),
            text("coverage", "of the questions' filings", values=(*COVERAGE, "mixed")),
            text("family", "kind of question; `all` too"),
            whole("k", "depth", low=1),
            QUESTIONS,
            share("hit_rate", "questions with a gold page in the first k"),
            share("all_pages_rate", "questions with every gold page in the first k"),
            share("mrr", "mean reciprocal rank of the first gold page within k"),
            share("right_filing_share", "questions whose first page is of the right filing"),
            *interval("the hit rate"),
        ),
        key=("outcome_set", "retriever", "pool", "coverage", "family", "k"),
        slices=("outcome_set", "retriever", "pool"),
    ),
    Table(
        "resolver_summary",
        "retrieval",
        "questions resolved with one status",
        (
            SET,
            text("status", "how the filing was found, or why not"),
            QUESTIONS,
            share("share", "of all questions"),
            share("right_filing_share", "of them, resolved to the right filing", nullable=True),
        ),
        key=("outcome_set", "status"),
        slices=("outcome_set",),
    ),
    Table(
        "system_summary",
        "retrieval",
        "one document-routed system",
        (
            SET,
            ROUTE,
            JUDGE,
            QUESTIONS,
            real("mean_score", "rubric mean, 1 to 10", low=1, high=10),
            *interval("the mean score"),
            share("share_of_1", "complete failures"),
            share("share_8_up", "scores of 8 and above"),
            share("share_of_10", "perfect scores"),
            real("calls_per_question", "model calls", low=0),
            real("tokens_per_question", "tokens", nullable=True, low=0),
        ),
        key=("outcome_set", "route", "judge"),
        slices=("outcome_set",),
    ),
)

TABLES: dict[str, Table] = {
    table.name: table
    for group in (CORPUS, ASKING, OUTCOMES, DECISIONS, PUBLISHED, LIVE, ROUTING, RETRIEVAL)
    for table in group
}

"""The document-routed systems, compared."""

from __future__ import annotations

from warehouse.contracts.shared import JUDGE, QUESTIONS, RESOLUTION_STATUSES, ROUTE, SET, interval
from warehouse.schema import Table, real, share, text, whole

SYSTEMS = (
    Table(
        "resolver_summary",
        "questions resolved with one status",
        (
            SET,
            text(
                "status",
                "how the filing was found, or why not; `all` too",
                values=(*RESOLUTION_STATUSES, "all"),
            ),
            QUESTIONS,
            share("share", "of all questions"),
            share(
                "right_filing_share",
                "of those resolved, to the right filing, alone or with its period's other report",
                nullable=True,
            ),
            share(
                "one_of_several_share", "of those resolved, to more filings than the right one", nullable=True
            ),
            share("right_company_share", "of those with a known company, to its filings", nullable=True),
        ),
        key=("outcome_set", "status"),
        slices=("outcome_set",),
    ),
    Table(
        "system_summary",
        "one system by one judge's rubric",
        (
            SET,
            ROUTE,
            JUDGE,
            QUESTIONS,
            whole("left_out", "questions that the judge gave no score"),
            real("mean_score", "rubric mean, 1 to 10", low=1, high=10),
            *interval("the mean score"),
            share("share_of_1", "complete failures"),
            share("share_3_down", "scores of at most 3"),
            share("share_4_to_7", "scores of 4 to 7"),
            share("share_8_up", "scores of 8 and above"),
            share("share_of_10", "perfect scores"),
            real(
                "group_deviation", "population deviation of five random groups' means", nullable=True, low=0
            ),
            real("calls_per_question", "model calls, those before the answer too", low=0),
            real("tokens_per_question", "tokens; null where unknown", nullable=True, low=0),
        ),
        key=("outcome_set", "route", "judge"),
        slices=("outcome_set", "judge"),
    ),
    Table(
        "system_comparison",
        "one figure of one system less another's, over the questions both answered",
        (
            SET,
            JUDGE,
            ROUTE,
            text("baseline", "the route compared with"),
            text("metric", "the figure", values=("mean_score", "share_of_1", "share_8_up", "share_of_10")),
            QUESTIONS,
            real("difference", "route less baseline"),
            *interval("the difference"),
            real("group_low", "smallest difference of five random groups"),
            real("group_high", "largest"),
            real("group_deviation", "their population deviation", nullable=True, low=0),
        ),
        key=("outcome_set", "judge", "route", "baseline", "metric"),
        slices=("outcome_set", "judge"),
    ),
    Table(
        "judge_agreement",
        "two judges' scores of one system",
        (
            SET,
            ROUTE,
            JUDGE,
            text("second_judge", "the other judge"),
            QUESTIONS,
            real(
                "spearman",
                "rank correlation; for `all`, of the systems' means",
                nullable=True,
                low=-1,
                high=1,
            ),
            real("difference", "second less first, mean"),
            real("absolute_difference", "mean", low=0),
            share("failure_agreement", "answers that both or neither call a complete failure"),
            share("seven_up_agreement", "answers that both or neither score 7 or above"),
        ),
        key=("outcome_set", "route", "judge", "second_judge"),
        slices=("outcome_set", "judge", "second_judge"),
    ),
    Table(
        "coverage_summary",
        "how many of a question's companies got through one stage",
        (
            SET,
            text("route", "the way the question was answered; `*` for the resolver"),
            text("stage", "how far the companies got", values=("routing", "retrieval", "answer")),
            QUESTIONS,
            share("coverage", "of the companies named, mean over the questions on several"),
            whole("full", "questions with all of them"),
        ),
        key=("outcome_set", "route", "stage"),
        slices=("outcome_set",),
    ),
    Table(
        "system_costs",
        "what one system costs",
        (
            SET,
            ROUTE,
            QUESTIONS,
            real("calls_per_question", "model calls, rewriting and routing too", low=0),
            real(
                "tokens_per_question",
                "tokens as if nothing had been cached; null where unknown",
                nullable=True,
                low=0,
            ),
            real("usd_per_question", "USD; null where a price is unknown", nullable=True, low=0),
            whole("index_calls", "model calls made for its index"),
            whole("index_tokens", "tokens of them"),
            real("index_usd", "USD of them; null where a price is unknown", nullable=True, low=0),
            real(
                "break_even_questions",
                "questions from which the described index costs fewer tokens than routing",
                nullable=True,
                low=0,
            ),
            real("watt_hours_per_question", "tokens times the stated constant", nullable=True, low=0),
            real("joules_per_token", "the stated constant", low=0),
        ),
        key=("outcome_set", "route"),
        slices=("outcome_set",),
    ),
)

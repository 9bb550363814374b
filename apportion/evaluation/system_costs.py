"""What each system costs a question and an index, and when a described index repays itself (section 7.4)."""

from __future__ import annotations

import polars as pl

JOULES_PER_TOKEN = 0.4
"""Energy of a token (chosen): a stated constant, so that systems can be compared; no measurement of any model."""


def system_costs(
    outcomes: pl.DataFrame, calls: pl.DataFrame, joules_per_token: float = JOULES_PER_TOKEN
) -> pl.DataFrame:
    """Rows of `system_costs` but for the set.

    Args:
        outcomes: rows of `route_outcomes`; calls before the answer are in their counts.
        calls: rows of `calls`; those that contextualise are the described index's.
        joules_per_token: energy of a token.

    ``break_even_questions`` is the number of questions from which the described index costs less in tokens than
    routing every question (`hdrr`) does; null where routing is never dearer, nothing was spent on the index, or tokens
    are unknown.
    """
    if outcomes.is_empty():
        return pl.DataFrame(schema=SCHEMA)
    by_route = (
        outcomes.group_by("route")
        .agg(
            pl.len().alias("questions"),
            pl.col("calls_made").mean().alias("calls_per_question"),
            # One unknown count or price makes the mean unknown.
            *(
                pl.when(pl.col(counted).null_count() == 0).then(pl.col(counted).mean()).alias(mean)
                for counted, mean in (
                    ("total_tokens", "tokens_per_question"),
                    ("cost_usd", "usd_per_question"),
                )
            ),
        )
        .sort("route")
    )
    index = calls.filter(pl.col("purpose") == "contextualise")
    spent = int((index["input_tokens"].fill_null(0) + index["output_tokens"].fill_null(0)).sum())
    usd = index["cost_usd"].sum() if index.height and index["cost_usd"].null_count() == 0 else None
    described = pl.col("route") == "cbr_context"
    per_question = dict(by_route.select("route", "tokens_per_question").iter_rows())
    routed, read = per_question.get("hdrr"), per_question.get("cbr_context")
    saved = 0.0 if routed is None or read is None else routed - read
    even = spent / saved if saved > 0 and spent else None
    return by_route.with_columns(
        pl.when(described).then(index.height).otherwise(0).cast(pl.Int64).alias("index_calls"),
        pl.when(described).then(spent).otherwise(0).cast(pl.Int64).alias("index_tokens"),
        pl.when(described & pl.lit(index.height > 0))
        .then(pl.lit(usd, dtype=pl.Float64))
        .otherwise(0.0)
        .alias("index_usd"),
        pl.when(described).then(pl.lit(even, dtype=pl.Float64)).alias("break_even_questions"),
        (pl.col("tokens_per_question") * joules_per_token / 3600).alias("watt_hours_per_question"),
        pl.lit(joules_per_token).alias("joules_per_token"),
        pl.col("questions").cast(pl.Int64),
    ).select(SCHEMA.keys())


SCHEMA: dict[str, type[pl.DataType]] = {
    "route": pl.String,
    "questions": pl.Int64,
    "calls_per_question": pl.Float64,
    "tokens_per_question": pl.Float64,
    "usd_per_question": pl.Float64,
    "index_calls": pl.Int64,
    "index_tokens": pl.Int64,
    "index_usd": pl.Float64,
    "break_even_questions": pl.Float64,
    "watt_hours_per_question": pl.Float64,
    "joules_per_token": pl.Float64,
}

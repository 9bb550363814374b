"""The generic outcome log: one row a question and route, with whatever was logged of it.

Fields, by our names: ``question`` and ``route`` are needed; ``score`` (0 to 1), ``correct``, ``input_tokens``,
``output_tokens``, ``cost_usd``, ``latency_ms``, ``group``, ``text``, ``answer``, ``model``, ``family``, ``company``,
``reference_answer``, ``confidence``, ``status``, ``calls_made``, ``judge``, ``asked_at`` where there are any. What is
absent is unknown, never zero.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

import polars as pl

from apportion.importing.records import PAGES, REFUSALS, ImportedLog, LogError, refusals
from apportion.importing.rows import LINE, Batch, files_of, read_rows
from apportion.llm.requests import OUTCOMES

JUDGE = "log"
"""Whose grades a log's scores are, where the log doesn't say."""

JUDGED_BY = "logged"

FIELDS: Mapping[str, tuple[str, ...]] = {
    "question": ("question", "question_id"),
    "route": ("route",),
    "score": ("score", "quality"),
    "correct": ("correct",),
    "input_tokens": ("input_tokens", "prompt_tokens"),
    "output_tokens": ("output_tokens", "completion_tokens"),
    "cost_usd": ("cost_usd", "cost"),
    "latency_ms": ("latency_ms", "latency"),
    "group": ("group",),
    "text": ("text",),
    "answer": ("answer",),
    "model": ("model",),
    "family": ("family",),
    "company": ("company",),
    "reference_answer": ("reference_answer",),
    "confidence": ("confidence",),
    "status": ("status",),
    "calls_made": ("calls_made",),
    "judge": ("judge",),
    "asked_at": ("asked_at",),
}
"""Our fields, and the column names taken for them without a mapping."""

SUCCESS = {
    "success": "ok",
    "succeeded": "ok",
    "true": "ok",
    "failure": "failed",
    "error": "failed",
    "false": "failed",
}
TRUTHS = {
    "true": True,
    "1": True,
    "1.0": True,
    "yes": True,
    "false": False,
    "0": False,
    "0.0": False,
    "no": False,
}

WHOLE = ("input_tokens", "output_tokens", "calls_made")
SHARES = ("score", "confidence")
AMOUNTS = ("cost_usd", "latency_ms")
SHARED = ("text", "group", "family", "company", "reference_answer", "asked_at")
"""What belongs to the question and must be the same on all of its rows."""

MOST = 2**53
LAST_SECOND = 253_402_300_799
"""Of the year 9999, since 1970."""


def read_outcomes(path: Path, mapping: Mapping[str, str] | None = None) -> ImportedLog:
    """Read a generic log: a CSV, JSON Lines or Parquet file, or a folder of them.

    Args:
        path: the file or folder.
        mapping: our field by the source's name of it, as in ``{"question": "qid"}``.

    Raises:
        LogError: a mapping names no field of ours, the source lacks a column, or no row is usable.
    """
    fields = mapped_fields(mapping or {})
    return log_of(batch for file in files_of(path) for batch in read_rows(file, fields))


def mapped_fields(mapping: Mapping[str, str]) -> dict[str, Sequence[str]]:
    """The names to look for, with a mapping put in front of them."""
    unknown = next((name for name in mapping if name not in FIELDS), None)
    if unknown is not None:
        import difflib

        near = difflib.get_close_matches(unknown, FIELDS, n=1)
        hint = f"did you mean {near[0]}?" if near else f"fields: {', '.join(FIELDS)}"
        raise LogError(f"--map {unknown}=...: there is no field {unknown!r}; {hint}")
    return {name: (mapping[name],) if name in mapping else names for name, names in FIELDS.items()}


def log_of(batches: Iterable[Batch], *, clip: bool = False) -> ImportedLog:
    """Check rows of text and turn them into an outcome set.

    Of rows on the same question and route the first counts; a row that tells a question another text or group than
    an earlier one is refused.

    Args:
        batches: rows of text under our names.
        clip: take scores outside 0 to 1 as the nearer end, where the log's scale is known to be 0 to 1; else such
            rows are refused.

    Raises:
        LogError: no row is usable.
    """
    questions: list[pl.DataFrame] = []
    outcomes: list[pl.DataFrame] = []
    refused = [refusals()]
    rows = 0
    for batch in batches:
        rows += batch.frame.height + len(batch.refused)
        missing = [name for name in ("question", "route") if name not in batch.frame.columns]
        if missing and batch.frame.height:
            raise LogError(
                f"{batch.source}: no column {missing[0]!r}; name it with --map {missing[0]}=COLUMN"
            )
        good, bad = typed(batch, clip=clip)
        refused += [refusals(batch.refused), bad]
        marked = good.with_columns(
            pl.lit(batch.source).alias("source"), pl.struct("text", "group").hash(seed=0).alias("variant")
        )
        questions.append(
            marked.select("question", LINE, "source", "variant", *SHARED).unique(
                ["question", "variant"], keep="first", maintain_order=True
            )
        )
        outcomes.append(marked.drop(*SHARED))
    if not outcomes or not any(part.height for part in outcomes):
        reasons = pl.concat(refused).head(3).rows()
        shown = (
            "; ".join(f"line {line}: {name} {reason}" for _, line, name, _, reason in reasons)
            or "it is empty"
        )
        absent = next(
            (name for _, _, name, value, _ in reasons if name in ("question", "route") and not value), None
        )
        hint = f"; if it is named otherwise, say so with --map {absent}=COLUMN" if absent else ""
        raise LogError(f"no usable row in the log ({shown}){hint}")
    known, at_odds = _agreed(pl.concat(questions))
    logged, contradicting = _consistent(pl.concat(outcomes), at_odds)
    logged, doubled = _once(logged)
    return ImportedLog(
        questions=_questions(known.join(logged.select("question").unique(), on="question", how="semi")),
        outcomes=_outcomes(logged),
        quality=_quality(logged),
        refusals=pl.concat([*refused, contradicting, doubled]).sort("source", "line", maintain_order=True),
        rows=rows,
        notes=_notes(logged),
    )


def typed(batch: Batch, *, clip: bool = False) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The usable rows of a batch in their types, and the refused ones with field, value and reason."""
    frame = batch.frame.with_columns(
        pl.lit(None, dtype=pl.String).alias(name) for name in FIELDS if name not in batch.frame.columns
    ).with_columns(
        pl.col(name).str.strip_chars().replace("", None)
        for name in ("question", "route", "group", "model", "status", "judge", "asked_at")
    )
    cast = frame.with_columns(
        *(
            pl.col(name).str.strip_chars().cast(pl.Float64, strict=False).alias(f"{name}_number")
            for name in (*WHOLE, *SHARES, *AMOUNTS)
        ),
        pl.col("status").str.to_lowercase().replace(SUCCESS).fill_null("ok").alias("status_name"),
        pl.col("correct")
        .str.to_lowercase()
        .str.strip_chars()
        .replace_strict(TRUTHS, default=None, return_dtype=pl.Boolean)
        .alias("truth"),
        _time("asked_at").alias("asked_time"),
    )
    rules: list[tuple[str, pl.Expr, str]] = [
        ("question", pl.col("question").is_null(), "missing; every row needs its question"),
        ("route", pl.col("route").is_null(), "missing; every row needs its route"),
        (
            "route",
            pl.col("route").str.contains(r"[,\x00-\x1f]") | (pl.col("route") == "*"),
            "commas and line ends cannot stand in a route's name, nor can it be *",
        ),
        ("status", ~pl.col("status_name").is_in(OUTCOMES), "unknown; use " + ", ".join(OUTCOMES)),
        ("correct", pl.col("correct").is_not_null() & pl.col("truth").is_null(), "neither true nor false"),
        (
            "asked_at",
            pl.col("asked_at").is_not_null() & pl.col("asked_time").is_null(),
            "not a time; write it as 2026-01-31T09:30:00Z, or in seconds since 1970",
        ),
    ]
    for name in (*WHOLE, *SHARES, *AMOUNTS):
        number = pl.col(f"{name}_number")
        rules.append(
            (name, pl.col(name).is_not_null() & (number.is_null() | ~number.is_finite()), "not a number")
        )
        if name == "score" and clip:
            continue
        if name in SHARES:
            rules.append((name, (number < 0) | (number > 1), "outside 0 to 1; scale it before importing"))
        else:
            rules.append((name, number < 0, "below zero"))
        if name in WHOLE:
            rules.append((name, (number != number.round()) | (number > MOST), "not a whole number"))
    broken = cast.select(
        pl.coalesce(
            pl.when(rule.fill_null(value=False)).then(pl.lit(i, dtype=pl.Int64))
            for i, (_, rule, _) in enumerate(rules)
        ).alias("broken")
    )["broken"]
    bad = cast.filter(broken.is_not_null()).with_columns(broken=broken.drop_nulls())
    told = [
        (
            batch.source,
            row[LINE],
            rules[row["broken"]][0],
            row[rules[row["broken"]][0]],
            rules[row["broken"]][2],
        )
        for row in bad.iter_rows(named=True)
    ]
    good = cast.filter(broken.is_null()).select(
        LINE,
        *("question", "route", "answer", "model", "judge", *(name for name in SHARED if name != "asked_at")),
        pl.col("asked_time").alias("asked_at"),
        pl.col("status_name").alias("status"),
        pl.col("truth").alias("correct"),
        *(pl.col(f"{name}_number").cast(pl.Int64).alias(name) for name in WHOLE),
        *(pl.col(f"{name}_number").alias(name) for name in (*SHARES, *AMOUNTS)),
    )
    return good, refusals(told)


def _time(name: str) -> pl.Expr:
    """A column of times as UTC: ISO 8601, where no zone is UTC, or seconds since 1970; null where it is neither."""
    said = pl.col(name).str.strip_chars()
    seconds = said.cast(pl.Float64, strict=False)
    counted = (
        pl.when(seconds.is_between(0, LAST_SECOND))
        .then((seconds * 1e6).round())
        .cast(pl.Int64)
        .cast(pl.Datetime("us", "UTC"))
    )
    whole = (
        said.str.replace(r"^(\d{4}-\d\d-\d\d)$", "${1}T00:00:00")
        .str.replace(r"^(\d{4}-\d\d-\d\d) ", "${1}T")
        .str.replace(r" ?(Z|UTC)$", "+00:00")
        .str.replace(r"([+-]\d\d)(\d\d)$", "${1}:${2}")
    )
    zoned = pl.when(whole.str.contains(r"[+-]\d\d:\d\d$")).then(whole).otherwise(whole + "+00:00")
    written = zoned.str.to_datetime("%Y-%m-%dT%H:%M:%S%.f%:z", time_unit="us", strict=False)
    return pl.coalesce(counted, written)


def _agreed(told: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """What the first rows say of each question, and the variants that contradict them in text or group."""
    known = told.group_by("question", maintain_order=True).agg(
        pl.col(name).drop_nulls().first() for name in SHARED
    )
    both = told.join(known.select("question", "text", "group"), on="question", suffix="_first")
    at_odds = both.filter(
        (pl.col("text") != pl.col("text_first")).fill_null(value=False)
        | (pl.col("group") != pl.col("group_first")).fill_null(value=False)
    )
    return known, at_odds.select(
        "question",
        "variant",
        pl.when((pl.col("group") != pl.col("group_first")).fill_null(value=False))
        .then(pl.lit("group"))
        .otherwise(pl.lit("text"))
        .alias("field"),
    )


def _consistent(logged: pl.DataFrame, at_odds: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Rows without those that contradict an earlier row on the same question, and these as refused ones."""
    if at_odds.is_empty():
        return logged, refusals()
    keys = ["question", "variant"]
    wrong = logged.join(at_odds, on=keys).select(
        "source",
        pl.col(LINE).alias("line"),
        "field",
        pl.col("question").str.slice(0, 200).alias("value"),
        (pl.lit("another ") + pl.col("field") + pl.lit(" than an earlier row of this question")).alias(
            "reason"
        ),
    )
    return logged.join(at_odds, on=keys, how="anti", maintain_order="left"), wrong


def _once(logged: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
    """The first row of each question and route, and the others as refused ones."""
    again = pl.struct("question", "route").is_first_distinct()
    kept = logged.filter(again)
    if kept.height == logged.height:
        return kept, refusals()
    others = logged.filter(~again).select(
        "source",
        LINE,
        pl.lit("question").alias("field"),
        (pl.col("question") + pl.lit(" on ") + pl.col("route")).str.slice(0, 200).alias("value"),
        pl.lit("stands twice on this route; the first row is used").alias("reason"),
    )
    return kept, others.rename({LINE: "line"}).cast(REFUSALS)  # type: ignore[arg-type]


def _questions(first: pl.DataFrame) -> pl.DataFrame:
    return first.select(
        pl.col("question").alias("question_id"),
        pl.col("text").fill_null(""),
        "family",
        "company",
        "reference_answer",
        "asked_at",
        pl.col("group").alias("question_group"),
        pl.lit([], dtype=PAGES).alias("evidence"),
    )


def _outcomes(logged: pl.DataFrame) -> pl.DataFrame:
    # A call that was answered took tokens: a logged zero on both sides means that nobody counted.
    uncounted = (pl.col("input_tokens").fill_null(0) + pl.col("output_tokens").fill_null(0)) == 0
    counted = pl.when(~uncounted)
    return logged.select(
        pl.col("question").alias("question_id"),
        "route",
        pl.coalesce("model", "route").alias("model"),
        pl.when(pl.col("status") == "ok").then("answer").alias("answer"),
        "confidence",
        pl.when(pl.col("confidence").is_not_null()).then(pl.lit("stated")).alias("confidence_source"),
        counted.then("input_tokens").alias("input_tokens"),
        counted.then("output_tokens").alias("output_tokens"),
        counted.then(pl.col("input_tokens") + pl.col("output_tokens")).alias("total_tokens"),
        pl.when((pl.col("input_tokens") + pl.col("output_tokens")) > 0)
        .then(pl.lit("provider"))
        .alias("usage_source"),
        "latency_ms",
        "cost_usd",
        pl.col("calls_made").fill_null(1),
        "status",
        pl.lit([], dtype=PAGES).alias("context"),
        pl.lit([], dtype=pl.List(pl.String)).alias("quotes"),
    )


def _quality(logged: pl.DataFrame) -> pl.DataFrame:
    """Grades. A route that failed scores 0; a score above one half is right where the log doesn't say."""
    failed = pl.col("status") != "ok"
    score = pl.coalesce(pl.col("score").clip(0, 1), pl.col("correct").cast(pl.Float64))
    return logged.select(
        pl.col("question").alias("question_id"),
        "route",
        pl.col("judge").fill_null(JUDGE).alias("judge"),
        pl.when(failed).then(0.0).otherwise(score).alias("quality"),
        pl.when(failed).then(statement=False).otherwise(pl.coalesce("correct", score > 0.5)).alias("correct"),
        pl.col("score").alias("logged_score"),
        pl.lit(JUDGED_BY).alias("judged_by"),
    )


def _notes(logged: pl.DataFrame) -> list[str]:
    notes = []
    ungraded = pl.col("score").is_null() & pl.col("correct").is_null() & (pl.col("status") == "ok")
    missing = logged.filter(ungraded).height
    if missing:
        notes.append(f"{missing} rows without a score: left out of every mean, and counted")
    outside = logged.filter((pl.col("score") < 0) | (pl.col("score") > 1)).height
    if outside:
        notes.append(f"{outside} scores outside 0 to 1 count as the nearer end; logged_score keeps them")
    uncounted = logged.filter(
        (pl.col("input_tokens").fill_null(0) == 0) | pl.col("output_tokens").is_null()
    ).height
    if uncounted:
        notes.append(f"{uncounted} rows without a token count: left out of cost work, and counted")
    return notes

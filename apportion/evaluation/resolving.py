"""How the resolver did, by status (document-routed retrieval, table 9)."""

from __future__ import annotations

from typing import Any

import polars as pl

ALL = "all"

SCHEMA: dict[str, pl.DataType | type[pl.DataType]] = {
    "status": pl.String,
    "questions": pl.Int64,
    "share": pl.Float64,
    "right_filing_share": pl.Float64,
    "one_of_several_share": pl.Float64,
    "right_company_share": pl.Float64,
}


def resolver_summary(
    questions: pl.DataFrame, resolutions: pl.DataFrame, filings: pl.DataFrame
) -> pl.DataFrame:
    """Rows of `resolver_summary` but for the set: one a status, and ``all``.

    Args:
        questions: rows of `questions`; the filing named with a question, and those that its evidence cites, are right.
        resolutions: rows of `resolutions` of the same set.
        filings: columns ``filing_id`` and ``company``.

    Shares of right filings are null where no question of the status resolved, or none says which filing is right.
    """
    companies = dict(filings.select("filing_id", "company").iter_rows())
    joined = resolutions.join(questions.select("question_id", "filing_id", "evidence"), on="question_id")
    scored: list[dict[str, Any]] = []
    for row in joined.sort("question_id").iter_rows(named=True):
        gold = {page["filing_id"] for page in row["evidence"]} | ({row["filing_id"]} - {None})
        found = set(row["filing_ids"])
        possible = found | set(row["candidates"])
        wanted = {companies.get(filing) for filing in gold} - {None}
        scored.append(
            {
                "status": row["status"],
                "right": gold <= found if gold and found else None,
                "several": len(found) > len(gold)
                if gold and found and gold <= found
                else (False if gold and found else None),
                "company": wanted <= {companies.get(filing) for filing in possible} if wanted else None,
            }
        )
    statuses = sorted({one["status"] for one in scored})
    rows = []
    for status in [*statuses, ALL] if scored else []:
        chosen = [one for one in scored if status in (one["status"], ALL)]
        rows.append(
            {
                "status": status,
                "questions": len(chosen),
                "share": len(chosen) / len(scored),
                "right_filing_share": _share([one["right"] for one in chosen]),
                "one_of_several_share": _share([one["several"] for one in chosen]),
                "right_company_share": _share([one["company"] for one in chosen]),
            }
        )
    return pl.DataFrame(rows, schema=SCHEMA)


def _share(values: list[bool | None]) -> float | None:
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None

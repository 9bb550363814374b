"""What became of a budget: reserved and spent, in all and by model, and how well its bounds held."""

from __future__ import annotations

from dataclasses import dataclass

from apportion.llm.ledger import Ledger


@dataclass(frozen=True)
class Statement:
    """What became of a budget.

    ``reserved`` sums what calls held when first sent, ``spent`` what they took. ``risks_taken`` counts the calls that
    were sent although their worst case did not fit, ``risk_used`` the risk taken with them. ``coverage`` is the share
    of settled calls within the bound at level ``risk`` that past calls gave them before they were sent, out of
    ``coverage_calls`` (null if none had one).
    """

    budget: str
    limit_tokens: int | None
    limit_usd: float | None
    hard: bool
    risk: float
    calls: int
    in_flight: int
    left_out: int
    reserved_tokens: int
    reserved_usd: float
    spent_tokens: int
    spent_usd: float
    held_tokens: int
    held_usd: float
    risks_taken: int
    risk_used: float
    coverage: float | None
    coverage_calls: int

    @property
    def overspent(self) -> bool:
        """Whether more was spent than the cap allows."""
        return (self.limit_tokens is not None and self.spent_tokens > self.limit_tokens) or (
            self.limit_usd is not None and self.spent_usd > self.limit_usd * (1 + 1e-9)
        )


@dataclass(frozen=True)
class ModelStatement:
    """One model's part of a budget. USD are null where the model's price is unknown."""

    model: str
    calls: int
    reserved_tokens: int
    spent_tokens: int
    reserved_usd: float | None
    spent_usd: float | None


def statement(ledger: Ledger, budget: str) -> Statement:
    """Where the budget of that name stands; ``ValueError`` if there is none."""
    rows = ledger.query("SELECT * FROM budgets WHERE budget = ?", [budget])
    if not rows:
        raise ValueError(f"there is no budget {budget!r} in {ledger.path}")
    row = rows[0]
    sums = ledger.query(
        "SELECT count(*) AS calls, coalesce(sum(first_tokens), 0) AS tokens, coalesce(sum(first_usd), 0) AS usd,"
        " sum(state = 'settled' AND bound_tokens IS NOT NULL) AS bounded,"
        " sum(state = 'settled' AND bound_tokens IS NOT NULL AND spent_tokens <= bound_tokens"
        " AND (?2 IS NULL OR spent_usd <= bound_usd * (1 + 1e-9))) AS covered"
        " FROM reservations WHERE budget = ?1",
        [budget, row["limit_usd"]],
    )[0]
    left_out = ledger.query("SELECT count(*) FROM left_out WHERE budget = ?", [budget])[0][0]
    return Statement(
        budget=budget,
        limit_tokens=row["limit_tokens"],
        limit_usd=row["limit_usd"],
        hard=bool(row["hard"]),
        risk=row["risk"],
        calls=sums["calls"],
        in_flight=row["in_flight"],
        left_out=left_out,
        reserved_tokens=sums["tokens"],
        reserved_usd=sums["usd"],
        spent_tokens=row["spent_tokens"],
        spent_usd=row["spent_usd"],
        held_tokens=row["held_tokens"],
        held_usd=row["held_usd"],
        risks_taken=row["risks_taken"],
        risk_used=row["risk_used"],
        coverage=sums["covered"] / sums["bounded"] if sums["bounded"] else None,
        coverage_calls=sums["bounded"] or 0,
    )


def statement_by_model(ledger: Ledger, budget: str) -> list[ModelStatement]:
    """A budget's calls by model, in order of name; empty if nothing was sent under it."""
    rows = ledger.query(
        "SELECT model, count(*) AS calls, sum(first_tokens) AS reserved_tokens, sum(spent_tokens) AS spent_tokens,"
        " CASE WHEN sum(status <> 'abandoned' AND cost_usd IS NULL) = 0 THEN sum(first_usd) END AS reserved_usd,"
        " CASE WHEN sum(status <> 'abandoned' AND cost_usd IS NULL) = 0 THEN sum(spent_usd) END AS spent_usd"
        " FROM reservations JOIN calls USING (call_id) WHERE budget = ? GROUP BY model ORDER BY model",
        [budget],
    )
    return [ModelStatement(**dict(row)) for row in rows]

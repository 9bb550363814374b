"""A budget in the ledger's file: reserved before a call, settled after it, by any thread or process.

Reservation and settlement happen inside the ledger's own transactions, so that a call and its reservation exist
together or not at all.
"""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace

from apportion.llm.budget import Amount, State, bound_from, decide, exceedance_level, score, upper_quantile
from apportion.llm.ledger import Admit, Ledger, Refused, Sizes
from apportion.llm.prices import PriceTable
from apportion.llm.requests import CallPurpose, ChatRequest, Usage
from apportion.llm.statements import Statement, statement

#: The newest calls that a bound is calibrated on.
_HISTORY = 5_000


@dataclass(frozen=True)
class Budget:
    """A cap under a name; whoever opens the same name in the same ledger shares it, what was spent included.

    ``tokens`` and ``usd`` cap what calls spend from now on (null is no cap; at least one is needed). ``hard`` holds
    the worst case of every call; otherwise the last calls may be sent on the evidence of past ones, so that a batch
    overspends with at most probability ``risk``. Opening a name again with other limits changes them.
    """

    name: str
    tokens: int | None = None
    usd: float | None = None
    hard: bool = True
    risk: float = 0.05

    def __post_init__(self) -> None:
        if self.tokens is None and self.usd is None:
            raise ValueError(f"budget {self.name!r} caps nothing; give it tokens or usd")
        if (self.tokens is not None and self.tokens < 0) or (
            self.usd is not None and not 0 <= self.usd < math.inf
        ):
            raise ValueError(f"budget {self.name!r} has a cap below 0; give 0 or more")
        if not 0 < self.risk < 1:
            raise ValueError(f"budget {self.name!r} has risk {self.risk}; it must lie between 0 and 1")


@dataclass(frozen=True)
class _Past:
    """What past calls say of one call: their scores in tokens and in USD (null where that is not capped)."""

    worst: Amount
    base: Amount
    unit: Amount
    tokens: list[float] | None
    usd: list[float] | None

    def level_of(self, amount: Amount) -> float:
        """The level at which the call takes more than ``amount``; two caps add their levels."""
        level = 0.0
        if self.tokens is not None:
            level += exceedance_level(self.tokens, score(amount.tokens, self.base.tokens, self.unit.tokens))
        if self.usd is not None and amount.usd < self.worst.usd:
            known = self.unit.usd > 0
            level += (
                exceedance_level(self.usd, score(amount.usd, self.base.usd, self.unit.usd)) if known else 1.0
            )
        return level

    def bound_at(self, level: float) -> Amount:
        """What the call exceeds with at most probability ``level``; its worst case where the past is too short."""
        by_tokens = None if self.tokens is None else upper_quantile(self.tokens, level)
        by_usd = None if self.usd is None else upper_quantile(self.usd, level)
        return Amount(
            math.ceil(bound_from(by_tokens, self.base.tokens, self.unit.tokens, self.worst.tokens)),
            bound_from(by_usd, self.base.usd, self.unit.usd, self.worst.usd),
        )


class Account:
    """A :class:`Budget` opened in a ledger."""

    def __init__(self, ledger: Ledger, budget: Budget, prices: PriceTable) -> None:
        self._ledger = ledger
        self._budget = budget
        self._prices = prices
        self._scores: dict[tuple[str, str], tuple[int, list[float], list[float]]] = {}
        with ledger.transaction() as connection:
            connection.execute(
                "INSERT INTO budgets (budget, limit_tokens, limit_usd, hard, risk, created_at)"
                " VALUES (?, ?, ?, ?, ?, ?)"
                " ON CONFLICT (budget) DO UPDATE SET limit_tokens = excluded.limit_tokens,"
                " limit_usd = excluded.limit_usd, hard = excluded.hard, risk = excluded.risk",
                [budget.name, budget.tokens, budget.usd, budget.hard, budget.risk, time.time()],
            )

    def check(self, requests: Iterable[ChatRequest]) -> None:
        """``ValueError`` if money is capped and a model's price is unknown: nothing could hold the cap."""
        if self._budget.usd is None:
            return
        for model in sorted({request.model for request in requests}):
            if self._prices.price(model) is None:
                raise ValueError(
                    f"the price of {model} is unknown, so a cap in USD cannot be held; give its price"
                    " in the price file, or cap tokens instead"
                )

    def admission(self, request: ChatRequest, purpose: CallPurpose, size: Sizes) -> Admit:
        """Reserves for a new call, or says why not; to run inside the claim's transaction."""
        worst = self._worst(request.model, size)

        def admit(connection: sqlite3.Connection, call_id: str) -> Refused | None:
            state = self._state(connection)
            past = None if self._budget.hard else self._past(connection, request, purpose, size, worst)
            decision = decide(
                state, worst, risk=self._budget.risk, level_of=None if past is None else past.level_of
            )
            if decision.verdict != "send":
                return Refused(
                    decision.verdict == "wait", f"budget {self._budget.name!r} has no room left for it"
                )
            calibrated = None if past is None else past.bound_at(self._budget.risk)
            known = calibrated is not None and calibrated != worst
            self._move(connection, held=decision.hold, in_flight=1, risk=decision.risk_taken)
            connection.execute(
                "INSERT INTO reservations (call_id, budget, state, risk_share, first_tokens, first_usd, held_tokens,"
                " held_usd, bound_tokens, bound_usd) VALUES (?, ?, 'held', ?, ?, ?, ?, ?, ?, ?)",
                [
                    call_id,
                    self._budget.name,
                    decision.risk_taken,
                    decision.hold.tokens,
                    decision.hold.usd,
                    decision.hold.tokens,
                    decision.hold.usd,
                    calibrated.tokens if calibrated is not None and known else None,
                    calibrated.usd if calibrated is not None and known else None,
                ],
            )
            connection.execute(
                "DELETE FROM left_out WHERE budget = ? AND request_hash = ?",
                [self._budget.name, request.request_hash],
            )
            return None

        return admit

    def renewal(self, request: ChatRequest, charge: Amount, size: Sizes) -> Admit:
        """Charges the attempt before and reserves the worst case of another, or refuses and changes nothing."""
        worst = self._worst(request.model, size)

        def admit(connection: sqlite3.Connection, call_id: str) -> Refused | None:
            held = self._held(connection, call_id)
            if held is None:
                return Refused(False, "its reservation is gone")
            state = self._state(connection)
            before = replace(
                state,
                spent=state.spent + charge,
                held=Amount(state.held.tokens - held.tokens, max(0.0, state.held.usd - held.usd)),
            )
            if not before.fits(worst):
                return Refused(False, f"budget {self._budget.name!r} has no room left for another attempt")
            self._move(
                connection, spent=charge, held=Amount(worst.tokens - held.tokens, worst.usd - held.usd)
            )
            connection.execute(
                "UPDATE reservations SET spent_tokens = spent_tokens + ?, spent_usd = spent_usd + ?, held_tokens = ?,"
                " held_usd = ? WHERE call_id = ? AND budget = ?",
                [charge.tokens, charge.usd, worst.tokens, worst.usd, call_id, self._budget.name],
            )
            return None

        return admit

    def settlement(self, charge: Amount) -> Callable[[sqlite3.Connection, str], None]:
        """Charges the last attempt and frees the rest; to run inside the settling transaction.

        A reservation that was counted as spent when its sender was taken for dead stays counted.
        """

        def finish(connection: sqlite3.Connection, call_id: str) -> None:
            held = self._held(connection, call_id)
            if held is None:
                return
            self._move(connection, spent=charge, held=Amount(-held.tokens, -held.usd), in_flight=-1)
            connection.execute(
                "UPDATE reservations SET spent_tokens = spent_tokens + ?, spent_usd = spent_usd + ?, held_tokens = 0,"
                " held_usd = 0, state = 'settled' WHERE call_id = ? AND budget = ?",
                [charge.tokens, charge.usd, call_id, self._budget.name],
            )

        return finish

    def leave_out(self, request: ChatRequest, purpose: CallPurpose, size: Sizes) -> None:
        """Note a call that there was no room for."""
        worst = self._worst(request.model, size)
        with self._ledger.transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO left_out VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
                [
                    self._budget.name,
                    request.request_hash,
                    purpose.outcome_set,
                    purpose.question_id,
                    purpose.route,
                    purpose.purpose,
                    request.model,
                    worst.tokens,
                    worst.usd if self._prices.price(request.model) else None,
                    time.time(),
                ],
            )

    def statement(self) -> Statement:
        """Where the budget stands."""
        return statement(self._ledger, self._budget.name)

    def _state(self, connection: sqlite3.Connection) -> State:
        row = connection.execute("SELECT * FROM budgets WHERE budget = ?", [self._budget.name]).fetchone()
        return State(
            row["limit_tokens"],
            row["limit_usd"],
            Amount(row["spent_tokens"], row["spent_usd"]),
            Amount(row["held_tokens"], max(0.0, row["held_usd"])),
            row["in_flight"],
            row["risk_used"],
        )

    def _held(self, connection: sqlite3.Connection, call_id: str) -> Amount | None:
        row = connection.execute(
            "SELECT held_tokens, held_usd FROM reservations WHERE call_id = ? AND budget = ? AND state = 'held'",
            [call_id, self._budget.name],
        ).fetchone()
        return None if row is None else Amount(row["held_tokens"], row["held_usd"])

    def _move(
        self,
        connection: sqlite3.Connection,
        *,
        spent: Amount = Amount(0),  # noqa: B008
        held: Amount = Amount(0),  # noqa: B008
        in_flight: int = 0,
        risk: float = 0.0,
    ) -> None:
        connection.execute(
            "UPDATE budgets SET spent_tokens = spent_tokens + ?, spent_usd = spent_usd + ?,"
            " held_tokens = held_tokens + ?, held_usd = held_usd + ?, in_flight = in_flight + ?,"
            " risks_taken = risks_taken + ?, risk_used = risk_used + ? WHERE budget = ?",
            [
                spent.tokens,
                spent.usd,
                held.tokens,
                held.usd,
                in_flight,
                int(risk > 0),
                risk,
                self._budget.name,
            ],
        )

    def _worst(self, model: str, size: Sizes) -> Amount:
        price = self._prices.price(model)
        usd = 0.0 if price is None else price.bound(size.input_bound, size.output_bound)
        return Amount(size.input_bound + size.output_bound, usd)

    def _past(
        self,
        connection: sqlite3.Connection,
        request: ChatRequest,
        purpose: CallPurpose,
        size: Sizes,
        worst: Amount,
    ) -> _Past:
        tokens, usd = self._history(connection, request.model, purpose.purpose)
        price = self._prices.price(request.model)
        return _Past(
            worst,
            Amount(size.input_estimate, 0.0 if price is None else price.cost(Usage(size.input_estimate, 0))),
            Amount(size.output_bound, 0.0 if price is None else price.cost(Usage(0, size.output_bound))),
            tokens if self._budget.tokens is not None else None,
            usd if self._budget.usd is not None else None,
        )

    def _history(
        self, connection: sqlite3.Connection, model: str, purpose: str
    ) -> tuple[list[float], list[float]]:
        """Ascending scores, in tokens and USD, of a model's newest calls for a purpose; read again as they grow."""
        where = "model = ? AND purpose = ? AND attempts = 1 AND usage_source IN ('provider', 'estimated')"
        count = connection.execute(
            f"SELECT count(*) FROM (SELECT 1 FROM calls WHERE {where} LIMIT {_HISTORY})",  # noqa: S608
            [model, purpose],
        ).fetchone()[0]
        known = self._scores.get((model, purpose))
        if known is not None and (count < known[0] * 1.1 or count == _HISTORY == known[0]):
            return known[1], known[2]
        price = self._prices.price(model)
        tokens, usd = [], []
        for row in connection.execute(
            "SELECT input_tokens, cached_input_tokens, output_tokens, reasoning_tokens, input_estimate,"  # noqa: S608
            f" output_bound FROM calls WHERE {where} AND input_tokens > 0 ORDER BY created_at DESC LIMIT {_HISTORY}",
            [model, purpose],
        ):
            usage = Usage(
                row["input_tokens"], row["output_tokens"], row["cached_input_tokens"], row["reasoning_tokens"]
            )
            tokens.append(score(usage.total_tokens, row["input_estimate"], row["output_bound"]))
            unit = 0.0 if price is None else price.cost(Usage(0, row["output_bound"]))
            if price is not None and unit > 0:
                usd.append(score(price.cost(usage), price.cost(Usage(row["input_estimate"], 0)), unit))
        self._scores[model, purpose] = count, sorted(tokens), sorted(usd)
        return self._scores[model, purpose][1:]

"""The lines of financial statements, with the names under which filings print them and questions ask for them.

General accounting knowledge as data (``apportion/knowledge/line_items.toml`` and what users add to it), shared by
whatever reads or ranks filings. The best wording comes first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from apportion.knowledge.tables import tables

Statement = Literal["income", "balance", "cash_flow"]
Unit = Literal["money", "ratio", "percent", "days", "per_share", "shares"]


@dataclass(frozen=True, slots=True)
class LineItem:
    """One line of the statements.

    ``labels`` are printed names, the surest first; ``barred`` are words whose presence in a label makes it
    another line; ``magnitude`` says that the line is asked for as a positive amount whatever sign the
    statement prints (outflows such as capital expenditure); ``derived`` is a formula for filings that don't
    print the line.
    """

    name: str
    statement: Statement
    labels: tuple[str, ...]
    asked: tuple[str, ...]
    barred: tuple[str, ...] = ()
    magnitude: bool = False
    derived: str = ""
    unit: Unit = "money"


def _line_item(entry: Mapping[str, Any]) -> LineItem:
    lists = {name: tuple(entry.get(name, ())) for name in ("labels", "asked", "barred")}
    return LineItem(**{**entry, **lists})


LINE_ITEMS: tuple[LineItem, ...] = tuple(_line_item(entry) for entry in tables()["line_item"])
ITEMS_BY_NAME = {item.name: item for item in LINE_ITEMS}

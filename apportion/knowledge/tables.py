"""Reads the tables of accounting knowledge beside this module, and the user's own file on top of them.

``APPORTION_ACCOUNTING`` names a TOML file with any of ``[[line_item]]``, ``[[metric]]`` and ``[[topic]]``. An entry of
a new name is added; one of a known name extends its lists and replaces its other values. What the fields mean stands
at the head of each shipped file.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Literal

VARIABLE = "APPORTION_ACCOUNTING"
TABLES = ("line_item", "metric", "topic")
FILES = {"line_item": "line_items.toml", "metric": "metrics.toml", "topic": "topics.toml"}
FUNCTIONS = ("avg", "change", "growth", "optional")
_NAME = re.compile(r"[a-z][a-z0-9_]*")
_TOKEN = re.compile(r"\s*(?:(?P<name>[a-z][a-z0-9_]*)|\d+(?:\.\d+)?|[-+*/()])")

Kind = Literal["text", "texts", "flag", "weights"]


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an entry: what it holds, whether every entry needs it, and the values it may have."""

    kind: Kind
    needed: bool = False
    values: tuple[str, ...] = ()


UNITS = ("money", "ratio", "percent", "days", "per_share", "shares")
FIELDS: dict[str, dict[str, Field]] = {
    "line_item": {
        "name": Field("text", needed=True),
        "statement": Field("text", needed=True, values=("income", "balance", "cash_flow")),
        "labels": Field("texts", needed=True),
        "asked": Field("texts"),
        "barred": Field("texts"),
        "magnitude": Field("flag"),
        "derived": Field("text"),
        "unit": Field("text", values=UNITS),
    },
    "metric": {
        "name": Field("text", needed=True),
        "asked": Field("texts", needed=True),
        "formula": Field("text", needed=True),
        "unit": Field("text", needed=True, values=UNITS),
        "better": Field("text", values=("up", "down", "none")),
        "beside": Field("texts"),
    },
    "topic": {
        "name": Field("text", needed=True),
        "asked": Field("texts", needed=True),
        "terms": Field("texts", needed=True),
        "pages": Field("weights", needed=True),
        "narrows": Field("flag"),
    },
}
SHOWN = {
    "text": "a text",
    "texts": "a list of texts",
    "flag": "true or false",
    "weights": "kinds of page with weights from 0 to 1, such as { notes = 0.8 }",
}


class AccountingTableError(ValueError):
    """An entry that can't be used; the message names file, entry, field, value and remedy."""


@lru_cache(maxsize=1)
def tables() -> Mapping[str, list[dict[str, Any]]]:
    """The entries of each table, shipped ones first, in the order in which they are searched.

    Raises:
        AccountingTableError: the user's file can't be read, or an entry of it is malformed.
    """
    folder = Path(__file__).parent
    found = {table: _read(folder / file)[table] for table, file in FILES.items()}
    given = os.environ.get(VARIABLE)
    if given:
        for table, entries in _read(Path(given)).items():
            found[table] = _merged(found[table], entries)
    _check(found, Path(given).name if given else "the shipped tables")
    return found


@lru_cache(maxsize=1)
def digest() -> str:
    """Eight hex digits that change with any entry: what was indexed with other tables is indexed again."""
    told = json.dumps({table: tables()[table] for table in TABLES}, sort_keys=True)
    return hashlib.sha256(told.encode()).hexdigest()[:8]


def _read(path: Path) -> dict[str, list[dict[str, Any]]]:
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise AccountingTableError(
            f"{VARIABLE}: {path.name} can't be read ({error.strerror}); name a TOML file, or unset the variable"
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise AccountingTableError(f"{path.name}: not TOML: {error}") from error
    unknown = sorted(set(content) - set(TABLES))
    if unknown:
        raise AccountingTableError(f"{path.name}: no such table {unknown[0]!r}; tables: {', '.join(TABLES)}")
    for table, entries in content.items():
        if not isinstance(entries, list) or not all(isinstance(entry, dict) for entry in entries):
            raise AccountingTableError(
                f"{path.name}: {table} is no table; write [[{table}]] before each entry"
            )
        for number, entry in enumerate(entries, start=1):
            _check_entry(path.name, table, number, entry)
    return content


def _check_entry(file: str, table: str, number: int, entry: Mapping[str, Any]) -> None:
    name = entry.get("name")
    where = f"{file}: [[{table}]] {name if isinstance(name, str) else f'number {number}'}"
    if not isinstance(name, str) or not _NAME.fullmatch(name) or (table != "topic" and name in FUNCTIONS):
        raise AccountingTableError(
            f"{where}: name {name!r}: use lower-case letters, digits, underscores, and no name of a function"
        )
    for key, value in entry.items():
        field = FIELDS[table].get(key)
        if field is None:
            raise AccountingTableError(f"{where}: no field {key!r}; fields: {', '.join(FIELDS[table])}")
        if not _fits(field.kind, value):
            raise AccountingTableError(f"{where}: {key} {value!r}: must be {SHOWN[field.kind]}")
        if field.values and value not in field.values:
            raise AccountingTableError(f"{where}: {key} {value!r}: must be one of {', '.join(field.values)}")


def _fits(kind: Kind, value: object) -> bool:
    if kind == "text":
        return isinstance(value, str) and bool(value.strip())
    if kind == "flag":
        return isinstance(value, bool)
    if kind == "texts":
        return isinstance(value, list) and all(isinstance(one, str) and one.strip() for one in value)
    return isinstance(value, dict) and all(
        isinstance(weight, int | float) and not isinstance(weight, bool) and 0 <= weight <= 1
        for weight in value.values()
    )


def _merged(known: list[dict[str, Any]], own: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Known entries with the user's: lists grow, other values are replaced, new names come last."""
    merged = {entry["name"]: dict(entry) for entry in known}
    for entry in own:
        there = merged.setdefault(entry["name"], {})
        for key, value in entry.items():
            if isinstance(value, list):
                there[key] = list(dict.fromkeys([*there.get(key, ()), *value]))
            elif isinstance(value, dict):
                there[key] = {**there.get(key, {}), **value}
            else:
                there[key] = value
    return list(merged.values())


def _check(found: Mapping[str, list[dict[str, Any]]], file: str) -> None:
    """Entries are whole, names are not shared, and formulas are over what there is and never over themselves."""
    formulas: dict[str, str | None] = {}
    for table in TABLES:
        for entry in found[table]:
            missing = [key for key, field in FIELDS[table].items() if field.needed and key not in entry]
            if missing:
                raise AccountingTableError(
                    f"{file}: [[{table}]] {entry['name']}: {missing[0]} is missing; add it"
                )
            if table == "topic":
                continue
            if entry["name"] in formulas:
                raise AccountingTableError(
                    f"{file}: [[{table}]] {entry['name']}: a line item has that name; use another"
                )
            formulas[entry["name"]] = entry.get("formula") or entry.get("derived")
    for name, formula in formulas.items():
        for part in formula_names(formula or "", f"{file}: {name}"):
            if part not in formulas:
                raise AccountingTableError(
                    f"{file}: {name}: formula names {part!r}, which is no line item or metric"
                )
    for name in formulas:
        _check_cycle(name, formulas, (), file)


def _check_cycle(name: str, formulas: Mapping[str, str | None], above: tuple[str, ...], file: str) -> None:
    if name in above:
        raise AccountingTableError(
            f"{file}: {name}: its formula comes back to itself; state it over line items"
        )
    for part in formula_names(formulas[name] or "", name):
        _check_cycle(part, formulas, (*above, name), file)


def formula_names(formula: str, where: str = "formula") -> list[str]:
    """The line items and metrics that a formula takes, in its order.

    Raises:
        AccountingTableError: a character that formulas don't know.
    """
    names = []
    at = 0
    formula = formula.rstrip()
    while at < len(formula):
        match = _TOKEN.match(formula, at)
        if match is None:
            raise AccountingTableError(
                f"{where}: formula {formula!r}: {formula[at:].strip()[:1]!r} can't be read; see metrics.toml's head"
            )
        if match["name"] and match["name"] not in FUNCTIONS:
            names.append(match["name"])
        at = match.end()
    return names

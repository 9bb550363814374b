"""Routing a corpus of another kind: documents named by a template of fields that questions name as well.

A TOML file states the template and what each field looks like in a question:

    template = "{court}/{year}/{case}"
    key = ["case"]
    [fields]
    court = "(?i:supreme|appeals|district)"
    year = "(?:19|20)\\\\d\\\\d"
    case = "\\\\d{2}-\\\\d{3,5}"

The names of documents are their ids in the warehouse, where slashes are written otherwise; any of ``/ _ -`` stands for
a slash of the template.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from apportion.retrieval.resolver.resolver import AMBIGUOUS, NO_FILING, NO_TICKER, Resolution

_FIELD = re.compile(r"\{([a-z_]+)\}")
_HASH = r"(?:-[0-9a-f]{8})?"


@dataclass(frozen=True)
class MetadataSchema:
    """A template of document names, the pattern of each field, and the fields that must be named to route at all."""

    template: str
    fields: Mapping[str, str]
    key: tuple[str, ...]

    def __post_init__(self) -> None:
        used = _FIELD.findall(self.template)
        if not used:
            raise ValueError(f"template {self.template!r} has no field; write fields as {{name}}")
        unknown = sorted({*used, *self.key} - self.fields.keys())
        if unknown:
            raise ValueError(f"field {unknown[0]!r} has no pattern; fields: {', '.join(sorted(self.fields))}")
        for name, pattern in self.fields.items():
            try:
                re.compile(pattern)
            except re.error as error:
                raise ValueError(f"field {name!r}: {pattern!r} is no pattern ({error})") from None

    def read_name(self, name: str) -> dict[str, str] | None:
        """The fields in a document's name, lower case; None where it doesn't follow the template."""
        parts = _FIELD.split(self.template)
        pattern, seen = "", set()
        for place, part in enumerate(parts):
            if place % 2 == 0:
                pattern += re.escape(part).replace("/", "[/_-]")
            elif part in seen:
                pattern += f"(?P={part})"
            else:
                seen.add(part)
                pattern += f"(?P<{part}>{self.fields[part]})"
        found = re.fullmatch(rf"{pattern}(?:\.[A-Za-z]+)?{_HASH}", name)
        return None if found is None else {field: value.lower() for field, value in found.groupdict().items()}

    def read_question(self, question: str) -> dict[str, list[str]]:
        """The values of each field that a question names, in lower case and order."""
        named = {}
        for field, pattern in self.fields.items():
            values = [
                match[0].lower() for match in re.finditer(rf"(?<![\w-])(?:{pattern})(?![\w-])", question)
            ]
            if values:
                named[field] = list(dict.fromkeys(values))
        return named


def read_schema(path: Path) -> MetadataSchema:
    """A schema from its file.

    Raises:
        ValueError: the file isn't one.
    """
    try:
        held = tomllib.loads(path.read_text(encoding="utf-8"))
        fields = {str(name): str(pattern) for name, pattern in held["fields"].items()}
        return MetadataSchema(str(held["template"]), fields, tuple(held.get("key", fields)))
    except (OSError, KeyError, AttributeError, tomllib.TOMLDecodeError) as error:
        raise ValueError(f"{path}: no schema of template and fields ({error!r})") from None


class SchemaResolver:
    """Resolves questions to documents by the fields of a schema, with the statuses of the resolver of filings."""

    def __init__(self, documents: Iterable[str], schema: MetadataSchema) -> None:
        self.schema = schema
        self._documents = {
            name: values for name in sorted(documents) if (values := schema.read_name(name)) is not None
        }

    def resolve(self, question: str, extracted: Mapping[str, Any] | None = None) -> Resolution:
        """Resolve one question: to the one document that every field named fits, for each value of the key."""
        named = self.schema.read_question(question)
        years = tuple(sorted(int(year) for year in named.get("year", ()) if year.isdigit()))
        labels = tuple(value for field in self.schema.key for value in named.get(field, ()))
        if not any(field in named for field in self.schema.key):
            return Resolution(NO_TICKER, fiscal_years=years)
        fitting = [
            name
            for name, values in self._documents.items()
            if all(values[field] in wanted for field, wanted in named.items() if field in values)
        ]
        if not fitting:
            return Resolution(NO_FILING, (), (), labels, years)
        groups: dict[tuple[str, ...], list[str]] = {}
        for name in fitting:
            values = self._documents[name]
            groups.setdefault(tuple(values.get(field, "") for field in self.schema.key), []).append(name)
        if any(len(names) > 1 for names in groups.values()):
            return Resolution(AMBIGUOUS, (), tuple(fitting), labels, years, 0.3)
        return Resolution(
            "exact", tuple(fitting), tuple(fitting), labels, years, 1.0, (), tuple((n,) for n in fitting)
        )

    def filings_of(self, labels: Iterable[str]) -> frozenset[str]:
        """All documents that bear one of some values of the key."""
        wanted = {label.lower() for label in labels}
        return frozenset(
            name
            for name, values in self._documents.items()
            if wanted & {values.get(field, "") for field in self.schema.key}
        )

    def tickers(self) -> dict[str, str]:
        """The key of each document, as one text."""
        return {
            name: " ".join(values.get(field, "") for field in self.schema.key).upper()
            for name, values in self._documents.items()
        }


def naming_regularity(keys: Sequence[tuple[object, ...]]) -> dict[str, float | int]:
    """How well documents can be told apart by their keys (section 3.3): shares of complete and of unique keys."""
    complete = [key for key in keys if all(part is not None and part != "" for part in key)]
    counts: dict[tuple[object, ...], int] = {}
    for key in complete:
        counts[key] = counts.get(key, 0) + 1
    total = len(keys)
    return {
        "documents": total,
        "keys": len(counts),
        "complete_share": len(complete) / total if total else 0.0,
        "unique_share": sum(counts[key] == 1 for key in complete) / total if total else 0.0,
        "most_on_one_key": max(counts.values(), default=0),
    }

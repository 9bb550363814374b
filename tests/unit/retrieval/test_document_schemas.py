"""Routing another kind of corpus by a template of its documents' names, and how regular such names are."""

from __future__ import annotations

from pathlib import Path

import pytest

from apportion.retrieval.resolver.schema import MetadataSchema, SchemaResolver, naming_regularity, read_schema

CASES = MetadataSchema(
    "{court}/{year}/{case}",
    {"court": "(?i:supreme|appeals)", "year": r"(?:19|20)\d\d", "case": r"\d{2}-\d{3,5}"},
    ("case",),
)
NAMES = ["supreme/2021/20-1234", "appeals_2020_19-777-0a1b2c3d", "appeals_2021_19-777", "readme"]


def test_documents_are_found_by_the_fields_of_their_names() -> None:
    resolver = SchemaResolver(NAMES, CASES)
    one = resolver.resolve("What was held in 20-1234?")
    assert (one.status, one.filing_ids) == ("exact", ("supreme/2021/20-1234",))
    assert resolver.resolve("And in 19-777?").status == "fallback_ambiguous"
    assert resolver.resolve("And in 19-777 in 2020?").filing_ids == ("appeals_2020_19-777-0a1b2c3d",)
    assert resolver.resolve("And in 18-555?").status == "fallback_no_filing"
    assert resolver.resolve("What is estoppel?").status == "fallback_no_ticker"
    both = resolver.resolve("Compare 20-1234 with 19-777 as decided in 2021")
    assert set(both.filing_ids) == {"supreme/2021/20-1234", "appeals_2021_19-777"}
    assert resolver.filings_of(["19-777"]) == {"appeals_2020_19-777-0a1b2c3d", "appeals_2021_19-777"}


def test_schemas_are_read_from_files(tmp_path: Path) -> None:
    path = tmp_path / "cases.toml"
    path.write_text("template = '{year}/{case}'\n[fields]\nyear = '\\d{4}'\ncase = '\\d+-\\d+'\n")
    assert read_schema(path).read_name("2021_20-12") == {"year": "2021", "case": "20-12"}
    path.write_text("template = '{year}/{case}'\n[fields]\nyear = '\\d{4}'\n")
    with pytest.raises(ValueError, match="'case' has no pattern"):
        read_schema(path)
    path.write_text("nonsense")
    with pytest.raises(ValueError, match="no schema"):
        read_schema(path)


def test_naming_regularity_counts_keys() -> None:
    keys = [("A", 2021), ("A", 2022), ("B", 2022), ("B", 2022), (None, 2022)]
    assert naming_regularity(keys) == {
        "documents": 5,
        "keys": 3,
        "complete_share": 0.8,
        "unique_share": 0.4,
        "most_on_one_key": 2,
    }
    assert naming_regularity([])["unique_share"] == 0.0

"""The resolver over FinanceBench: 150 questions against all 84 filings, without a model and without their labels."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from apportion.corpus.financebench import read_financebench
from apportion.retrieval.resolver.resolver import RESOLVED, Resolver

DATA = os.environ.get("APPORTION_TEST_DATA")


@pytest.mark.data
@pytest.mark.skipif(DATA is None, reason="APPORTION_TEST_DATA names no folder")
def test_financebench_questions_find_their_filings() -> None:
    corpus = read_financebench(Path(str(DATA)) / "financebench")
    resolver = Resolver(corpus.filings.iter_rows(named=True))
    company_of = dict(corpus.filings.select("filing_id", "company").iter_rows())
    resolved = right = company = 0
    for row in corpus.questions.select("text", "filing_id", "company").iter_rows(named=True):
        resolution = resolver.resolve(row["text"])
        named = {company_of[filing] for filing in (*resolution.filing_ids, *resolution.candidates)}
        company += named == {row["company"]}
        if resolution.status in RESOLVED:
            resolved += 1
            right += row["filing_id"] in resolution.filing_ids
            assert len(resolution.filing_ids) <= 2
    assert corpus.questions.height == 150
    assert resolved >= 125
    assert right >= 0.98 * resolved
    assert company >= 143

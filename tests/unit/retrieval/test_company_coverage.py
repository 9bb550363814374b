"""The sample's questions on several companies: every company resolved, and every one in `hdrr`'s context."""

from __future__ import annotations

from pathlib import Path

import sample_rows

from apportion.corpus.sample import build_company_questions
from apportion.retrieval.chunk_index import ChunkIndex
from apportion.retrieval.chunk_search import ChunkSearch
from apportion.retrieval.chunking import chunk_rows
from apportion.retrieval.latent import LatentVectors
from apportion.retrieval.queries import lexical_query
from apportion.retrieval.resolver.resolver import RESOLVED, Resolver
from apportion.routes.systems import plan_search, read_chunks, searched_apart


def test_every_company_reaches_the_context(tmp_path: Path) -> None:
    corpus = sample_rows.sample()
    questions = build_company_questions().questions.rows(named=True)
    resolver = Resolver(corpus.filings.iter_rows(named=True))
    index = ChunkIndex(tmp_path)
    index.add(chunk_rows(corpus.pages))
    wanted = [{page["filing_id"] for page in row["evidence"]} for row in questions]
    resolved = [resolver.resolve(row["text"]) for row in questions]
    assert [set(one.filing_ids) for one in resolved] == wanted
    searches = [
        plan_search("hdrr", lexical_query(row["text"]), one, index.filings)
        for row, one in zip(questions, resolved, strict=True)
    ]
    found = ChunkSearch(index, LatentVectors(index)).find(searches)
    for ranked, one, filings in zip(found, resolved, wanted, strict=True):
        rows = [{"filing_id": chunk.filing_id, "score": chunk.score} for chunk in ranked]
        assert {row["filing_id"] for row in read_chunks(rows, apart=searched_apart(one))} == filings


def test_the_samples_questions_find_their_filings() -> None:
    corpus = sample_rows.sample()
    resolver = Resolver(corpus.filings.iter_rows(named=True))
    rows = corpus.questions.select("text", "filing_id").rows()
    resolutions = [(resolver.resolve(text), filing) for text, filing in rows]
    resolved = [(one, filing) for one, filing in resolutions if one.status in RESOLVED]
    assert len(resolved) >= 0.95 * len(rows)
    assert sum(filing in one.filing_ids for one, filing in resolved) >= 0.98 * len(resolved)
    # What names its company but not its year leaves that company's filings open.
    assert all(filing in one.candidates for one, filing in resolutions if one.status not in RESOLVED)

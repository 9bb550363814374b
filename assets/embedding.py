"""Vectors and reranking scores by models, for the chunk index: local ones, or LiteLLM's through the gateway."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import polars as pl

from apportion.llm.requests import CallPurpose, CallResult, ChatRequest
from apportion.llm.texts import embedding_request, rerank_request, unpack
from apportion.retrieval.chunk_index import ChunkIndex, Vectors
from apportion.retrieval.embedding import LOCAL, EmbeddedChunks, local_embed
from apportion.retrieval.ranking import Ranked, best
from apportion.routes.systems import PLAIN
from assets.calling import call_models
from assets.chunking import chunk_texts, chunks_of
from assets.describing import prefixes
from assets.workplace import Workplace

AT_ONCE = 64
"""Texts of one embedding call."""
LOCAL_RERANKER = "Xenova/ms-marco-MiniLM-L-6-v2"


class TextCall:
    """An embedding or reranking call."""

    def __init__(self, request: ChatRequest, purpose: CallPurpose) -> None:
        self.request = request
        self.purpose = purpose


def model_vectors(work: Workplace, index: ChunkIndex, variant: str) -> EmbeddedChunks:
    """Vectors by the model that the settings name; those that are missing are made now."""
    name = work.answering.embedder
    if name == LOCAL:
        embed = local_embed(work.answering.model_folder)
    else:

        def embed(texts: Sequence[str]) -> Vectors:
            return _embedded(work, texts, name)

    def texts_of(filing: str) -> list[str]:
        before = _before(work, variant, [filing])
        return [
            before.get((filing, number), "") + text
            for part in chunks_of(work.store, [filing], work.version)
            for number, text in part.select("chunk_number", "text").iter_rows()
        ]

    vectors = EmbeddedChunks(index, name, embed, texts_of)
    vectors.make(vectors.missing())
    return vectors


def _before(work: Workplace, variant: str, filings: list[str]) -> Mapping[tuple[str, int], str]:
    if variant == PLAIN:
        return {}
    return prefixes(
        work.context, work.warehouse, work.answering, work.outcome_set, variant, filings, work.version
    )


def _embedded(work: Workplace, texts: Sequence[str], model: str) -> Vectors:
    planned = [
        TextCall(
            embedding_request(texts[start : start + AT_ONCE], model),
            CallPurpose(work.outcome_set, None, None, "embed"),
        )
        for start in range(0, len(texts), AT_ONCE)
    ]
    results = call_models(
        work.context, work.warehouse, work.answering, planned, f"embedding {len(texts)} texts"
    )
    for result in results:
        if result.status != "ok" or result.text is None:
            raise ValueError(
                f"{model} embedded only part of {len(texts)} texts ({result.status}: {result.error}); "
                "raise the cap or name another embedder"
            )
    return np.concatenate([unpack(result.text or "") for result in results])


class ModelReranker:
    """Scores candidates by a cross-encoder or a LiteLLM rerank model; keeps the calls that it took by query."""

    def __init__(self, work: Workplace, variant: str) -> None:
        self.name = work.answering.reranker
        self.calls: dict[str, list[CallResult]] = {}
        self._work = work
        self._variant = variant
        self._local = _cross_encoder(work.answering.model_folder) if self.name == LOCAL else None

    def rerank(self, query: str, candidates: Sequence[Ranked]) -> list[Ranked]:
        """As `Reranker.rerank`; the fused order stays where the model gives no scores."""
        if not candidates:
            return []
        keys = [(one.filing_id, one.number) for one in candidates]
        wanted = pl.DataFrame(keys, schema={"filing_id": pl.String, "chunk_number": pl.Int64}, orient="row")
        texts = chunk_texts(self._work.store, wanted, self._work.version)
        before = _before(self._work, self._variant, sorted({filing for filing, _ in keys}))
        read = [before.get(key, "") + texts[key] for key in keys]
        scores = self._by_model(query, read) if self._local is None else list(self._local.rerank(query, read))
        if scores is None:
            return best(candidates, len(candidates))
        return best(
            (
                Ranked(one.filing_id, one.number, float(score))
                for one, score in zip(candidates, scores, strict=True)
            ),
            len(candidates),
        )

    def _by_model(self, query: str, texts: Sequence[str]) -> list[float] | None:
        work = self._work
        call = TextCall(
            rerank_request(query, texts, self.name), CallPurpose(work.outcome_set, None, None, "rerank")
        )
        [result] = call_models(work.context, work.warehouse, work.answering, [call], "reranking")
        if result.status == "left_out":
            return None
        self.calls.setdefault(query, []).append(result)
        return None if result.status != "ok" or result.text is None else list(json.loads(result.text))


def _cross_encoder(folder: str | None):  # type: ignore[no-untyped-def]
    try:
        from fastembed.rerank.cross_encoder import TextCrossEncoder
    except ImportError:
        raise ImportError("a local reranker needs fastembed: pip install 'apportion[embeddings]'") from None
    own = None if folder is None else Path(folder) / "reranker"
    given = {"specific_model_path": str(own)} if own is not None and own.is_dir() else {}
    return TextCrossEncoder(LOCAL_RERANKER, **given)

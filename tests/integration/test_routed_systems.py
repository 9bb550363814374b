"""The document-routed systems with models: calls made once, counted in the routes, priced, capped, from the ledger."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import routing_server
import tiny
from commandline import CommandLine

from apportion.llm.gateway import Gateway
from apportion.llm.requests import CallPurpose
from apportion.llm.texts import embedding_request, rerank_request, unpack
from warehouse.store import Store

KEYS = {"OPENAI_API_KEY": "test", "HOSTED_VLLM_API_KEY": "test"}
ROUTES = "cbr,cbr_context,hdrr,agentic,sfr"


# LiteLLM's own types make pydantic warn when they are first used.
@pytest.mark.filterwarnings("ignore:Items? :UserWarning")
def test_texts_are_embedded_and_scored_through_the_ledger(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    with routing_server.running() as server:
        gateway = Gateway(tmp_path / "ledger.sqlite", api_base=server.url)
        try:
            request = embedding_request(["net revenue", "risk"], "openai/fake-embed")
            ranked = rerank_request("risk", ["a b c", "risk"], "hosted_vllm/fake-rerank")
            purpose = CallPurpose("s", None, None, "embed")
            [embedded, scored] = gateway.complete_many(
                [(request, purpose), (ranked, CallPurpose("s", None, None, "rerank"))]
            )
            [again] = gateway.complete_many([(request, purpose)])
        finally:
            gateway.close()
    assert (embedded.status, scored.status) == ("ok", "ok")
    # Rows come back in the order of the texts, whatever the order the provider gives them in.
    assert unpack(embedded.text or "").tolist() == [
        routing_server.vector("net revenue"),
        routing_server.vector("risk"),
    ]
    assert (embedded.usage.input_tokens, embedded.usage.output_tokens) == (14, 0)
    assert again.served
    assert again.text == embedded.text
    assert np.isclose(scored.usage.output_tokens, 0)
    assert server.count("embed") == server.count("rerank") == 1


def test_systems_with_a_model(shared_apportion: Callable[[str], CommandLine], tmp_path: Path) -> None:
    apportion = shared_apportion("routed")
    apportion.ok(
        "ingest", str(tiny.write(tmp_path / "set", tiny.rows(2))), "--set", "routed", "--batch", "routed"
    )
    with routing_server.running() as server:
        settings = ("--model", "openai/fake", "--api-base", server.url, "--routes", ROUTES, "--set", "routed")
        systems = ("--system", "embedder=openai/fake-embed", "--system", "reranker=hosted_vllm/fake-rerank")
        apportion.ok("run", *settings, *systems, "--max-tokens", "3000000", env=KEYS)
        made = {
            kind: server.count(kind) for kind in ("route", "rewrite", "verify", "describe", "embed", "answer")
        }
    store = Store(str(apportion.warehouse))
    rows = store.read("route_outcomes", {"outcome_set": "routed"}).rows(named=True)
    questions = store.read("questions").height
    calls = {
        route: {row["calls_made"] for row in rows if row["route"] == route} for route in ROUTES.split(",")
    }
    # One routing call is shared by the systems that route; it counts for each.
    assert made["route"] == made["rewrite"] == questions
    # Reading, reranking, answering.
    assert calls["cbr"] == calls["cbr_context"] == calls["hdrr"] == {3}
    # No reranking: the filing is read whole.
    assert calls["sfr"] == {2}
    # A verifier that always says no: three checks, and each of the three searches reranked.
    assert calls["agentic"] == {1 + 3 + 3 + 1}
    assert made["verify"] <= 3 * questions
    assert made["describe"] > 0
    assert made["embed"] > 0
    assert {row["status"] for row in rows} == {"ok"}
    purposes = set(store.read("calls")["purpose"])
    assert {"answer", "resolve", "rewrite", "verify", "contextualise", "rerank", "embed"} <= purposes
    apportion.ok("systems", "--set", "routed")
    page = Path(apportion.ok("report").strip()).read_text(encoding="utf-8")
    assert "routed: systems, scored by embedded/judge" in page
    compared = store.read("system_comparison", {"outcome_set": "routed"})
    (row,) = compared.filter(route="hdrr", baseline="cbr", metric="mean_score").rows(named=True)
    assert f"hdrr less cbr is {row['difference']:+.2f}" in page

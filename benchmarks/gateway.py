"""The gateway beside bare LiteLLM, and what its ledger adds to a call.

``throughput``: calls at 64 concurrent against a local server that answers in 50 ms, in one run, alternating; a ratio
of 1 means that ledger, budget and retries cost nothing. ``ledger``: the median of claiming, reserving and settling a
call, times their number, beside an allowance of 1 ms a call.
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from apportion.llm.accounts import Account, Budget
from apportion.llm.budget import Amount
from apportion.llm.counting import sizes
from apportion.llm.eventloop import run
from apportion.llm.gateway import Call, Gateway
from apportion.llm.ledger import Claimed, Ledger
from apportion.llm.prices import PriceTable
from apportion.llm.requests import CallPurpose, CallResult, ChatRequest, Message, Usage
from apportion.llm.transport import litellm_module
from benchmarks.harness import arguments, row, show

CALLS, CONCURRENCY, DELAY_S, ROUNDS = 1000, 64, 0.05, 3
MODEL = "openai/local"


def _server_module() -> Any:
    path = Path(__file__).parents[1] / "tests" / "support" / "chat_server.py"
    spec = importlib.util.spec_from_file_location("chat_server", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["chat_server"] = module
    spec.loader.exec_module(module)
    return module


def _calls(n: int, label: str) -> list[Call]:
    page = "Revenue 2,345 2,210 cost of revenue 1,200 1,150 operating income 400 380. " * 40
    return [
        (
            ChatRequest(MODEL, (Message("user", f"do: ok | {label} {i} {page}"),)),
            CallPurpose("benchmark", str(i), "top1", "answer"),
        )
        for i in range(n)
    ]


async def _bare(calls: list[Call], url: str) -> None:
    litellm, slots = litellm_module(), asyncio.Semaphore(CONCURRENCY)

    async def one(request: ChatRequest) -> None:
        async with slots:
            await litellm.acompletion(
                model=request.model,
                messages=[{"role": m.role, "content": m.content} for m in request.messages],
                temperature=request.temperature,
                max_tokens=request.max_output_tokens,
                api_base=url,
                num_retries=0,
                max_retries=0,
                timeout=120,
            )

    await asyncio.gather(*(one(request) for request, _ in calls))


def _run_bare(calls: list[Call], url: str) -> float:
    """Seconds for bare LiteLLM as others have it: with its logging worker, whose backlog is not counted."""
    from litellm.litellm_core_utils.logging_worker import GLOBAL_LOGGING_WORKER

    worker = GLOBAL_LOGGING_WORKER
    silenced = worker.__dict__.pop("ensure_initialized_and_enqueue")
    started = time.perf_counter()
    run(_bare(calls, url), SimpleQueue(), lambda _: None)
    took = time.perf_counter() - started
    run(worker.flush(), SimpleQueue(), lambda _: None)
    worker.ensure_initialized_and_enqueue = silenced
    return took


def throughput(n: int) -> dict[str, Any]:
    """Seconds for ``n`` calls through the gateway and through bare LiteLLM, the median of three rounds each."""
    os.environ.setdefault("OPENAI_API_KEY", "sk-local")
    ours, bare = [], []
    with _server_module().running(delay_s=DELAY_S) as server, tempfile.TemporaryDirectory() as folder:
        gateway = Gateway(
            Path(folder) / "calls.sqlite",
            api_base=server.url,
            max_concurrency=CONCURRENCY,
            budget=Budget("benchmark", tokens=10**12),
        )
        gateway.complete_many(_calls(CONCURRENCY, "warm"))
        _run_bare(_calls(CONCURRENCY, "warm"), server.url)
        for round_number in range(ROUNDS):
            calls = _calls(n, f"round {round_number}")
            started = time.perf_counter()
            results = gateway.complete_many(calls)
            ours.append(time.perf_counter() - started)
            assert all(result.status == "ok" and not result.served for result in results)
            bare.append(_run_bare(calls, server.url))
        gateway.close()
    return row("throughput", n, statistics.median(ours), "litellm.acompletion", statistics.median(bare))


def ledger(n: int) -> dict[str, Any]:
    """What the ledger and a budget add to ``n`` calls, from the median of one."""
    took = []
    with tempfile.TemporaryDirectory() as folder:
        book = Ledger(Path(folder) / "calls.sqlite")
        account = Account(book, Budget("benchmark", tokens=10**12), PriceTable())
        for request, purpose in _calls(n, "ledger"):
            started = time.perf_counter()
            size = sizes(request)
            claim = book.claim(request, purpose, size, account.admission(request, purpose, size))
            assert isinstance(claim, Claimed)
            result = CallResult(
                claim.call_id,
                request.request_hash,
                "ok",
                "an answer",
                None,
                Usage(900, 40),
                0.0,
                50.0,
                1,
                served=False,
            )
            book.settle(result, account.settlement(Amount(940)))
            took.append(time.perf_counter() - started)
        book.close()
    return row("ledger", n, statistics.median(took) * n, "an allowance of 1 ms a call", n / 1000)


def main() -> None:
    """Run both cases and print them."""
    parser = arguments(__doc__.splitlines()[0])
    chosen = parser.parse_args()
    n = min(chosen.max_n, CALLS)
    show([throughput(n), ledger(n)], chosen.format)


if __name__ == "__main__":
    main()

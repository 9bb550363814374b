"""The gateway against a real server that misbehaves."""

from __future__ import annotations

import importlib.util
import logging
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from apportion.llm.accounts import Budget
from apportion.llm.gateway import Call, Gateway
from apportion.llm.limits import ModelLimits
from apportion.llm.prices import PriceTable
from apportion.llm.requests import CallPurpose, CallResult, ChatRequest, Message
from apportion.llm.statements import statement_by_model

_spec = importlib.util.spec_from_file_location(
    "chat_server", Path(__file__).parents[1] / "support" / "chat_server.py"
)
assert _spec is not None
assert _spec.loader is not None
chat_server = importlib.util.module_from_spec(_spec)
sys.modules["chat_server"] = chat_server
_spec.loader.exec_module(chat_server)

KEY = "sk-test-0123456789abcdefghij"
VERDICT = {
    "type": "object",
    "properties": {"verdict": {"enum": ["correct", "incorrect"]}},
    "required": ["verdict"],
    "additionalProperties": False,
}


@pytest.fixture(scope="module")
def server() -> Iterator[Any]:
    with chat_server.running() as running:
        yield running


@pytest.fixture
def make(server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    opened: list[Gateway] = []

    def gateway(**options: Any) -> Gateway:
        options = {"api_base": server.url, "backoff_s": 0.02, "timeout_s": 10.0} | options
        opened.append(Gateway(tmp_path / "ledger" / "calls.sqlite", **options))
        return opened[-1]

    yield gateway
    for each in opened:
        assert each.ledger.verify() == []
        each.close()


def call(steps: str, name: str, model: str = "openai/own-model", **options: Any) -> Call:
    request = ChatRequest(model, (Message("user", f"do: {steps} | {name}"),), **options)
    return request, CallPurpose("set", name, "top1", "answer")


def one(gateway: Gateway, steps: str, name: str, **options: Any) -> CallResult:
    (result,) = gateway.complete_many([call(steps, name, **options)])
    return result


def test_an_answer_is_paid_once_and_served_afterwards(make: Any, server: Any) -> None:
    first = one(make(), "tokens:70,9", "paid once")
    again = one(make(), "tokens:70,9", "paid once")
    assert (first.status, first.text, first.served) == ("ok", "the answer is 42", False)
    assert (first.usage.input_tokens, first.usage.output_tokens, first.usage.source) == (70, 9, "provider")
    assert (again.served, again.text, again.usage, again.call_id) == (
        True,
        first.text,
        first.usage,
        first.call_id,
    )
    assert (first.new_tokens, again.new_tokens) == (79, 0)
    assert len(server.requests("paid once")) == 1


def test_two_batches_in_one_process_both_work(make: Any) -> None:
    gateway = make()
    assert one(gateway, "ok", "batch 1").status == "ok"
    assert one(gateway, "ok", "batch 2").status == "ok"


def test_the_same_call_twice_in_a_batch_is_sent_once(make: Any, server: Any) -> None:
    twins = [call("slow:0.2", "twins")] * 5
    results = make().complete_many(twins)
    assert [r.served for r in results].count(False) == 1
    assert len({r.call_id for r in results}) == 1
    assert len(server.requests("twins")) == 1


def test_the_same_call_from_two_threads_is_sent_once(make: Any, server: Any) -> None:
    gateways, results = [make(), make()], []
    threads = [
        threading.Thread(target=lambda g=g: results.append(one(g, "slow:0.3", "two threads")))
        for g in gateways
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(r.served for r in results) == [False, True]
    assert len(server.requests("two threads")) == 1


def test_retries_do_not_stack(make: Any, server: Any) -> None:
    result = one(make(attempts=3), "429", "always busy")
    assert (result.status, result.attempts) == ("rate_limited", 3)
    assert len(server.requests("always busy")) == 3
    assert (result.usage.total_tokens, result.cost_usd) == (0, 0.0)


@pytest.mark.parametrize("value", ["1", "0.6"])
def test_retry_after_is_honoured(make: Any, server: Any, value: str) -> None:
    assert one(make(), f"429:{value} ok", f"wait {value}").status == "ok"
    first, second = server.requests(f"wait {value}")
    assert second["at"] - first["at"] >= float(value)


def test_a_retry_after_beyond_the_deadline_ends_the_call(make: Any, server: Any) -> None:
    # A model of its own: its provider's silence is kept for the process.
    model = "openai/silent-model"
    result = one(make(call_deadline_s=2.0), "429:3600 ok", "too long to wait", model=model)
    assert (result.status, result.attempts) == ("rate_limited", 1)
    assert len(server.requests("too long to wait")) == 1
    # Nobody sits an hour out: later calls to that model end at once, unsent, and say until when.
    later = one(make(call_deadline_s=2.0), "ok", "an hour too early", model=model)
    assert (later.status, later.attempts, later.usage.total_tokens) == ("rate_limited", 0, 0)
    assert "no calls for another 3," in (later.error or "")
    assert server.requests("an hour too early") == []


def test_a_transient_failure_is_sent_again_when_asked_again(make: Any, server: Any) -> None:
    gateway = make(attempts=1)
    first, second = one(gateway, "429 ok", "later"), one(gateway, "429 ok", "later")
    assert (first.status, second.status, second.served) == ("rate_limited", "ok", False)
    assert first.call_id != second.call_id


@pytest.mark.parametrize("steps", ["500 ok", "503 ok", "drop ok", "half ok", "notjson ok"])
def test_a_passing_fault_is_retried(make: Any, server: Any, steps: str) -> None:
    result = one(make(), steps, f"passing {steps}")
    assert (result.status, result.attempts) == ("ok", 2)
    assert len(server.requests(f"passing {steps}")) == 2


@pytest.mark.parametrize(
    ("step", "owed"), [("500", False), ("drop", True), ("half", True), ("notjson", True)]
)
def test_a_lasting_fault_fails_and_what_may_have_been_paid_is_counted(
    make: Any, step: str, owed: bool
) -> None:
    result = one(make(attempts=2), step, f"lasting {step}")
    assert (result.status, result.attempts, result.text) == ("failed", 2, None)
    assert (result.usage.total_tokens > 0) is owed
    if owed:
        assert result.usage.source == "assumed"
        assert result.usage.output_tokens == 2 * 384


@pytest.mark.parametrize("model", ["openai/own-model", "anthropic/own-model"])
@pytest.mark.parametrize("host", ["127.0.0.1", "nowhere.invalid"])
def test_a_connection_never_made_costs_nothing(
    make: Any, monkeypatch: pytest.MonkeyPatch, model: str, host: str
) -> None:
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    with socket.socket() as held:
        # Bound and not listening: nobody else takes the port, and it refuses.
        held.bind(("127.0.0.1", 0))
        gateway = make(api_base=f"http://{host}:{held.getsockname()[1]}/v1", attempts=2)
        result = one(gateway, "ok", f"unconnected {host}", model=model)
    assert (result.status, result.attempts) == ("failed", 2)
    assert (result.usage.total_tokens, result.cost_usd) == (0, 0.0)


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_a_call_without_a_key_is_not_retried_and_costs_nothing(
    make: Any, monkeypatch: pytest.MonkeyPatch, server: Any, provider: str
) -> None:
    gateway = make()
    for name in (
        "OPENAI_API_KEY",
        "ANTHROPIC_API_KEY",
        "ANTHROPIC_AUTH_TOKEN",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
    ):
        monkeypatch.delenv(name, raising=False)
    result = one(gateway, "ok", f"no key {provider}", model=f"{provider}/keyless-model")
    assert (result.status, result.attempts) == ("failed", 1)
    assert (result.usage.total_tokens, result.cost_usd) == (0, 0.0)
    assert server.requests(f"no key {provider}") == []


def test_a_hang_times_out(make: Any, server: Any) -> None:
    result = one(make(timeout_s=0.3, attempts=2), "hang", "hang")
    assert (result.status, result.attempts, result.usage.source) == ("timeout", 2, "assumed")
    assert len(server.requests("hang")) == 2


def test_a_batch_deadline_leaves_nothing_hanging(make: Any) -> None:
    gateway = make(batch_deadline_s=0.5, max_concurrency=1, attempts=1)
    results = gateway.complete_many([call("hang", f"deadline {i}") for i in range(3)])
    assert [r.status for r in results] == ["timeout"] * 3
    assert [r.attempts for r in results] == [1, 0, 0]


@pytest.mark.parametrize("step", ["nousage", "zerousage"])
def test_missing_usage_is_estimated_and_marked(make: Any, step: str) -> None:
    usage = one(make(), step, f"usage {step}").usage
    assert usage.source == "estimated"
    assert usage.input_tokens > 5
    assert usage.output_tokens == 5


def test_half_missing_usage_is_estimated_only_where_it_is_missing(make: Any) -> None:
    usage = one(make(), "tokens:77,0", "half usage").usage
    assert (usage.input_tokens, usage.output_tokens, usage.source) == (77, 5, "estimated")


def test_reasoning_is_part_of_the_output(make: Any) -> None:
    within = one(make(), "reasoning", "reasoning").usage
    beside = one(make(), "reasoningbeside", "reasoning beside").usage
    assert (within.output_tokens, within.reasoning_tokens, within.total_tokens) == (90, 70, 190)
    assert (beside.output_tokens, beside.reasoning_tokens, beside.total_tokens) == (90, 70, 190)


def test_cached_input_is_part_of_the_input_and_has_its_own_price(make: Any) -> None:
    prices = PriceTable({"openai/own-model": {"input": 1.0, "cached_input": 0.25, "output": 10.0}})
    result = one(make(prices=prices), "cached", "cached")
    assert (result.usage.input_tokens, result.usage.cached_input_tokens) == (100, 64)
    assert result.cost_usd == pytest.approx((36 * 1.0 + 64 * 0.25 + 20 * 10.0) / 1e6)


def test_an_unknown_price_is_null_and_a_price_of_zero_is_zero(make: Any) -> None:
    assert one(make(), "ok", "no price").cost_usd is None
    free = PriceTable({"openai/own-model": {"input": 0, "output": 0}})
    assert one(make(prices=free), "ok", "free").cost_usd == 0.0


def test_a_listed_model_has_the_list_price(make: Any) -> None:
    result = one(make(), "tokens:1000,100", "listed", model="openai/gpt-4o-mini")
    assert result.cost_usd == pytest.approx(1000 * 0.15e-6 + 100 * 0.6e-6)


@pytest.mark.parametrize("provider", sorted(chat_server.OVERFLOWS))
def test_context_overflow_in_each_providers_words(make: Any, server: Any, provider: str) -> None:
    result = one(make(), f"overflow:{provider}", f"overflow {provider}")
    assert (result.status, result.attempts, result.usage.total_tokens) == ("context_overflow", 1, 0)
    assert len(server.requests(f"overflow {provider}")) == 1


@pytest.mark.parametrize("step", ["refusal", "filter", "policy"])
def test_a_refusal_is_an_outcome_of_its_own(make: Any, server: Any, step: str) -> None:
    assert one(make(), step, f"refused {step}").status == "refused"
    assert len(server.requests(f"refused {step}")) == 1


@pytest.mark.parametrize("step", ["nulllength", "length"])
def test_an_answer_cut_off_is_truncated_and_its_tokens_counted(make: Any, step: str) -> None:
    result = one(make(), step, f"cut {step}")
    assert (result.status, result.attempts, result.usage.total_tokens) == ("truncated", 1, 120)


@pytest.mark.parametrize("structured", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_structured_answers(make: Any, structured: bool, named: bool, server: Any) -> None:
    other = {"structured": {"openai/own-model": structured}, "default_structured": not structured}
    gateway = make(**other if named else {"default_structured": structured})
    options = {"response_schema": VERDICT, "max_output_tokens": 50 + structured}
    plain = one(gateway, "ok", "plain", **options)
    fenced = one(gateway, "fenced", "fenced", **options)
    cut = one(gateway, "cutjson", "cut", **options)
    assert (plain.status, plain.parsed) == ("ok", {"verdict": "correct"})
    assert (fenced.status, fenced.parsed) == ("ok", {"verdict": "correct"})
    assert (cut.status, cut.parsed, cut.attempts, cut.usage.total_tokens) == ("truncated", None, 1, 120)
    body = server.requests("plain")[-1]["body"]
    assert ("response_format" in body) is structured
    assert (len(body["messages"]) == 2) is not structured


@pytest.mark.parametrize("step", ["prose", "prosefence", "wrongkey", "empty"])
def test_anything_else_is_malformed_retried_and_every_attempt_counted(
    make: Any, server: Any, step: str
) -> None:
    lasting = one(make(), step, f"malformed {step}", response_schema=VERDICT)
    assert (lasting.status, lasting.parsed, lasting.attempts) == ("malformed", None, 3)
    assert lasting.usage.total_tokens == 360
    passing = one(make(), f"{step} ok", f"passing {step}", response_schema=VERDICT)
    assert (passing.status, passing.attempts, passing.usage.total_tokens) == ("ok", 2, 240)


def test_mean_log_probability(make: Any) -> None:
    result = one(make(), "logprobs", "logprobs", provider_options={"logprobs": True})
    assert result.mean_logprob == pytest.approx(-0.5)
    assert one(make(), "ok", "no logprobs").mean_logprob is None


def test_every_part_of_the_identity_makes_another_call(make: Any, server: Any) -> None:
    variants: list[dict[str, Any]] = [
        {},
        {"temperature": 0.5},
        {"max_output_tokens": 99},
        {"seed": 7},
        {"stop": ("\n",)},
        {"response_schema": VERDICT},
        {"model": "openai/other-model"},
        {"provider_options": {"tools": [{"type": "function", "function": {"name": "f", "parameters": {}}}]}},
    ]
    results = make().complete_many([call("ok", "identity", **v) for v in variants])
    assert len({r.request_hash for r in results}) == len(variants)
    assert len(server.requests("identity")) == len(variants)


def test_a_key_is_nowhere_to_be_found(
    make: Any, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    with caplog.at_level(logging.DEBUG):
        result = one(make(), "401", "wrong key")
    assert (result.status, result.attempts) == ("failed", 1)
    assert result.error is not None
    assert "Incorrect API key" in result.error
    shown = result.error + caplog.text + "".join(capfd.readouterr())
    stored = b"".join(path.read_bytes() for path in (tmp_path / "ledger").iterdir())
    assert KEY not in shown
    assert KEY.encode() not in stored


def test_an_unknown_embedded_model_is_a_failed_call(make: Any) -> None:
    result = one(make(), "ok", "x", model="embedded/nobody")
    assert (result.status, result.attempts) == ("failed", 1)
    assert result.error is not None
    assert "nobody" in result.error


def test_concurrency_stays_within_the_models_limit(make: Any, server: Any) -> None:
    gateway = make(limits={"openai/own-model": ModelLimits(max_concurrency=2)})
    gateway.complete_many([call("slow:0.05", f"concurrent {i}") for i in range(8)])
    spans = [(e["at"], e["answered_at"]) for e in server.log() if e["name"].startswith("concurrent")]
    assert max(sum(a <= t < b for a, b in spans) for t, _ in spans) == 2


# --- budgets -----------------------------------------------------------------------------------------------------


def test_eight_at_once_under_a_budget_for_two(make: Any, server: Any) -> None:
    """Each call takes 100 tokens and may take no more: a budget of 250 admits exactly two."""
    probe = call("tokens:100,10", "probe 0", max_output_tokens=10)
    size = make().expected([probe]).most_tokens
    budget = Budget("two", tokens=int(2.5 * size))
    calls = [call(f"tokens:{size - 10},10", f"eight {i}", max_output_tokens=10) for i in range(8)]
    gateway = make(budget=budget, max_concurrency=8)
    results = gateway.complete_many(calls)
    assert [r.status for r in results] == ["ok"] * 2 + ["left_out"] * 6
    assert len([e for e in server.log() if e["name"].startswith("eight")]) == 2
    statement = gateway.account.statement()
    assert (statement.spent_tokens, statement.left_out, statement.held_tokens) == (2 * size, 6, 0)
    (model,) = statement_by_model(gateway.ledger, "two")
    assert (model.reserved_tokens, model.spent_usd) == (2 * size, None)
    assert [row["question_id"] for row in gateway.ledger.left_out_rows("two")] == [
        f"eight {i}" for i in range(2, 8)
    ]


def test_what_a_call_does_not_use_is_there_for_the_next(make: Any) -> None:
    calls = [call("tokens:20,5", f"unused {i}") for i in range(6)]
    gateway = make(max_concurrency=6)
    limit = gateway.expected(calls[:1]).most_tokens + 5 * 25
    capped = make(max_concurrency=6, budget=Budget("unused", tokens=limit))
    assert [r.status for r in capped.complete_many(calls)] == ["ok"] * 6
    assert capped.account.statement().spent_tokens == 150


def test_a_served_call_costs_the_budget_nothing(make: Any) -> None:
    one(make(), "ok", "served")
    gateway = make(budget=Budget("nothing", tokens=0))
    result = one(gateway, "ok", "served")
    assert (result.status, result.served, result.usage.total_tokens) == ("ok", True, 120)
    assert gateway.account.statement().spent_tokens == 0


def test_a_retry_is_sent_only_if_its_worst_case_fits_too(make: Any, server: Any) -> None:
    worst = make().expected([call("prose ok", "retry 0", response_schema=VERDICT)]).most_tokens
    tight = make(budget=Budget("tight", tokens=worst))
    result = one(tight, "prose ok", "retry 1", response_schema=VERDICT)
    assert (result.status, result.attempts) == ("malformed", 1)
    assert result.error is not None
    assert "no budget is left" in result.error
    roomy = make(budget=Budget("roomy", tokens=worst + 120))
    assert one(roomy, "prose ok", "retry 2", response_schema=VERDICT).status == "ok"
    assert roomy.account.statement().spent_tokens == 240


def test_a_lost_answer_is_charged_at_its_worst(make: Any) -> None:
    gateway = make(budget=Budget("lost", tokens=100_000), attempts=1)
    worst = gateway.expected([call("drop", "lost")]).most_tokens
    assert one(gateway, "drop", "lost").status == "failed"
    assert gateway.account.statement().spent_tokens == worst


def test_a_cap_in_money(make: Any) -> None:
    prices = PriceTable({"openai/own-model": {"input": 1.0, "output": 100.0}})
    calls = [call("tokens:10,20", f"money {i}", max_output_tokens=20) for i in range(9)]
    most = make(prices=prices).expected(calls[:1]).most_usd
    gateway = make(prices=prices, budget=Budget("money", usd=most * 3), max_concurrency=8)
    results = gateway.complete_many(calls)
    paid = sum(r.cost_usd for r in results if r.status == "ok")
    assert paid == pytest.approx(gateway.account.statement().spent_usd)
    assert paid <= most * 3
    assert {r.status for r in results} == {"ok", "left_out"}
    (model,) = statement_by_model(gateway.ledger, "money")
    sent = sum(r.status == "ok" for r in results)
    assert (model.model, model.calls, model.spent_tokens) == ("openai/own-model", sent, 30 * sent)
    assert model.spent_usd == pytest.approx(paid)
    assert model.reserved_usd is not None
    assert model.reserved_usd >= paid


def test_money_cannot_be_capped_where_the_price_is_unknown(make: Any, server: Any) -> None:
    with pytest.raises(ValueError, match="the price of openai/own-model is unknown"):
        one(make(budget=Budget("blind", usd=1.0)), "ok", "blind")
    assert server.requests("blind") == []


def test_threads_share_a_budget(make: Any, server: Any) -> None:
    size = make().expected([call("tokens:99,10", "shared 0 0", max_output_tokens=10)]).most_tokens
    gateways = [make(budget=Budget("shared", tokens=7 * size + 3)) for _ in range(4)]
    calls = [
        [call(f"tokens:{size - 10},10", f"shared {t} {i}", max_output_tokens=10) for i in range(5)]
        for t in range(4)
    ]
    threads = [
        threading.Thread(target=g.complete_many, args=(c,)) for g, c in zip(gateways, calls, strict=True)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len([e for e in server.log() if e["name"].startswith("shared")]) == 7
    assert gateways[0].account.statement().spent_tokens == 7 * size


@pytest.mark.slow
def test_processes_share_a_budget_and_each_others_calls(make: Any, server: Any, tmp_path: Path) -> None:
    gateway = make()
    size = gateway.expected([call("tokens:99,10", "process 0 0", max_output_tokens=10)]).most_tokens
    script = (
        "import sys\n"
        "from apportion.llm.accounts import Budget\n"
        "from apportion.llm.gateway import Gateway\n"
        "from apportion.llm.requests import CallPurpose, ChatRequest, Message\n"
        "path, url, me, size = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])\n"
        "def call(steps, name):\n"
        "    request = ChatRequest('openai/own-model', (Message('user', f'do: {steps} | {name}'),),"
        " max_output_tokens=10)\n"
        "    return request, CallPurpose('set', name, 'top1', 'answer')\n"
        "common = [call('slow:1.5', 'common')]\n"
        "own = [call(f'tokens:{size - 10},10', f'process {me} {i}') for i in range(6)]\n"
        "gateway = Gateway(path, api_base=url)\n"
        "(result,) = gateway.complete_many(common)\n"
        "assert result.status == 'ok', result\n"
        "gateway = Gateway(path, api_base=url, budget=Budget('processes', tokens=7 * size + 3))\n"
        "print(sum(r.status == 'ok' for r in gateway.complete_many(own)))\n"
    )
    path = str(tmp_path / "ledger" / "calls.sqlite")
    workers = [
        subprocess.Popen(
            [sys.executable, "-c", script, path, server.url, str(me), str(size)],
            stdout=subprocess.PIPE,
            text=True,
        )
        for me in range(3)
    ]
    sent = [int(worker.communicate()[0]) for worker in workers]
    assert sum(sent) == 7
    assert len([e for e in server.log() if e["name"].startswith("process")]) == 7
    assert len(server.requests("common")) == 1
    (budget,) = gateway.ledger.query("SELECT * FROM budgets WHERE budget = 'processes'")
    assert (budget["spent_tokens"], budget["held_tokens"]) == (7 * size, 0)


def test_room_held_by_a_dead_process_is_not_waited_for(make: Any, tmp_path: Path) -> None:
    worst = make().expected([call("ok", "after the dead")]).most_tokens
    gateway = make(budget=Budget("haunted", tokens=2 * worst - 1))
    script = (
        "import os, sys\n"
        "from apportion.llm.accounts import Account, Budget\n"
        "from apportion.llm.ledger import Claimed, Ledger, Sizes\n"
        "from apportion.llm.prices import PriceTable\n"
        "from apportion.llm.requests import CallPurpose, ChatRequest, Message\n"
        "worst = int(sys.argv[2])\n"
        "ledger = Ledger(sys.argv[1])\n"
        "account = Account(ledger, Budget('haunted', tokens=2 * worst - 1), PriceTable())\n"
        "request = ChatRequest('openai/own-model', (Message('user', 'the dead'),))\n"
        "purpose, size = CallPurpose('set', 'dead', 'top1', 'answer'), Sizes(1, worst - 384, 384)\n"
        "claim = ledger.claim(request, purpose, size, account.admission(request, purpose, size))\n"
        "os._exit(0 if isinstance(claim, Claimed) else 1)\n"
    )
    path = str(tmp_path / "ledger" / "calls.sqlite")
    subprocess.run([sys.executable, "-c", script, path, str(worst)], check=True)
    assert one(gateway, "ok", "after the dead").status == "left_out"
    statement = gateway.account.statement()
    assert (statement.spent_tokens, statement.held_tokens, statement.in_flight) == (worst, 0, 0)


def test_a_calibrated_budget_reports_its_coverage(make: Any) -> None:
    make(max_concurrency=8).complete_many(
        [call(f"tokens:20,{5 + i % 40}", f"history {i}") for i in range(200)]
    )
    gateway = make(budget=Budget("calibrated", tokens=1200, hard=False, risk=0.1))
    results = gateway.complete_many([call(f"tokens:20,{5 + i % 40}", f"calibrated {i}") for i in range(60)])
    statement = gateway.account.statement()
    assert sum(r.status == "ok" for r in results) >= 20
    assert statement.risks_taken >= 1
    assert statement.coverage_calls >= 20
    assert statement.coverage is not None
    assert statement.coverage >= 0.85
    assert statement.spent_tokens >= 0.93 * 1200


# --- before and beside a run ---------------------------------------------------------------------------------------


def test_expectations_before_a_run(make: Any) -> None:
    gateway = make()
    known = [call("tokens:50,10", f"expected {i}") for i in range(3)]
    gateway.complete_many(known)
    calls = [
        *known,
        call("ok", "expected new"),
        call("ok", "expected new"),
        call("ok", "y", model="embedded/reader"),
    ]
    expected = gateway.expected(calls)
    assert (expected.calls, expected.held, expected.to_send) == (5, 3, 2)
    assert (expected.usd, expected.unpriced, expected.needs_consent) == (None, ("openai/own-model",), True)
    # Answers so far had 10 tokens; the embedded reader has none yet and is taken at its limit.
    assert expected.output_tokens == 10 + 384
    assert gateway.expected([call("ok", "y", model="embedded/reader")]).needs_consent is False
    priced = make().expected([call("ok", "y", model="openai/gpt-4o-mini")])
    assert priced.priced == ("openai/gpt-4o-mini",)
    assert priced.usd is not None
    assert priced.most_usd is not None
    assert 0 < priced.usd <= priced.most_usd


def test_spending_by_set_model_and_purpose(make: Any) -> None:
    gateway = make()
    calls = [call("ok", f"spend {i}") for i in range(4)]
    gateway.complete_many(calls)
    gateway.complete_many(calls)
    (spend,) = gateway.ledger.spend("set")
    assert (spend.calls, spend.served, spend.input_tokens, spend.output_tokens) == (4, 4, 400, 80)
    assert (spend.cost_usd, spend.unpriced) == (None, 4)
    uses = gateway.ledger.call_uses_rows("set")
    assert [row["served"] for row in uses] == [False] * 4 + [True] * 4
    assert [row["status"] for row in gateway.ledger.calls_rows("set")] == ["ok"] * 4
    assert gateway.ledger.calls_rows("another set") == []


def test_served_calls_never_import_litellm(make: Any, tmp_path: Path) -> None:
    gateway = make()
    one(gateway, "ok", "cold")
    path = tmp_path / "ledger" / "calls.sqlite"
    script = (
        "import sys\n"
        "from apportion.llm.gateway import Gateway\n"
        "from apportion.llm.requests import CallPurpose, ChatRequest, Message\n"
        "request = ChatRequest('openai/own-model', (Message('user', 'do: ok | cold'),))\n"
        f"gateway = Gateway({str(path)!r})\n"
        "calls = [(request, CallPurpose('set', 'cold', 'top1', 'answer'))]\n"
        "assert gateway.expected(calls).held == 1\n"
        "assert gateway.complete_many(calls)[0].served\n"
        "print('litellm' in sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"


def test_an_interrupt_leaves_a_call_on_record_as_possibly_paid(make: Any, server: Any) -> None:
    gateway = make()

    def interrupt(_done: int, _of: int, _result: CallResult) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        gateway.complete_many([call("slow:0.5", "interrupted"), call("ok", "first")], progress=interrupt)
    statuses = {row["question_id"]: row["status"] for row in gateway.ledger.calls_rows()}
    assert statuses == {"interrupted": "abandoned", "first": "ok"}
    assert one(gateway, "slow:0.5", "interrupted").status == "ok"
    rows = [row for row in gateway.ledger.calls_rows() if row["question_id"] == "interrupted"]
    assert [row["usage_source"] for row in rows] == ["assumed", "provider"]


@pytest.mark.parametrize(
    ("limits", "sent"),
    [
        (ModelLimits(requests_per_minute=2), 2),
        # A call reserves its prompt and 200 tokens of output: a third one would pass 600 a minute.
        (ModelLimits(tokens_per_minute=600), 2),
    ],
)
def test_what_a_minute_does_not_hold_is_not_sent_in_it(
    make: Any, server: Any, limits: ModelLimits, sent: int
) -> None:
    name, model = f"minute {limits}", f"openai/minute-model-{limits.tokens_per_minute}"
    calls = [call("ok", f"{name} {i}", model=model, max_output_tokens=200) for i in range(5)]
    # The second gateway is in the minute that the first began.
    results = make(limits={model: limits}).complete_many(calls[:1])
    results += make(default_limits=limits, batch_deadline_s=1.0).complete_many(calls[1:])
    assert [result.status for result in results].count("ok") == sent
    assert [result.status for result in results].count("timeout") == 5 - sent
    assert sum(entry["name"].startswith(name) for entry in server.log()) == sent

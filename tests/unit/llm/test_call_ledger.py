from __future__ import annotations

import os
import sqlite3
import subprocess
import sys
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from apportion.llm.ledger import Busy, Claimed, Ledger, Sizes
from apportion.llm.liveness import LEASE_S, ProcessName, is_alive, this_process
from apportion.llm.requests import CallPurpose, CallResult, ChatRequest, Message, Usage

REQUEST = ChatRequest("openai/m", (Message("user", "héllo \ud800"),))
PURPOSE = CallPurpose("set", "q", "top1", "answer")
SIZES = Sizes(10, 20, 30)


Opened = Callable[[Path], Ledger]


@pytest.fixture
def opened() -> Iterator[Opened]:
    """Opens ledgers and closes them when the test is over."""
    ledgers: list[Ledger] = []

    def open_one(path: Path) -> Ledger:
        ledgers.append(Ledger(path))
        return ledgers[-1]

    yield open_one
    for ledger in ledgers:
        ledger.close()


def settled(call_id: str, status: str = "ok") -> CallResult:
    return CallResult(
        call_id,
        REQUEST.request_hash,
        status,
        "text",
        {"a": 1},
        Usage(9, 3, 2, 1),
        0.5,
        12.0,
        2,
        False,
        -0.1,  # type: ignore[arg-type]
    )


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "folder" / "calls.sqlite"


def claimed(ledger: Ledger) -> str:
    claim = ledger.claim(REQUEST, PURPOSE, SIZES)
    assert isinstance(claim, Claimed)
    return claim.call_id


def test_a_settled_call_is_served_as_it_was(path: Path, opened: Opened) -> None:
    ledger = opened(path)
    result = settled(claimed(ledger))
    ledger.settle(result)
    again = opened(path).claim(REQUEST, PURPOSE, SIZES)
    assert again == CallResult(**{**vars(result), "served": True})
    # Served calls are not sent, by whichever ledger of this process.
    created = ledger.query("SELECT created_at FROM calls")[0]["created_at"]
    assert [opened(path).sent_since(moment) for moment in (0.0, created, created + 1.0)] == [1, 1, 0]
    assert ledger.held([REQUEST.request_hash, "sha256:other"]) == {REQUEST.request_hash}
    assert ledger.verify() == []


def test_a_call_in_flight_belongs_to_its_sender(path: Path, opened: Opened) -> None:
    first, second = opened(path), opened(path)
    call_id = claimed(first)
    assert second.claim(REQUEST, PURPOSE, SIZES) == Busy(call_id)
    assert second.in_flight(REQUEST.request_hash)
    assert second.sweep() == 0


def test_a_dead_senders_call_is_possibly_paid_and_sent_again(path: Path, opened: Opened) -> None:
    script = (
        "import sys, os\n"
        "from apportion.llm.ledger import Ledger, Sizes\n"
        "from apportion.llm.requests import CallPurpose, ChatRequest, Message\n"
        "request = ChatRequest('openai/m', (Message('user', 'h\\u00e9llo \\ud800'),))\n"
        "Ledger(sys.argv[1]).claim(request, CallPurpose('set', 'q', 'top1', 'answer'), Sizes(10, 20, 30))\n"
        "os._exit(9)\n"
    )
    subprocess.run([sys.executable, "-c", script, str(path)], check=False)
    ledger = opened(path)
    assert not ledger.in_flight(REQUEST.request_hash)
    # What another process sent is not this one's.
    assert ledger.sent_since(0.0) == 0
    ledger.settle(settled(claimed(ledger)))
    assert ledger.sent_since(0.0) == 1
    dead, alive = ledger.calls_rows("set")
    assert (
        dead["status"],
        dead["input_tokens"],
        dead["output_tokens"],
        dead["usage_source"],
        dead["cost_usd"],
    ) == (
        "abandoned",
        10,
        30,
        "assumed",
        None,
    )
    assert alive["status"] == "ok"
    assert [call_id.rpartition("-")[2] for call_id in (dead["call_id"], alive["call_id"])] == ["1", "2"]
    assert ledger.verify() == []


def test_a_silent_sender_loses_its_lease_and_may_still_settle(path: Path, opened: Opened) -> None:
    silent, other = opened(path), opened(path)
    call_id = claimed(silent)
    with other.transaction() as connection:
        connection.execute("UPDATE workers SET heartbeat_at = heartbeat_at - ?", [LEASE_S + 1])
    assert other.sweep() == 1
    silent.settle(settled(call_id))
    served = other.claim(REQUEST, PURPOSE, SIZES)
    assert isinstance(served, CallResult)
    assert served.call_id == call_id


def test_a_heartbeat_renews_the_lease(path: Path, opened: Opened) -> None:
    ledger, other = opened(path), opened(path)
    claimed(ledger)
    with other.transaction() as connection:
        connection.execute("UPDATE workers SET heartbeat_at = heartbeat_at - ?", [LEASE_S + 1])
    ledger.beat()
    assert other.sweep() == 0


@pytest.mark.parametrize("status", ["failed", "timeout", "rate_limited"])
def test_passing_failures_are_not_served(path: Path, opened: Opened, status: str) -> None:
    ledger = opened(path)
    ledger.settle(settled(claimed(ledger), status))
    assert isinstance(ledger.claim(REQUEST, PURPOSE, SIZES), Claimed)


def test_tampering_is_found(path: Path, opened: Opened) -> None:
    ledger = opened(path)
    ledger.settle(settled(claimed(ledger)))
    with ledger.transaction() as connection:
        body = connection.execute("SELECT body FROM requests").fetchone()[0]
        changed = zlib.compress(zlib.decompress(body).replace(b"384", b"385"))
        connection.execute("UPDATE requests SET body = ?", [changed])
        connection.execute("UPDATE calls SET reasoning_tokens = 99")
        connection.execute("DELETE FROM call_uses")
    problems = ledger.verify()
    assert len(problems) == 3
    assert any("does not have that hash" in problem for problem in problems)


def test_a_file_that_is_no_ledger_is_named_and_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("not a database, and long enough to be looked at as one " * 20)
    before = file.read_bytes()
    with pytest.raises(ValueError, match=r"notes\.txt cannot be used as a call ledger"):
        Ledger(file)
    assert file.read_bytes() == before


def test_a_ledger_of_another_version_is_refused(path: Path, opened: Opened) -> None:
    opened(path).close()
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    with pytest.raises(ValueError, match="is of version 99"):
        opened(path)


def test_who_is_alive() -> None:
    me = this_process()
    assert is_alive(me, silent_for_s=0)
    assert not is_alive(me, silent_for_s=LEASE_S + 1)
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    assert not is_alive(ProcessName(me.host, gone.pid, None if me.started is None else 1), silent_for_s=0)
    if me.started is not None:
        # The same id, started at another time, is another process.
        assert not is_alive(ProcessName(me.host, os.getpid(), me.started + 1), silent_for_s=0)
    assert is_alive(ProcessName("another host", 1, 1), silent_for_s=0)

"""Is the process that sent a call still there?

A process is named by its id and its start time, since ids are reused, and by the machine's boot. The kernel's word
counts first, so that a killed sender is known to be dead at once; the heartbeat settles what it cannot say.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

#: A sender that has not beaten for this long is taken for dead, even if its process is there (seconds).
LEASE_S = 60.0
#: How often a sender beats (seconds).
HEARTBEAT_S = 5.0


@dataclass(frozen=True)
class ProcessName:
    """A process of one machine: host with boot, id, and start time in clock ticks (null where unknown)."""

    host: str
    pid: int
    started: int | None


def this_process() -> ProcessName:
    """The name of the calling process."""
    pid = os.getpid()
    return ProcessName(_host(), pid, _start_ticks(pid))


def is_alive(process: ProcessName, *, silent_for_s: float) -> bool:
    """Whether ``process``, whose last heartbeat is ``silent_for_s`` seconds old, can still settle its calls.

    A process of another machine, or from before a restart, is judged by its heartbeat alone.
    """
    if silent_for_s > LEASE_S:
        return False
    if process.host != _host():
        return True
    if process.started is not None:
        return _start_ticks(process.pid) == process.started
    try:
        os.kill(process.pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _host() -> str:
    boot = Path("/proc/sys/kernel/random/boot_id")
    try:
        return f"{platform.node()}:{boot.read_text().strip()}"
    except OSError:
        return platform.node()


def _start_ticks(pid: int) -> int | None:
    """Field 22 of /proc/PID/stat; null where there is no such file, and for a zombie, which sends nothing more."""
    try:
        after_name = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return None
    return None if after_name[0] == "Z" else int(after_name[19])

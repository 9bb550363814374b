"""Timing side by side: medians of five, a stop at 60 seconds, one table or JSON list for every benchmark."""

from __future__ import annotations

import argparse
import json
import multiprocessing
import statistics
import sys
import time
from collections.abc import Callable, Iterable
from typing import Any

RUNS = 5
STOP_S = 60.0
LOOP_S = 0.02
"""Seconds that a run of short work is repeated for."""

ENOUGH_S = 20.0
"""Seconds of another tool's runs in all after which its median is taken from fewer than five."""

Row = dict[str, Any]
Work = Callable[[], object]


def median_s(work: Work, *, runs: int = RUNS, warm: bool = True, enough_s: float = STOP_S) -> float:
    """Return the median seconds of `runs` runs, of fewer where those would take more than `enough_s` in all.

    As with `timeit`, a run of short work is a loop of it: one pass of a millisecond measures the clock and the caches.
    """
    loops = 1
    if warm:
        work()
        start = time.perf_counter()
        work()
        loops = max(1, int(LOOP_S / max(time.perf_counter() - start, 1e-9)))
    times: list[float] = []
    while len(times) < runs and sum(times) * loops + statistics.median(times or [0.0]) <= enough_s:
        start = time.perf_counter()
        for _ in range(loops):
            work()
        times.append((time.perf_counter() - start) / loops)
    return statistics.median(times)


def stopped_s(work: Work, *, stop_s: float = STOP_S) -> float:
    """Return the median seconds of another tool's work, run in a process that is killed at `stop_s`.

    Each run has `stop_s`; once one was stopped, or all took `ENOUGH_S` together, no more are made.
    """
    times: list[float] = []
    context = multiprocessing.get_context("fork")
    while len(times) < RUNS and sum(times) < ENOUGH_S:
        receiver, sender = context.Pipe(duplex=False)
        process = context.Process(target=_timed, args=(work, sender))
        process.start()
        sender.close()
        if receiver.poll(stop_s):
            try:
                times.append(receiver.recv())
            except EOFError:
                raise RuntimeError("the other tool failed: see its message above") from None
        else:
            times.append(stop_s)
            process.kill()
        process.join()
        receiver.close()
        if times[-1] >= stop_s:
            break
    return statistics.median(times) if times[-1] < stop_s else stop_s


def _timed(work: Work, sender: Any) -> None:
    start = time.perf_counter()
    work()
    took = time.perf_counter() - start
    if took < LOOP_S:  # the other tool's short work is looped like ours
        took = median_s(work, runs=1)
    sender.send(took)


def compare(
    case: str, n: int, ours: Work, others: dict[str, Work], *, progress: bool = True
) -> Iterable[Row]:
    """Yield a row for each of the `others`, timed against `ours`."""
    ours_s = median_s(ours)
    for name, work in others.items():
        yield row(case, n, ours_s, name, stopped_s(work), progress=progress)


def row(case: str, n: int, ours_s: float, other: str, other_s: float, *, progress: bool = True) -> Row:
    """Return one line of the table; the ratio is the other's time by ours."""
    made = {
        "case": case,
        "n": n,
        "ours_s": float(f"{ours_s:.4g}"),
        "other": other,
        "other_s": float(f"{other_s:.4g}"),
        "ratio": float(f"{other_s / ours_s:.4g}"),
    }
    if progress:
        print(f"{case} n={n:,} {other}: {made['ratio']:g}", file=sys.stderr)
    return made


def arguments(description: str) -> argparse.ArgumentParser:
    """Return a parser with the options that every benchmark has."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--format", choices=("table", "json"), default="table")
    parser.add_argument("--max-n", type=int, default=1_000_000, help="leave out larger sizes")
    return parser


def show(rows: list[Row], form: str) -> None:
    """Print the rows on standard output."""
    if form == "json":
        print(json.dumps(rows, indent=1))
        return
    print(f"{'case':<24}{'n':>10}{'ours':>12}  {'other':<32}{'other':>12}{'ratio':>11}")
    for line in rows:
        bound = "≥" if line["other_s"] >= STOP_S else ""
        print(
            f"{line['case']:<24}{line['n']:>10,}{_seconds(line['ours_s']):>12}  {line['other']:<32}"
            f"{_seconds(line['other_s']):>12}{bound + format(line['ratio'], ',.4g'):>11}"
        )


def _seconds(value: float) -> str:
    return f"{value:,.2f} s" if value >= 1 else f"{value * 1e3:,.2f} ms"

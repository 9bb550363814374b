"""Every benchmark that needs no data of its own, one after the other: `python -m benchmarks`."""

from __future__ import annotations

import subprocess
import sys

ALONE = ("allocation", "routing", "gateway")
"""The others read real filings, whose folder they take as an argument, or take long (`stream`)."""


def main() -> None:
    """Run each in a process of its own; one that fails doesn't stop the rest."""
    failed = []
    for name in ALONE:
        print(f"== {name}", flush=True)
        if subprocess.run(
            [sys.executable, "-m", f"benchmarks.{name}", *sys.argv[1:]], check=False
        ).returncode:
            failed.append(name)
    print(
        "the others: python -m benchmarks."
        "{ingest,retrieval,stream,accounting_retrieval,chunks,routed_retrieval} --help"
    )
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()

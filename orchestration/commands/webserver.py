"""`apportion ui`: Dagster's webserver and daemon on this project."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

from orchestration.instance import open_instance
from orchestration.output import say
from warehouse.paths import PROJECT_ROOT


def serve(host: str, port: int) -> None:
    """Start the UI and stay with it until it ends.

    It runs in the project's folder, whatever the current one is, so that folders of the same names elsewhere are not
    taken for ours.
    """
    with open_instance():
        pass
    command = [
        sys.executable,
        "-m",
        "dagster",
        "dev",
        "-m",
        "orchestration.definitions",
        "-h",
        host,
        "-p",
        str(port),
    ]
    say(f"http://{host}:{port}")
    # `dagster dev` recommends another project layout's command; that is nothing a user of this one can act on.
    quiet = "ignore:Function `dev_command` is superseded"
    environment = {"PYTHONWARNINGS": quiet, **os.environ, "DAGSTER_DISABLE_TELEMETRY": "1"}
    # A shell starts what runs in the background with interruptions ignored, and the servers would inherit that.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with subprocess.Popen(command, cwd=PROJECT_ROOT, env=environment) as process:  # noqa: S603 - fixed program
        # Its servers end when it is interrupted; ended otherwise, it would leave them behind.
        signal.signal(signal.SIGTERM, lambda *_: process.send_signal(signal.SIGINT))
        try:
            status = process.wait()
        except KeyboardInterrupt:
            status = process.wait()
    raise SystemExit(status)

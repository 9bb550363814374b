"""The command line: every command, and what an error looks like. Help starts at once: nothing heavy is imported."""

from __future__ import annotations

import sys
import traceback

from orchestration import cli_answers, cli_corpus, cli_deciding, cli_looking
from orchestration.app import CallError, Settings, app
from orchestration.output import say

__all__ = ["app", "cli_answers", "cli_corpus", "cli_deciding", "cli_looking", "main"]


def main() -> None:
    """Run the command line; an error is one line, after its traceback with --debug, and its kind is the exit status."""
    try:
        app(standalone_mode=True)
    except (KeyboardInterrupt, SystemExit) as end:
        # Typer turns an interruption into an exit of this status, and says nothing.
        if isinstance(end, SystemExit) and end.code != 130:
            raise
        say("apportion: interrupted; what was committed stays, and the same command goes on from there")
        sys.exit(130)
    except Exception as error:
        if Settings.debug:
            # Dagster keeps the traceback of a step; what a command raises about it says nothing of where it was.
            say("".join(traceback.format_exception(error)) + getattr(error, "trace", ""))
        hint = " (--debug shows the traceback)" if _unforeseen(error) and not Settings.debug else ""
        say(f"apportion: {_one_line(error)}{hint}")
        sys.exit(2 if isinstance(error, CallError) else 1)


def _unforeseen(error: Exception) -> bool:
    from orchestration.running import WorkFailedError

    return not isinstance(error, ValueError | OSError | WorkFailedError)


def _one_line(error: Exception) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if not _unforeseen(error) else f"{type(error).__name__}: {text}"

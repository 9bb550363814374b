"""`apportion import`: logged outcomes from elsewhere, as outcome sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from apportion.importing.financebench_results import SETS, Passages, models_of
from apportion.importing.generic import mapped_fields
from apportion.importing.records import LogError
from assets.importing import FINANCEBENCH_RESULTS, KINDS, LITELLM, OUTCOMES, ROUTERARENA
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import check_name
from orchestration.instance import open_instance
from orchestration.output import say
from orchestration.running import Finished, quiet, run_job


def import_log(
    path: Path,
    kind: str,
    *,
    outcome_set: str | None,
    pdfs: Path | None,
    context_passages: str,
    maps: Sequence[str],
    scores: Path | None,
) -> None:
    """Import a log and say what was read, what was refused, and why.

    Raises:
        CallError: an option is wrong or doesn't fit the kind, or nothing is at a path.
        WorkFailedError: the log could not be imported.
    """
    if kind not in KINDS:
        raise CallError(f"--as {kind}: there is no such kind of log; kinds: {', '.join(KINDS)}")
    for given in (path, pdfs, scores):
        if given is not None and not given.exists():
            raise CallError(f"{given}: there is nothing here")
    settings: dict[str, Any] = {"path": str(path.resolve()), "kind": kind}
    try:
        settings["mapping"] = mapping_of(maps)
        mapped_fields(settings["mapping"])
        Passages.of(context_passages)
        sets = _sets(path, kind, outcome_set)
    except LogError as error:
        raise CallError(str(error)) from error
    for option, value, of in (
        ("--pdfs", pdfs, FINANCEBENCH_RESULTS),
        ("--scores", scores, LITELLM),
        ("--map", maps, OUTCOMES),
    ):
        if value and kind != of:
            raise CallError(f"{option} goes with --as {of}, not with {kind}")
    if kind == FINANCEBENCH_RESULTS:
        settings["context_passages"] = context_passages
    for name, where in (("pdfs", pdfs), ("scores", scores)):
        if where is not None:
            settings[name] = str(where.resolve())
    quiet()
    with open_instance() as instance:
        for name, model in sets:
            check_name(name)
            chosen = settings if model is None else {**settings, "model": model}
            tell(name, run_job(instance, "import_log", name, {"outcome_log": chosen}))
    refresh_catalogue()


def tell(outcome_set: str, finished: Finished) -> None:
    """Say what an import brought."""
    shown = finished.metadata["imported_log"]
    for line in shown["problems"]:
        say(line)
    for note in shown["notes"]:
        say(f"set {outcome_set}: {note}")
    refused = (
        f"; {shown['rows_refused']} refused, all listed in {shown['refusals']}" if shown["refusals"] else ""
    )
    changed = [table for table in finished.committed if table != "imported_log"]
    say(
        f"set {outcome_set}: {shown['questions']} questions on {shown['routes']} routes from "
        f"{shown['rows_read']} rows{refused}" + ("" if changed else "; nothing was new")
    )


def mapping_of(maps: Sequence[str]) -> dict[str, str]:
    """Our field by the source's column, from texts such as ``question=qid``.

    Raises:
        LogError: a text is no such pair, or a field is mapped twice.
    """
    mapping: dict[str, str] = {}
    for text in maps:
        ours, equals, theirs = text.partition("=")
        if not equals or not ours.strip() or not theirs.strip():
            raise LogError(f"--map {text}: give FIELD=COLUMN, such as question=qid")
        if ours.strip() in mapping:
            raise LogError(f"--map {text}: {ours.strip()} is mapped already")
        mapping[ours.strip()] = theirs.strip()
    return mapping


def _sets(path: Path, kind: str, outcome_set: str | None) -> list[tuple[str, str | None]]:
    """The sets to make, each with the model that it holds."""
    if kind != FINANCEBENCH_RESULTS:
        if outcome_set is None and kind != ROUTERARENA:
            raise LogError("name the set that the log becomes: --set NAME")
        return [(outcome_set or ROUTERARENA, None)]
    models = models_of(path)
    if outcome_set is not None and len(models) > 1:
        raise LogError(
            f"--set {outcome_set}: the files hold several models, one a set ({', '.join(models)}); leave --set out"
        )
    return [(outcome_set or f"{SETS}:{model}", model) for model in models]

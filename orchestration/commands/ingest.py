"""`apportion ingest`: filings, and the questions that come with them."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from assets.sources import BUILT_IN, FINANCEBENCH, KINDS, QUESTIONS, WITHOUT_FILINGS
from orchestration.app import CallError
from orchestration.commands.catalogue import refresh_catalogue
from orchestration.commands.checking import check_name
from orchestration.commands.telling import tell_batch
from orchestration.instance import open_instance
from orchestration.output import ProgressBar, say
from orchestration.running import Finished, quiet, run_job


def ingest_source(path: Path | None, kind: str, *, batch: str, outcome_set: str) -> None:
    """Take in one source as a filing batch and its questions as an outcome set.

    Raises:
        CallError: the kind or a name is not one, or nothing is at the path.
        WorkFailedError: the source could not be taken in.
    """
    if kind not in KINDS or (kind in BUILT_IN and path is not None):
        kinds = ", ".join(("filings", *(known for known in KINDS if known not in BUILT_IN)))
        raise CallError(f"--as {kind}: there is no such kind of source; kinds: {kinds}")
    for name in (batch, outcome_set):
        check_name(name)
    if path is not None and not path.exists():
        raise CallError(f"{path}: there is nothing here")
    quiet()
    source = {"source": {"kind": kind} if path is None else {"kind": kind, "path": str(path.resolve())}}
    done: list[Finished] = []
    with open_instance() as instance:
        if kind not in WITHOUT_FILINGS:
            done.append(run_job(instance, "ingest_filings", batch, source))
        done.append(run_job(instance, "ingest_questions", outcome_set, source))
    for line in dict.fromkeys(line for finished in done for line in finished.problems):
        say(line)
    rows = {
        table: shown["dagster/row_count"] for finished in done for table, shown in finished.metadata.items()
    }
    brought = (
        f"batch {batch}: {rows['filings']} filings, {rows['pages']} pages; " if "filings" in rows else ""
    )
    new = "" if any(finished.committed for finished in done) else "; nothing was new"
    say(f"{brought}set {outcome_set}: {rows['questions']} questions{new}")
    refresh_catalogue()


def kind_of(paths: Sequence[Path]) -> str:
    """What paths hold, where nobody says: a FinanceBench data set where its questions are, filings, or questions.

    Raises:
        CallError: nothing is at a path, or what is there could be anything.
    """
    from apportion.corpus.financebench import QUESTIONS_FILE, find_file
    from apportion.corpus.gathering import holds_documents
    from apportion.corpus.questions import columns_of

    for path in paths:
        if not path.exists():
            raise CallError(f"{path}: there is nothing here")
    if any(find_file(path, QUESTIONS_FILE) is not None for path in paths if path.is_dir()):
        return FINANCEBENCH
    with_filings = any(holds_documents(path) for path in paths)
    kinds = []
    for path in paths:
        if holds_documents(path):
            continue
        found, columns = "", list[str]()
        try:
            columns = columns_of(path)
        except UnicodeDecodeError:
            found = " (not UTF-8 text)"
        if path.name == QUESTIONS_FILE or "financebench_id" in columns:
            kinds.append(FINANCEBENCH)
        elif "question" in columns:
            kinds.append(QUESTIONS)
        elif not with_filings:
            # Beside filings it is one by its bytes, or is shown as one that cannot be read.
            found = f" (no column `question`; its columns: {', '.join(columns)})" if columns else found
            raise CallError(
                f"cannot tell what {path} is{found}; say --as filings, {QUESTIONS} or {FINANCEBENCH}"
            )
    if with_filings and kinds:
        raise CallError(
            "filings and questions are two calls: first `apportion ingest` the filings, then the questions"
        )
    if with_filings:
        return "filings"
    if len(paths) > 1:
        raise CallError(
            f"{len(paths)} files of questions: name one at a time, each brings a set of its own (--set NAME)"
        )
    return kinds[0]


def ingest_files(paths: Sequence[Path], batch: str | None) -> None:
    """Take in files and folders as one filing batch.

    Raises:
        CallError: nothing is at a path, or nothing below it is a filing.
        WorkFailedError: not one file could be read.
    """
    from apportion.corpus.gathering import batch_name, holds_documents
    from apportion.progress import listen

    for path in paths:
        if not path.exists():
            raise CallError(f"{path}: there is nothing here")
        if path.is_dir() and not holds_documents(path):
            raise CallError(f"{path}: no PDF, HTML or text file below it")
    batch = batch_name(paths) if batch is None else batch
    check_name(batch)
    quiet()
    settings = {"filing_files": {"paths": [str(path.resolve()) for path in paths]}}
    with open_instance() as instance, listen(ProgressBar()):
        finished = run_job(instance, "ingest_filings", batch, settings)
    tell_batch(batch, finished)
    refresh_catalogue()

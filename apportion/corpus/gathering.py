"""Files of a drop: which they are, what they are called, and which of them are new."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from apportion.corpus.metadata import ACCESSION
from apportion.corpus.readers import SUFFIXES, sha256_of
from apportion.corpus.records import Problem, safe_name

PARTIAL = (".part", ".partial", ".crdownload", ".tmp", ".download")


@dataclass(frozen=True)
class FoundFile:
    """A file to take in. ``name`` is the document's own, as yet without regard to others of that name."""

    path: Path
    name: str
    sha256: str
    reason: str | None = None
    """Why it cannot be read at all; None for a file."""


def gather(paths: Iterable[Path]) -> tuple[list[FoundFile], list[Problem]]:
    """Every document at or below some paths, in the order of names then paths, each content once.

    Raises:
        FileNotFoundError: nothing is at one of the paths.
    """
    listed: list[Path] = []
    left_out: Counter[str] = Counter()
    for path in paths:
        if not path.exists():
            raise FileNotFoundError(f"{path}: there is nothing here")
        if path.is_dir():
            _walk(path, listed, left_out)
        else:
            listed.append(path)
    problems = [
        Problem(
            "files", None, "left out", f"{count} of kind {suffix or 'without a suffix'}", "not filings", False
        )
        for suffix, count in sorted(left_out.items())
    ]
    found: dict[str, FoundFile] = {}
    for path in sorted(set(listed), key=lambda path: (document_name(path), str(path))):
        one = _found(path)
        first = found.setdefault(one.sha256 if one.reason is None else str(path), one)
        if first.path != path:
            problems.append(
                Problem(str(path), None, "file", path.name, f"the same bytes as {first.path.name}", False)
            )
    return sorted(found.values(), key=lambda one: (one.name, str(one.path))), problems


def _walk(folder: Path, listed: list[Path], left_out: Counter[str]) -> None:
    for place, folders, files in os.walk(folder):
        # A folder that is called like a document is shown as one that cannot be read, never silently entered.
        named = [name for name in folders if Path(name).suffix.lower() in SUFFIXES]
        listed += [Path(place) / name for name in named]
        folders[:] = sorted(name for name in folders if name not in named and not name.startswith("."))
        for name in sorted(files):
            suffix = Path(name).suffix.lower()
            if suffix in SUFFIXES and not name.startswith("._"):
                listed.append(Path(place) / name)
            elif not name.startswith(".") and suffix not in PARTIAL:
                left_out[suffix] += 1


def holds_documents(path: Path) -> bool:
    """Whether a path is a document by its name, or a folder with one at or below it."""
    if path.is_dir():
        listed: list[Path] = []
        _walk(path, listed, Counter())
        return bool(listed)
    return path.suffix.lower() in SUFFIXES


def _found(path: Path) -> FoundFile:
    name = document_name(path)
    if path.is_dir():
        return FoundFile(path, name, _nothing(path), "a folder, not a file")
    if not path.is_file():
        return FoundFile(path, name, _nothing(path), "not a regular file")
    try:
        return FoundFile(path, name, sha256_of(path))
    except OSError as error:
        return FoundFile(path, name, _nothing(path), f"cannot be opened: {error.strerror}")


def _nothing(path: Path) -> str:
    """Stands for the hash of what has no bytes."""
    return hashlib.sha256(b"\x00no bytes\x00" + os.fsencode(path)).hexdigest()


def missing_file(name: str, reason: str) -> FoundFile:
    """A document that should be there and isn't."""
    return FoundFile(Path(name), name, _nothing(Path(name)), reason)


def document_name(path: Path) -> str:
    """The accession number in a file's name or its folder's, else the file's own name, made safe."""
    for part in (path.name, path.parent.name):
        accession = ACCESSION.search(part)
        if accession is not None:
            return accession[1]
    return safe_name(path.stem if path.suffix.lower() in SUFFIXES else path.name)


def batch_name(paths: Sequence[Path]) -> str:
    """The name of the batch that some paths are, always the same for the same paths."""
    resolved = sorted(str(path.resolve()) for path in paths)
    digest = hashlib.sha256("\n".join(resolved).encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"{safe_name(paths[0].resolve().name)[:60]}-{digest}"

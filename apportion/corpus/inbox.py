"""A folder that files are dropped into: which are complete, and which are new by their content."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path

from apportion.corpus.gathering import PARTIAL
from apportion.corpus.readers import SUFFIXES, sha256_of

SETTLED_S = 10.0
"""A file that was changed more recently may still be being written."""


@dataclass(frozen=True)
class Drop:
    """New files of one look at the inbox.

    ``seen`` holds, for each complete file there is, ``size:mtime:sha256``: pass it on, so that an unchanged file isn't
    read again.
    """

    paths: list[Path]
    hashes: list[str]
    seen: dict[str, str]

    @property
    def batch(self) -> str:
        """The name of the batch that these contents are, wherever and whenever they were dropped."""
        digest = hashlib.sha256("\n".join(sorted(set(self.hashes))).encode()).hexdigest()
        return f"inbox:{digest[:16]}"


def look(folder: Path, seen: Mapping[str, str], known: Collection[str], now: float) -> Drop:
    """Look into an inbox.

    Args:
        folder: the inbox; absent is empty.
        seen: what the look before gave.
        known: contents, by SHA-256, that were taken in already.
        now: seconds since the epoch.
    """
    paths: list[Path] = []
    hashes: list[str] = []
    now_seen: dict[str, str] = {}
    before = {value.rpartition(":")[2] for value in seen.values()}
    for place, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        for name in sorted(files):
            path = Path(place) / name
            suffix = path.suffix.lower()
            if name.startswith(".") or suffix in PARTIAL or suffix not in SUFFIXES:
                continue
            try:
                stat = path.stat()
                if now - stat.st_mtime < SETTLED_S:
                    continue
                mark = f"{stat.st_size}:{stat.st_mtime_ns}"
                told = seen.get(str(path), "")
                sha256 = told.rpartition(":")[2] if told.startswith(f"{mark}:") else sha256_of(path)
                after = path.stat()
            except OSError:
                # Taken away or not yet readable: the next look will tell.
                continue
            if (after.st_size, after.st_mtime_ns) != (stat.st_size, stat.st_mtime_ns):
                continue
            now_seen[str(path)] = f"{mark}:{sha256}"
            if sha256 not in known and sha256 not in before and sha256 not in hashes:
                paths.append(path)
                hashes.append(sha256)
    return Drop(paths, hashes, now_seen)

"""What was fetched, kept for good: each document beside a note of its address, checksum and validators."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from apportion.corpus.records import safe_name


@dataclass(frozen=True)
class Kept:
    """A document in the archive."""

    path: Path
    url: str
    sha256: str
    etag: str | None
    last_modified: str | None


class Archive:
    """A folder of fetched documents. A document whose bytes no longer match their checksum counts as absent."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def get(self, url: str) -> Kept | None:
        """The document of an address, or None."""
        path = self._path(url)
        try:
            note = json.loads(self._note(path).read_text(encoding="utf-8"))
            content = path.read_bytes()
        except (OSError, ValueError):
            return None
        if hashlib.sha256(content).hexdigest() != note.get("sha256") or note.get("url") != url:
            return None
        return Kept(path, url, note["sha256"], note.get("etag"), note.get("last_modified"))

    def put(self, url: str, content: bytes, headers: Mapping[str, str]) -> Kept:
        """Keep a document: its bytes first, then the note that makes them count."""
        path = self._path(url)
        path.parent.mkdir(parents=True, exist_ok=True)
        kept = Kept(
            path, url, hashlib.sha256(content).hexdigest(), headers.get("etag"), headers.get("last-modified")
        )
        _write(path, content)
        note = {name: value for name, value in asdict(kept).items() if name != "path"}
        _write(self._note(path), json.dumps(note, sort_keys=True).encode())
        return kept

    def _path(self, url: str) -> Path:
        """Where a document lies: the address's host and path, each part made safe."""
        parts = urlsplit(url)
        listed = [safe_name(part) for part in parts.path.split("/") if part]
        last = listed[-1] if listed else "index"
        if parts.query:
            last = safe_name(f"{last}?{parts.query}")
        return self.folder.joinpath(safe_name(parts.netloc), *listed[:-1], last)

    @staticmethod
    def _note(path: Path) -> Path:
        return path.with_name(f"{path.name}.note.json")


def _write(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)

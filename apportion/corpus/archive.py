"""What was fetched, kept for good: each document beside a note of its address, checksum and validators.

A document that broke off leaves its beginning, from which fetching goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from urllib.parse import urlsplit

from apportion.corpus.records import safe_name

SAVED_EVERY = 4 * 1024 * 1024


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

    def part(self, url: str) -> Part:
        """The beginning of an address's document, which may be empty."""
        path = self._path(url)
        return Part(path.with_name(f".{path.name}.part"), url)

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


class Part:
    """The beginning of a document as it came over the wire, kept on disk until the whole is there.

    ``validator`` is what the server calls these bytes, without which nobody knows whether a rest belongs to them;
    ``encoding`` is the content coding they are in.
    """

    def __init__(self, path: Path, url: str) -> None:
        self._path = path
        self._note = path.with_name(f"{path.name}.note.json")
        self._url = url
        self.restart(None, "")
        try:
            note = json.loads(self._note.read_text(encoding="utf-8"))
            content = path.read_bytes()[: note["length"]]
        except (OSError, ValueError, KeyError, TypeError):
            return
        if note.get("url") == url and hashlib.sha256(content).hexdigest() == note.get("sha256"):
            self.restart(note.get("validator"), note.get("encoding") or "")
            self._take(content)
            self._saved = len(content)

    def restart(self, validator: str | None, encoding: str) -> None:
        """Begin anew, with an answer that is whole."""
        self.content = bytearray()
        self.validator = validator
        self.encoding = encoding
        self._digest = hashlib.sha256()
        self._saved = 0

    def add(self, piece: bytes) -> None:
        """Take a further piece; what has come is on disk every few megabytes."""
        self._take(piece)
        if len(self.content) - self._saved >= SAVED_EVERY:
            self.save()

    def _take(self, piece: bytes) -> None:
        self.content += piece
        self._digest.update(piece)

    def save(self) -> None:
        """Keep what has come, if a rest could be asked for."""
        if self.validator is None or len(self.content) == self._saved:
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("r+b" if self._saved else "wb") as handle:
            handle.seek(self._saved)
            handle.write(self.content[self._saved :])
        self._saved = len(self.content)
        note = {
            "url": self._url,
            "validator": self.validator,
            "encoding": self.encoding,
            "length": self._saved,
            "sha256": self._digest.hexdigest(),
        }
        _write(self._note, json.dumps(note, sort_keys=True).encode())

    def drop(self) -> None:
        """Forget the beginning: the whole is there, or it was of other bytes."""
        self._note.unlink(missing_ok=True)
        self._path.unlink(missing_ok=True)
        self.restart(None, "")


def _write(path: Path, content: bytes) -> None:
    draft = path.with_name(f".{path.name}-{os.getpid()}")
    draft.write_bytes(content)
    draft.replace(path)

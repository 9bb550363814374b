"""One document of any kind as a stream of pages with what the document says of itself."""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from apportion.corpus.documents import Document, html_document, text_document, with_cover
from apportion.corpus.records import UnreadableError

READER_VERSION = "3"
"""Changes whenever the same bytes would give other pages, so that they are read again."""

SUFFIXES = {
    ".pdf": "PDF",
    ".html": "HTML",
    ".htm": "HTML",
    ".xhtml": "HTML",
    ".txt": "text",
    ".text": "text",
}
"""Suffixes of documents, and the kind each promises."""

MAX_BYTES = 512 * 1024 * 1024
ARCHIVES = (
    (b"PK\x03\x04", "a ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
)
OTHERS = (
    *ARCHIVES,
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"\x7fELF", "a program"),
)
HTML_START = re.compile(
    rb"<(?:!doctype\s+html|html|head|body|title|meta|div|table|p|span|font|center|xbrl)\b|<\?xml", re.I
)
CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r\x1a"))
SUBMISSION_START = re.compile(
    rb"(?:-----BEGIN PRIVACY-ENHANCED MESSAGE-----|<SEC-DOCUMENT>|<SEC-HEADER>|<DOCUMENT>)"
)


def kind_of(path: Path) -> str:
    """What a file is by its first bytes: ``PDF``, ``HTML``, ``submission`` or ``text``.

    Raises:
        UnreadableError: nothing readable, or not what its suffix says.
    """
    if path.is_dir():
        raise UnreadableError("a folder, not a file")
    if not path.is_file():
        raise UnreadableError("not a regular file")
    size = path.stat().st_size
    if size == 0:
        raise UnreadableError("the file is empty")
    if size > MAX_BYTES:
        raise UnreadableError(f"the file has {size:,} bytes; more than {MAX_BYTES:,} are not read")
    with path.open("rb") as handle:
        head = handle.read(4096)
    found = _sniff(head)
    promised = SUFFIXES.get(path.suffix.lower())
    says = {"submission": "text"}.get(found, found)
    # A submission of any age is a text file that holds HTML; plain text may be called HTML on EDGAR.
    if promised is not None and promised != says and {promised, says} != {"HTML", "text"}:
        raise UnreadableError(f"{found} inside, though its name says {promised}")
    return found


def _sniff(head: bytes) -> str:
    if b"%PDF-" in head[:1024]:
        return "PDF"
    for magic, what in OTHERS:
        if head.startswith(magic):
            raise UnreadableError(f"{what}, which is not a filing; unpack or convert it")
    start = head.lstrip(b"\xef\xbb\xbf \t\r\n")
    if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
        start = head.decode("utf-16", "replace").encode("utf-8").lstrip()
    elif len(head) - len(head.translate(None, CONTROLS)) > len(head) // 100:
        raise UnreadableError("neither PDF, HTML nor text")
    if SUBMISSION_START.search(start[:2048]):
        return "submission"
    if start.startswith(b"<") and HTML_START.search(start):
        return "HTML"
    return "text"


def read_document(path: Path) -> Document:
    """Open a document.

    Raises:
        UnreadableError: here, or while its pages are read.
    """
    kind = kind_of(path)
    if kind == "PDF":
        from apportion.corpus.pdf import read_pdf

        return with_cover(kind, read_pdf(path))
    from apportion.corpus.text import decode

    content = path.read_bytes()
    if kind == "submission":
        from apportion.corpus.submission import read_submission

        return read_submission(content)
    text = decode(content)
    return html_document(text) if kind == "HTML" else text_document(text)


def sha256_of(path: Path) -> str:
    """SHA-256 of a file's bytes, in hex."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()

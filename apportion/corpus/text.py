"""Bytes to text, and text to pages: at its own page marks where it has them, else at line ends."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator

from apportion.corpus.records import UnreadableError, clean_text

PAGE_CHARACTERS = 4_000
"""Length of a page where a document marks none."""

LONGEST_PAGE = 12_000
"""A page that is longer, though the document marks pages, is cut as well."""

DECLARED = re.compile(rb"(?:charset\s*=\s*[\"']?|encoding\s*=\s*[\"'])([A-Za-z0-9_.:-]{2,40})", re.IGNORECASE)
MARK = re.compile(r"\f|^[ \t]*<PAGE>[^\n]*$", re.IGNORECASE | re.MULTILINE)
BOMS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))


def decode(content: bytes) -> str:
    """Text by its byte order mark, its declared encoding, UTF-8, or Windows-1252, whichever fits first.

    Raises:
        UnreadableError: the bytes are no text.
    """
    candidates = [name for mark, name in BOMS if content.startswith(mark)]
    declared = DECLARED.search(content[:4096])
    if declared is not None:
        candidates.append(declared[1].decode("ascii"))
    for name in (*candidates, "utf-8", "cp1252"):
        try:
            if codecs.lookup(name).name in NOT_TEXT:
                continue
            text = content.decode(name)
        except (LookupError, UnicodeError):
            continue
        return _checked(text)
    # A few bytes that no encoding knows shan't lose the filing; many mean that it is no text.
    return _checked(content.decode("cp1252", "replace"))


NOT_TEXT = frozenset(
    {"base64", "hex", "bz2", "zlib", "uu", "quopri", "rot13", "punycode", "idna", "undefined"}
)


def _checked(text: str) -> str:
    strange = sum(text.count(c) for c in ("\x00", "\ufffd"))
    if strange > max(10, len(text) // 100):
        raise UnreadableError("the bytes are not text in any encoding that is known here")
    return text


def split_pages(text: str) -> list[str]:
    """A text's pages: between form feeds or ``<PAGE>`` marks, else of at most `PAGE_CHARACTERS`."""
    pages = MARK.split(text)
    limit = LONGEST_PAGE if len(pages) > 1 else PAGE_CHARACTERS
    cut = [clean_text(piece).strip("\n") for page in pages for piece in cut_lines(page.split("\n"), limit)]
    return [page for page in cut if page.strip()] or [""]


def cut_lines(lines: list[str], limit: int) -> Iterator[str]:
    """Lines joined into pieces of at most ``limit`` characters; only a line that is longer itself is cut inside."""
    held: list[str] = []
    size = 0
    for line in lines:
        for part in _parts(line, limit):
            if held and size + len(part) + 1 > limit:
                yield "\n".join(held)
                held, size = [], 0
            held.append(part)
            size += len(part) + 1
    if held:
        yield "\n".join(held)


def _parts(line: str, limit: int) -> Iterator[str]:
    start = 0
    while len(line) - start > limit:
        end = line.rfind(" ", start + limit // 2, start + limit)
        end = start + limit if end < 0 else end
        yield line[start:end]
        start = end + (line[end : end + 1] == " ")
    yield line[start:]

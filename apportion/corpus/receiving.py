"""An answer's bytes, going on where an earlier answer broke off (RFC 9110, sections 13.1.5 and 14)."""

from __future__ import annotations

import re
import zlib
from typing import TYPE_CHECKING

from apportion.corpus.archive import Part
from apportion.corpus.edgar import EdgarError

if TYPE_CHECKING:
    import httpx

MAX_BYTES = 512 * 1024 * 1024
CODINGS = "gzip"
RANGE = re.compile(r"bytes (\d+)-\d+/")
GZIP = 16 + zlib.MAX_WBITS


def resuming(part: Part) -> dict[str, str]:
    """The headers that ask for the rest of a document, if it is still the same; none where nothing is there."""
    if not part.content or part.validator is None:
        return {}
    return {"Range": f"bytes={len(part.content)}-", "If-Range": part.validator}


def receive(answer: httpx.Response, part: Part, url: str) -> bytes | None:
    """The document's bytes, decoded; what came is kept in ``part`` when the answer breaks off.

    Returns:
        The whole document; None where the answer is no rest that goes on from ``part``, which is dropped then.

    Raises:
        httpx.HTTPError: the answer broke off.
        EdgarError: it is larger than a filing can be, or in a coding that wasn't asked for.
    """
    if answer.status_code == 206:
        at = RANGE.match(answer.headers.get("content-range", ""))
        if at is None or int(at[1]) != len(part.content):
            part.drop()
            return None
    elif answer.status_code == 200:
        part.drop()
        part.restart(_validator(answer), answer.headers.get("content-encoding", "").strip().lower())
    elif answer.status_code == 416:
        part.drop()
        return None
    coding = part.encoding if answer.status_code in (200, 206) else ""
    if coding not in ("", "identity", CODINGS):
        raise EdgarError(f"{url}: EDGAR answered in the coding {coding!r}, which nobody asked for")
    try:
        if answer.status_code not in (200, 206):
            return _bounded(answer, url)
        for piece in answer.iter_raw():
            part.add(piece)
            if len(part.content) > MAX_BYTES:
                raise EdgarError(f"{url}: more than {MAX_BYTES:,} bytes")
    except BaseException:
        part.save()
        raise
    content = _unzipped(bytes(part.content), url) if coding == CODINGS else bytes(part.content)
    part.drop()
    return content


def _validator(answer: httpx.Response) -> str | None:
    """A strong entity tag: one that is weak, or a date alone, does not promise the same bytes."""
    tag = answer.headers.get("etag")
    return tag if isinstance(tag, str) and tag.startswith('"') else None


def _bounded(answer: httpx.Response, url: str) -> bytes:
    held = bytearray()
    for piece in answer.iter_bytes():
        held += piece
        if len(held) > MAX_BYTES:
            raise EdgarError(f"{url}: more than {MAX_BYTES:,} bytes")
    return bytes(held)


def _unzipped(content: bytes, url: str) -> bytes:
    unzip = zlib.decompressobj(GZIP)
    try:
        held = unzip.decompress(content, MAX_BYTES + 1)
    except zlib.error:
        raise EdgarError(f"{url}: EDGAR's answer can't be unzipped; start again") from None
    if len(held) > MAX_BYTES:
        raise EdgarError(f"{url}: more than {MAX_BYTES:,} bytes")
    if not unzip.eof:
        raise EdgarError(f"{url}: EDGAR's answer can't be unzipped; start again")
    return held

"""Small PDFs made by hand: text pages, an image-only page, encryption with an empty or another password."""

from __future__ import annotations

import hashlib
import struct

PADDING = bytes.fromhex("28BF4E5E4E758A4164004E56FFFA01082E2E00B6D0683E802F0CA9FE6453697A")


def _escaped(text: bytes) -> bytes:
    return text.replace(b"\\", b"\\\\").replace(b"(", b"\\(").replace(b")", b"\\)")


def _rc4(key: bytes, data: bytes) -> bytes:
    state = list(range(256))
    j = 0
    for i in range(256):
        j = (j + state[i] + key[i % len(key)]) % 256
        state[i], state[j] = state[j], state[i]
    i = j = 0
    out = bytearray()
    for byte in data:
        i = (i + 1) % 256
        j = (j + state[i]) % 256
        state[i], state[j] = state[j], state[i]
        out.append(byte ^ state[(state[i] + state[j]) % 256])
    return bytes(out)


def make_pdf(pages: list[str | None], password: str | None = None) -> bytes:
    """A PDF with one line of text a list of words; None stands for a page that shows only a picture.

    With a password, empty or not, it is encrypted with 40-bit RC4 (PDF 1.4, algorithm 2 and following).
    """
    identity = hashlib.md5("|".join(page or "" for page in pages).encode()).digest()
    user = None if password is None else (password.encode() + PADDING)[:32]
    key = b""
    owner = b""
    if user is not None:
        owner = _rc4(hashlib.md5(b"owner" + PADDING[:27]).digest()[:5], user)
        key = hashlib.md5(user + owner + struct.pack("<i", -4) + identity).digest()[:5]

    def sealed(number: int, data: bytes) -> bytes:
        if user is None:
            return data
        return _rc4(hashlib.md5(key + struct.pack("<I", number)[:3] + b"\x00\x00").digest()[:10], data)

    bodies: dict[int, bytes] = {}
    kids = []
    number = 4
    for page in pages:
        content = b"q 100 0 0 100 50 600 cm /P Do Q"
        if page is not None:
            lines = b" T* ".join(b"(%s) Tj" % _escaped(line.encode("latin-1")) for line in page.split("\n"))
            content = b"BT /F 12 Tf 14 TL 50 750 Td %s ET" % lines
        content = sealed(number + 1, content)
        bodies[number] = (
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents %d 0 R "
            b"/Resources << /Font << /F 3 0 R >> >> >>" % (number + 1)
        )
        bodies[number + 1] = b"<< /Length %d >>\nstream\n%s\nendstream" % (len(content), content)
        kids.append(number)
        number += 2
    bodies[1] = b"<< /Type /Catalog /Pages 2 0 R >>"
    listed = b" ".join(b"%d 0 R" % kid for kid in kids)
    bodies[2] = b"<< /Type /Pages /Kids [%s] /Count %d >>" % (listed, len(kids))
    bodies[3] = b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>"
    trailer = b"/Root 1 0 R /Size %d /ID [<%s> <%s>]" % (
        number + 1,
        identity.hex().encode(),
        identity.hex().encode(),
    )
    if user is not None:
        check = _rc4(key, PADDING)
        bodies[number] = b"<< /Filter /Standard /V 1 /R 2 /O <%s> /U <%s> /P -4 >>" % (
            owner.hex().encode(),
            check.hex().encode(),
        )
        trailer += b" /Encrypt %d 0 R" % number
    out = bytearray(b"%PDF-1.4\n")
    places = {}
    for each in sorted(bodies):
        places[each] = len(out)
        out += b"%d 0 obj\n%s\nendobj\n" % (each, bodies[each])
    start = len(out)
    out += b"xref\n0 %d\n0000000000 65535 f \n" % (len(places) + 1)
    for each in sorted(places):
        out += b"%010d 00000 n \n" % places[each]
    out += b"trailer\n<< %s >>\nstartxref\n%d\n%%%%EOF\n" % (trailer, start)
    return bytes(out)

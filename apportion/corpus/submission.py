"""EDGAR's full-text submissions: an SGML header, then documents one after another, the main one first."""

from __future__ import annotations

import re
from collections.abc import Iterator

from apportion.corpus.documents import Document, html_document, text_document
from apportion.corpus.metadata import Facts, any_date
from apportion.corpus.records import UnreadableError
from apportion.corpus.text import decode

DOCUMENT = re.compile(r"<DOCUMENT>(.*?)(?:</DOCUMENT>|(?=<DOCUMENT>)|\Z)", re.IGNORECASE | re.DOTALL)
TYPE = re.compile(r"<TYPE>([^\s<]+)", re.IGNORECASE)
BODY = re.compile(r"<TEXT>(.*?)(?:</TEXT>|\Z)", re.IGNORECASE | re.DOTALL)
WRAPPER = re.compile(r"</?(?:XBRL|PDF)>", re.IGNORECASE)
HEADER_FIELDS = {
    "accession": re.compile(r"ACCESSION NUMBER:\s*(\d{10}-\d{2}-\d{6})"),
    "form": re.compile(r"CONFORMED SUBMISSION TYPE:\s*(\S+)"),
    "company": re.compile(r"COMPANY CONFORMED NAME:[ \t]*([^\n]+)"),
    "cik": re.compile(r"CENTRAL INDEX KEY:\s*(\d{1,10})"),
    "period_end": re.compile(r"CONFORMED PERIOD OF REPORT:\s*(\d{8})"),
    "filed_at": re.compile(r"FILED AS OF DATE:\s*(\d{8})"),
    "fiscal_year_end": re.compile(r"FISCAL YEAR END:\s*(\d{4})"),
}
HTML = re.compile(r"<\s*(?:html|body|div|table|p|!doctype)\b", re.IGNORECASE)


def read_submission(content: bytes) -> Document:
    """The main document of a submission, with the facts of its header.

    Raises:
        UnreadableError: there is no document in it.
    """
    text = decode(content)
    facts = header_facts(text[:20_000])
    main = main_document(text, facts.form)
    document = html_document(main) if HTML.search(main[:5_000]) else text_document(main)
    return Document(document.kind, _with_header(document, facts), facts)


def _with_header(document: Document, facts: Facts) -> Iterator[str]:
    """The document's pages. Its header knows who filed it, and when; it knows the rest once it was read."""
    yield from document.pages
    facts.fill(document.facts)
    facts.settle()


def main_document(text: str, form: str | None) -> str:
    """The body of the first document of the submission's type, else of the first document.

    Raises:
        UnreadableError: there is none.
    """
    first: str | None = None
    for match in DOCUMENT.finditer(text):
        kind = TYPE.search(match[1][:500])
        body = BODY.search(match[1])
        if body is None:
            continue
        inside = WRAPPER.sub("", body[1])
        if form is not None and kind is not None and kind[1].upper() == form.upper():
            return inside
        first = inside if first is None else first
    if first is None:
        raise UnreadableError("the submission holds no document")
    return first


def header_facts(text: str) -> Facts:
    """The facts of a submission's header."""
    found = {
        name: match[1].strip() for name, pattern in HEADER_FIELDS.items() if (match := pattern.search(text))
    }
    return Facts(
        company=found.get("company"),
        cik=found["cik"].zfill(10) if "cik" in found else None,
        form=found.get("form"),
        period_end=any_date(found.get("period_end", "")),
        filed_at=any_date(found.get("filed_at", "")),
        accession=found.get("accession"),
        fiscal_year_end=found.get("fiscal_year_end"),
    )

"""A document as a stream of pages with what it says of itself, from its text."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

from apportion.corpus.metadata import Facts, facts_of_cover

COVER_PAGES = 3


@dataclass
class Document:
    """A document's pages, to be read once, and facts that are complete when they have been."""

    kind: str
    pages: Iterator[str]
    facts: Facts = field(default_factory=Facts)


def html_document(text: str) -> Document:
    """A document from HTML, with inline-XBRL facts where it has them."""
    from apportion.corpus.html import read_html

    pages, facts = read_html(text)
    return with_cover("HTML", iter(pages), facts)


def text_document(text: str) -> Document:
    """A document from plain text: cut at form feeds and page marks, else into pages of bounded length."""
    from apportion.corpus.text import split_pages

    return with_cover("text", iter(split_pages(text)))


def with_cover(kind: str, pages: Iterator[str], facts: Facts | None = None) -> Document:
    """A document whose cover page adds to the facts known of it."""
    known = Facts() if facts is None else facts
    return Document(kind, _reading_cover(pages, known), known)


def _reading_cover(pages: Iterator[str], facts: Facts) -> Iterator[str]:
    """The pages, with the cover page's facts taken along the way."""
    cover: list[str] = []
    for text in pages:
        if len(cover) < COVER_PAGES:
            cover.append(text)
        yield text
    facts.fill(facts_of_cover("\n".join(cover)))
    facts.settle()

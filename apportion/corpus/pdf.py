"""The text of a PDF, page by page, by pdfium."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from apportion.corpus.records import UnreadableError, clean_text

MAX_PAGES = 20_000
"""A filing has hundreds of pages. A file of a few kilobytes that claims more than this is not one."""


def read_pdf(path: Path) -> Iterator[str]:
    """The pages' texts in their printed order; an image-only page is an empty text.

    An empty password opens what it opens. Only one page is held at a time.

    Raises:
        UnreadableError: the file is encrypted, damaged, or no PDF.
    """
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(_reason(error)) from error
    try:
        count = len(document)
        if count == 0:
            raise UnreadableError("the PDF has no page")
        if count > MAX_PAGES:
            raise UnreadableError(f"the PDF claims {count:,} pages; more than {MAX_PAGES:,} are not read")
        for number in range(count):
            yield _page_text(document, number)
    finally:
        document.close()


def _page_text(document: object, number: int) -> str:
    import pypdfium2

    try:
        page = document[number]  # type: ignore[index]
        try:
            text = page.get_textpage()
            try:
                return clean_text(text.get_text_bounded())
            finally:
                text.close()
        finally:
            page.close()
    except pypdfium2.PdfiumError as error:
        raise UnreadableError(f"page {number} is damaged: {_reason(error)}") from error


def _reason(error: Exception) -> str:
    said = " ".join(str(error).split())
    if "password" in said.lower():
        return "the PDF is encrypted; take its password off"
    return f"pdfium cannot read it: {said.rstrip('.')}"

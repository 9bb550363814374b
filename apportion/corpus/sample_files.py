"""The sample as files: full-text submissions of any number of pages, for trials of volume."""

from __future__ import annotations

from pathlib import Path

from apportion.corpus.sample import SEED, YEARS
from apportion.corpus.synthetic.filing import Filing, all_filings, filled
from apportion.corpus.synthetic.names import LIMIT

PAGE_CHARACTERS = 4_000
"""About as long as a page of a real filing."""

FILINGS_A_FOLDER = 1_000
"""About as many as the filers of the United States file in the busiest days of a year."""


def write_filings(
    folder: Path, pages: int, *, seed: int = SEED, page_characters: int = PAGE_CHARACTERS
) -> tuple[int, int]:
    """Write filings until there are ``pages`` pages, one at a time, a thousand to a folder.

    Args:
        folder: where ``0001``, ``0002``, … are made.
        pages: at least so many; the last filing is written whole.
        seed: names the world of filers.
        page_characters: length to which shorter pages are filled up, about.

    Returns:
        How many filings and pages were written.

    Raises:
        ValueError: ``pages`` is below one.
        FileExistsError: the folder holds something already.
    """
    if pages < 1:
        raise ValueError(f"a sample has at least one page, not {pages}")
    if folder.exists() and any(folder.iterdir()):
        raise FileExistsError(f"{folder} holds files already; name an empty folder or a new one")
    written = done = 0
    for filing in all_filings(seed, LIMIT, YEARS):
        place = folder / f"{done // FILINGS_A_FOLDER + 1:04d}"
        place.mkdir(parents=True, exist_ok=True)
        (place / f"{filing.filing_id}.txt").write_bytes(submission(filled(filing, page_characters)))
        written += len(filing.pages)
        done += 1
        if written >= pages:
            break
    return done, written


def submission(filing: Filing) -> bytes:
    """A filing as EDGAR's full-text submissions are: a header, then the document, form feeds between its pages."""
    filer, year = filing.view.filer, filing.view.year
    period = filer.period_end(year)
    text = "\f".join(page.text for page in filing.pages)
    return (
        "<SEC-HEADER>\n"
        "CONFORMED SUBMISSION TYPE:\t10-K\n"
        f"CONFORMED PERIOD OF REPORT:\t{period:%Y%m%d}\n"
        f"FILED AS OF DATE:\t\t{filer.filed_at(year):%Y%m%d}\n"
        f"COMPANY CONFORMED NAME:\t\t{filer.name}\n"
        f"CENTRAL INDEX KEY:\t\t{filer.cik}\n"
        f"FISCAL YEAR END:\t\t{period:%m%d}\n"
        f"</SEC-HEADER>\n<DOCUMENT>\n<TYPE>10-K\n<TEXT>\n{text}\n</TEXT>\n</DOCUMENT>\n"
    ).encode()

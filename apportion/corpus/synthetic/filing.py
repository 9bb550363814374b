"""Whole filings: sections in order, cut into pages, each with its running head and page number."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass, replace

from apportion.corpus.synthetic import narrative
from apportion.corpus.synthetic.boilerplate import RISKS
from apportion.corpus.synthetic.discussion import discussion
from apportion.corpus.synthetic.figures import FIRST_YEAR, years_of
from apportion.corpus.synthetic.filers import Filer, make_filer
from apportion.corpus.synthetic.layout import paragraph
from apportion.corpus.synthetic.notes import notes
from apportion.corpus.synthetic.statements import statements
from apportion.corpus.synthetic.view import Block, Section, View

FINANCIAL = frozenset({"income", "balance", "equity", "cash_flow", "notes"})


@dataclass(frozen=True)
class Page:
    """One page: the part of the filing it is printed as, and its item as in `pages`."""

    text: str
    kind: str
    item: str | None


@dataclass(frozen=True)
class Filing:
    """A filing with its pages; ``where`` is the zero-based page on which a tagged block stands."""

    view: View
    filing_id: str
    pages: tuple[Page, ...]
    where: dict[str, int]

    @property
    def sha256(self) -> str:
        """Digest of the pages' numbers and texts."""
        content = hashlib.sha256()
        for number, page in enumerate(self.pages):
            content.update(f"{number}\n".encode() + page.text.encode() + b"\f")
        return content.hexdigest()


def filings_of(filer: Filer, years: int) -> Iterator[Filing]:
    """The filer's first ``years`` 10-Ks, oldest first."""
    known = []
    for year in years_of(filer):
        known.append(year)
        del known[:-3]
        if year.year >= FIRST_YEAR:
            yield _filing(View(filer, known))
        if year.year >= FIRST_YEAR + years - 1:
            return


def all_filings(seed: int, filers: int, years: int) -> Iterator[Filing]:
    """The filings of every filer, one at a time, by filer and then by year.

    Raises:
        ValueError: a count is below one, or there are more filers than names.
    """
    if filers < 1 or years < 1:
        raise ValueError(f"a sample needs at least one filer and one year, not {filers} and {years}")
    for index in range(filers):
        yield from filings_of(make_filer(index, seed), years)


def filled(filing: Filing, characters: int) -> Filing:
    """The filing with its shorter pages filled up, to about ``characters``, with prose that all filings share.

    For trials of volume: pages become about as long as those of real filings.
    """
    pages = []
    for number, page in enumerate(filing.pages):
        added: list[str] = []
        length = len(page.text)
        prose = filing.view.draw("fill", number).shuffled(RISKS)
        while length + len(prose[0][1]) / 2 < characters:
            title, words = prose[len(added) % len(prose)]
            added.append(f"{title}\n{paragraph(words)}")
            length += len(added[-1]) + 2
        body, _, last = page.text.rpartition("\n")
        pages.append(replace(page, text="\n\n".join((body, *added)) + f"\n{last}") if added else page)
    return replace(filing, pages=tuple(pages))


def _filing(view: View) -> Filing:
    sections = [
        narrative.business(view), narrative.risks(view), narrative.properties(view),
        discussion(view), narrative.audit_report(view),
        *statements(view), *notes(view), *narrative.closing(view),
    ]  # fmt: skip
    pages = [(narrative.cover(view), narrative.cover(view).blocks)]
    pages += [(section, page) for section in sections for page in _cut(section, view.filer.page_characters)]
    starts: dict[str, int] = {}
    for number, (section, _) in enumerate(pages, start=2):
        starts.setdefault(section.title, number)
    lines = [f"{section.title}   {starts[section.title]}" for section in sections]
    listed = Block("\n".join(("TABLE OF CONTENTS", "Page", *lines)), "contents")
    contents = Section("contents", None, "", (listed, narrative.forward_looking()))
    pages.insert(1, (contents, contents.blocks))
    where: dict[str, int] = {}
    for number, (_, blocks) in enumerate(pages):
        for block in blocks:
            if block.tag:
                where.setdefault(block.tag, number)
    printed = tuple(
        Page(_print(view, number, section.kind, blocks), section.kind, section.item)
        for number, (section, blocks) in enumerate(pages)
    )
    return Filing(view, view.filer.filing_id(view.year), printed, where)


def _cut(section: Section, characters: int) -> list[tuple[Block, ...]]:
    """A section's blocks over as many pages as ``characters`` a page demand, about evenly; no block is cut."""
    whole = sum(len(block.text) + 2 for block in section.blocks)
    target = whole / -(-whole // characters)
    pages: list[list[Block]] = [[]]
    used, left = 0, whole
    for block in section.blocks:
        # Too little to fill a quarter of a page goes with what stands before it.
        if pages[-1] and used + len(block.text) / 2 > target and left > target / 4:
            pages.append([])
            used = 0
        pages[-1].append(block)
        used += len(block.text) + 2
        left -= len(block.text) + 2
    return [tuple(page) for page in pages]


def _print(view: View, number: int, kind: str, blocks: tuple[Block, ...]) -> str:
    body = "\n\n".join(block.text for block in blocks)
    if number == 0:
        return body
    # Financial pages carry the company's name, the others only where its reports do so throughout.
    named = kind in FINANCIAL or view.filer.index % 4 == 0
    head = f"{view.filer.name} | {view.year} Form 10-K" if named else "Table of Contents"
    return f"{head}\n{body}\n{number + 1}"

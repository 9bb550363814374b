"""EDGAR's HTML as pages of text: tables as rows, hidden parts left out, inline-XBRL facts of the filer taken along.

One pass over the tags, with counters in place of a tree: neither memory nor time depends on how deep tags are nested.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from apportion.corpus.metadata import Facts, facts_of_dei
from apportion.corpus.records import UnreadableError, clean_text
from apportion.corpus.text import LONGEST_PAGE, PAGE_CHARACTERS, cut_lines

MAX_NESTING = 1_000
BLOCKS = frozenset(
    "p div h1 h2 h3 h4 h5 h6 li ul ol dl dt dd section article header footer blockquote center form hr br".split()
)
NESTING = frozenset({"div", "span", "table", "ul", "ol", "blockquote", "section", "font", "b", "i"})
SILENT = frozenset({"script", "style", "head", "ix:header", "xbrl:header", "noscript", "template"})
VOID = frozenset("area base br col embed hr img input link meta source track wbr".split())
CELLS = frozenset({"td", "th"})
FACTS = frozenset({"ix:nonnumeric", "ix:nonfraction"})

HIDDEN = re.compile(r"display\s*:\s*none", re.IGNORECASE)
BREAK_AFTER = re.compile(r"(?:page-)?break-after\s*:\s*(?:always|page|left|right)", re.IGNORECASE)
BREAK_BEFORE = re.compile(r"(?:page-)?break-before\s*:\s*(?:always|page|left|right)", re.IGNORECASE)
SPACE = re.compile(r"[ \t\r\n\f\v\u00a0\u2000-\u200a\u202f\u3000]+")
ZERO_WIDTH = re.compile("[\u200b-\u200d\u2060\ufeff\u00ad]")

OPENERS = frozenset({"$", "(", "($", "$(", "€", "£", "¥", "US$", "C$", "A$", "HK$", "R$", "Rs."})
CLOSERS = frozenset({")", "%", ")%", "%)", "pts", "bps", "x"})


def read_html(text: str) -> tuple[list[str], Facts]:
    """The pages of an HTML document and what its inline-XBRL says of the filer.

    Pages end where the document's styles break them; without such marks they are cut at block boundaries.

    Raises:
        UnreadableError: tags are nested absurdly deep.
    """
    reader = _Reader()
    reader.feed(text)
    reader.close()
    reader.end_page()
    limit = LONGEST_PAGE if len(reader.pages) > 1 else PAGE_CHARACTERS
    pages = [clean_text(piece) for lines in reader.pages for piece in cut_lines(lines, limit)]
    return [page for page in pages if page.strip()] or [""], facts_of_dei(reader.dei)


def join_cells(cells: list[str]) -> str:
    """A table row as a line: empty cells dropped, a currency sign joined to its number, a bracket to its opening."""
    joined: list[str] = []
    for cell in cells:
        if not cell:
            continue
        if joined and (joined[-1] in OPENERS or (cell in CLOSERS and _takes(joined[-1], cell))):
            joined[-1] += cell
        else:
            joined.append(cell)
    return " ".join(joined)


def _takes(before: str, closer: str) -> bool:
    """Whether a number in ``before`` still waits for its closer."""
    if closer.startswith(")"):
        return before.count("(") > before.count(")")
    return before[-1:].isdigit() or before[-1:] in ").—–-"


class _Reader(HTMLParser):
    """Collects lines of text, page by page."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.pages: list[list[str]] = []
        self.dei: dict[str, str] = {}
        self._lines: list[str] = []
        self._parts: list[str] = []
        self._row: list[list[str]] | None = None
        self._outer_rows: list[list[list[str]] | None] = []
        self._silent: tuple[str, int] | None = None
        self._open: dict[str, int] = {}
        self._breaks: list[tuple[str, int]] = []
        self._captures: list[tuple[str, list[str]] | None] = []
        self._pre = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if self._silent is not None:
            if tag == self._silent[0]:
                self._silent = (tag, self._silent[1] + 1)
            if tag in FACTS:
                self._capture(attrs)
            return
        style = ""
        if tag in FACTS:
            self._capture(attrs)
            return
        if tag in SILENT:
            self._silent = (tag, 1)
            return
        for name, value in attrs:
            if name == "style" and value:
                style = value
        if style and tag not in VOID and HIDDEN.search(style):
            self._silent = (tag, 1)
            return
        if tag in NESTING:
            depth = self._open.get(tag, 0) + 1
            self._open[tag] = depth
            if depth > MAX_NESTING and tag not in ("font", "b", "i"):
                raise UnreadableError(f"<{tag}> is nested more than {MAX_NESTING} deep")
        if tag in BLOCKS:
            self._end_line()
        elif tag == "table":
            self._flush_row()
            self._outer_rows.append(self._row)
            self._row = None
        elif tag == "tr":
            self._flush_row()
            self._row = []
        elif tag in CELLS:
            self._begin_cell()
        elif tag == "pre":
            self._end_line()
            self._pre += 1
        if style:
            self._page_breaks(tag, style)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.handle_endtag(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in FACTS:
            self._end_capture()
            return
        if self._silent is not None:
            name, depth = self._silent
            if tag == name:
                self._silent = (name, depth - 1) if depth > 1 else None
            return
        if tag in BLOCKS or tag in CELLS:
            self._end_line()
        elif tag == "tr":
            self._flush_row()
        elif tag == "table":
            self._flush_row()
            self._row = self._outer_rows.pop() if self._outer_rows else None
        elif tag == "pre":
            self._end_line()
            self._pre = max(self._pre - 1, 0)
        if self._breaks and self._breaks[-1] == (tag, self._open.get(tag, 0)):
            self._breaks.pop()
            self.end_page()
        if tag in NESTING and self._open.get(tag, 0):
            self._open[tag] -= 1

    def handle_data(self, data: str) -> None:
        for capture in self._captures:
            if capture is not None:
                capture[1].append(data)
        if self._silent is None:
            self._parts.append(data)

    def end_page(self) -> None:
        """Close the page at hand."""
        self._flush_row()
        self._end_line()
        if any(line.strip() for line in self._lines):
            self.pages.append(self._lines)
        self._lines = []

    def _page_breaks(self, tag: str, style: str) -> None:
        if BREAK_BEFORE.search(style):
            self.end_page()
        if BREAK_AFTER.search(style):
            if tag in VOID:
                self.end_page()
            elif tag in NESTING:
                self._breaks.append((tag, self._open[tag]))
            else:
                # Paragraphs don't nest: the break comes at the next end of one.
                self._breaks.append((tag, 0))

    def _capture(self, attrs: list[tuple[str, str | None]]) -> None:
        name = dict(attrs).get("name") or ""
        wanted = name.startswith("dei:") and name[4:] not in self.dei
        self._captures.append((name[4:], []) if wanted else None)

    def _end_capture(self) -> None:
        capture = self._captures.pop() if self._captures else None
        if capture is not None and capture[0] not in self.dei:
            value = SPACE.sub(" ", "".join(capture[1])).strip()
            if value:
                self.dei[capture[0]] = value

    def _begin_cell(self) -> None:
        self._end_line()
        if self._row is None:
            self._row = []
        self._row.append([])

    def _end_line(self) -> None:
        """Close the line at hand: into the open cell, else onto the page."""
        if not self._parts:
            return
        text = "".join(self._parts)
        self._parts = []
        text = ZERO_WIDTH.sub("", text)
        if self._pre:
            lines = [line.rstrip() for line in text.replace("\r\n", "\n").split("\n")]
        else:
            lines = [SPACE.sub(" ", text).strip()]
        lines = [line for line in lines if line]
        if self._row:
            self._row[-1] += lines
        else:
            self._lines += lines

    def _flush_row(self) -> None:
        """Put the row at hand onto the page. A row with one cell keeps that cell's lines."""
        self._end_line()
        if self._row is None:
            return
        filled = [cell for cell in self._row if cell]
        if len(filled) == 1:
            self._lines += filled[0]
        elif filled:
            self._lines.append(join_cells([" ".join(cell) for cell in filled]))
        self._row = None if not self._outer_rows else []

"""From the text of a filing's page to its tables: rows with a label, and values under columns with a year.

PDF text breaks tables up: label, currency sign and each number often stand on lines of their own, blank
lines mark empty cells or spacers, a label may wrap, and some files lose the spaces within labels. Nothing
here knows any particular filer.
"""

from __future__ import annotations

import itertools
import re
from dataclasses import dataclass, field
from functools import lru_cache

from apportion.accounting import fold
from apportion.line_items import Statement

_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_CELL = re.compile(
    rf"(?P<dash>[—–-]+)(?=\s|$)|\(?\s*[$€£]?\s*\(?\s*-?\s*[$€£]?\s*(?P<number>{_NUMBER})\s*\)?\s*(?P<percent>%)?\s*\)?"
)
_CELL_WORD = re.compile(rf"[$€£(%)—–-]*(?:{_NUMBER})?[%)]*")
_NO_VALUE = re.compile(r"(?<!\S)(?:N/?M|n/?m|N/A|n/a)(?!\S)")
_RUNS_ON = re.compile(
    r"(?:\b(?:of|and|or|to|in|by|for|at|the|note|notes|from|than|with|item|page|part|par|value)|[,$(])$", re.I
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?"
    r"|nov(?:ember)?|dec(?:ember)?)"
)
_HEADER_WORDS = frozenset(
    "fiscal year years month months week weeks quarter quarters ended ending end as of at for the and three six nine"
    " twelve first second third fourth unaudited audited restated revised note notes adjusted fy in millions thousands"
    " billions dollars except per share amount amounts data us usd change increase decrease percent"
    " 52 53 13 39 26".split()
)
_HEADER_SIGNS = frozenset("%$(),:;.'*-")
_YEAR = re.compile(r"(?:\bFY\s?'?|(?<=\d,)|(?<=[A-Za-z])|\b)((?:19|20)\d\d)\b|\bFY\s?'?(\d\d)\b")
_SCALE = re.compile(
    r"\b(?:in|amounts? in|dollars? in|\$ in|usd)?\s*\(?\s*(thousands|millions|billions)\b", re.IGNORECASE
)
_YEARS_LAST = re.compile(r"^[^\d]*(?:\b(?:19|20)\d\d\b[\s,]*){2,}$")
_YEAR_FIRST = re.compile(r"^((?:19|20)\d\d)\s+([A-Za-z][^\d]*)$")
_DATED = re.compile(rf"\b{_MONTH}\b|\bended\b|\bmonths\b|\bfiscal\b", re.IGNORECASE)
_BLANK = "blank"
# "Receivables, less allowance for doubtful accounts of $95" is the line "Receivables".
_LESS = re.compile(
    r",?\s*(?:net of|less|after)\s+(?:allowances?|accumulated|reserves?|valuation)\b.*$", re.IGNORECASE
)
_FACTORS = {"thousands": 1e3, "millions": 1e6, "billions": 1e9}
_STATEMENTS: tuple[tuple[Statement, re.Pattern[str]], ...] = (
    ("cash_flow",
    re.compile(r"statements?\s*of\s*(?:consolidated\s*)?cash\s*flow|cash\s*flows?\s*statements?", re.I)),
    ("balance",
    re.compile(r"balance\s*shee\s*t|statements?\s*of\s*(?:consolidated\s*)?financial\s*(?:position|condition)",
    re.I)), ("income", re.compile(
        r"statements?\s*of\s*(?:consolidated\s*)?(?:net\s*)?(?:comprehensive\s*)?(?:income|operations|earnings|\(?loss)"
        r"|income\s*statements?|results\s*of\s*operations", re.I)),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """One row: its own label, the heading it stands under, its values (null where the cell is empty or a
    dash), the index of its header among the page's (-1 before any), and whether each value surely stands in
    its column."""

    label: str
    heading: str
    values: tuple[float | None, ...]
    header: int
    percent: bool = False
    aligned: bool = True
    printed: str = ""

    def text(self) -> str:
        """The row as a quote: its label and its cells as the page prints them."""
        return f"{self.label} {self.printed}".strip()


@dataclass(frozen=True, slots=True)
class Header:
    """Columns of a table by the year each one names, left to right, with the words that stood around them."""

    years: tuple[int, ...]
    text: str = ""

    @property
    def interim(self) -> bool:
        """Whether the columns are quarters or other parts of a year."""
        return (
            re.search(r"\b(?:three|six|nine)\s*months|\bquarter|\b(?:13|26|39)\s*weeks", self.text, re.I)
            is not None
        )


@dataclass(frozen=True, slots=True, eq=False)
class Page:
    """A parsed page. ``scale`` turns its money figures into whole units and is null where the page doesn't
    say."""

    rows: tuple[Row, ...]
    headers: tuple[Header, ...]
    scale: float | None
    statement: Statement | None
    lines: tuple[str, ...] = field(repr=False, default=())


@lru_cache(maxsize=1024)
def parse_page(text: str) -> Page:
    """The tables of one page. Cached by the page's text, since every route reads the same few pages."""
    lines = tuple(line.replace("\xa0", " ").replace("\u200b", "").strip() for line in text.splitlines())
    rows, headers = _Reader().read(lines)
    scale = _SCALE.search(text[:3000]) or _SCALE.search(text)
    return Page(
        rows=rows,
        headers=headers,
        scale=_FACTORS[scale[1].lower()] if scale else None,
        statement=_statement(lines),
        lines=lines,
    )


def _statement(lines: tuple[str, ...]) -> Statement | None:
    """Which statement a page shows, by the first title within its opening lines."""
    shown = [line for line in lines if line][:14]
    for line in shown:
        if len(line) < 110:
            for name, pattern in _STATEMENTS:
                if pattern.search(line):
                    return name
    return None


class _Reader:
    """One pass over the lines of a page, keeping the label and the cells met so far."""

    def __init__(self) -> None:
        self.rows: list[Row] = []
        self.headers: list[Header] = []
        self.label: list[str] = []  # lines of the label being read, no value met yet
        self.heading = ""
        self.cells: list[float | str | None] = []  # _BLANK for a blank line, which may be an empty cell
        self.percent = False
        self.printed: list[str] = []
        self.open_row: str | None = None
        self.years: list[int] = []  # of a header being read
        self.header_text: list[str] = []

    def read(self, lines: tuple[str, ...]) -> tuple[tuple[Row, ...], tuple[Header, ...]]:
        for line in lines:
            self._line(line)
        self._close_row()
        return tuple(self.rows), tuple(self.headers)

    def _line(self, line: str) -> None:
        if not line:
            if self.open_row is not None or self.label:
                self.cells.append(_BLANK)
            return
        if self._is_header(line):
            self._close_row()
            found = [_year(match) for match in _YEAR.finditer(line)]
            self.years += found
            self.header_text.append(line)
            if not found:
                self.label = []
            return
        if self.years and (rest := _YEAR_FIRST.match(line)):
            # "2018 ASSETS Current assets:" ends a header and starts the table in one line.
            self.years.append(int(rest[1]))
            line = rest[2]
        if _is_values(line) and not _is_page_number(line, self.open_row, self.label):
            self._close_header()
            self._add_cells(line)
            return
        self._close_row()
        self._close_header()
        label, cells = _split(line)
        if cells and (self.headers or "," in cells or " " in cells):
            self._start_label(label)
            self._add_cells(cells)
            return
        self._start_label(line)

    def _is_header(self, line: str) -> bool:
        years = _YEAR.findall(line)
        if len(line) > 120:
            return False
        rest = _YEAR.sub(" ", line)
        if _YEARS_LAST.match(line) and _consecutive([_year(match) for match in _YEAR.finditer(line)]):
            return True
        if years:
            if (
                self.open_row is not None
                and len(years) == 1
                and re.fullmatch(r"[\d,]+", line)
                and not self.header_text
            ):
                # A lone "2,018" can't be a year; a lone "2018" amid a row's cells might be one of its values.
                return _expects_no_more(self)
            return _only_header_words(rest)
        return _DATED.search(rest) is not None and _only_header_words(rest)

    def _close_header(self) -> None:
        if self.years:
            self.headers.append(Header(tuple(self.years), " ".join(self.header_text)))
        if self.header_text and self.years:
            self.header_text = []
        self.years = []

    def _start_label(self, line: str) -> None:
        self.header_text = [] if not self.years else self.header_text
        if self.label and not _continues(self.label[-1], line):
            self.heading = " ".join(self.label)
            self.label = []
        self.label.append(line)
        self.cells = []

    def _add_cells(self, line: str) -> None:
        if self.open_row is None:
            self.open_row = " ".join(self.label)
            self.label, self.percent, self.printed = [], False, []
        self.printed.append(line)
        for match in _CELL.finditer(_NO_VALUE.sub("—", line)):
            if match["dash"]:
                self.cells.append(None)
                continue
            value = float(match["number"].replace(",", ""))
            negative = "(" in match[0] or "-" in match[0].split(match["number"])[0]
            self.percent = self.percent or bool(match["percent"])
            self.cells.append(-value if negative else value)

    def _close_row(self) -> None:
        if self.open_row is None:
            return
        label, cells, self.open_row, self.cells = self.open_row, self.cells, None, []
        if any(isinstance(cell, float) for cell in cells):
            header = self._header_of(cells)
            columns = len(self.headers[header].years) if header >= 0 else 0
            values, aligned = _align(cells, columns)
            printed = " ".join(" ".join(self.printed).split())
            if columns > 1 and len(values) == 2 * columns and not self.percent:
                # A total that the page prints without a label follows the row above it.
                self.rows.append(Row(label, self.heading, values[:columns], header, printed=printed))
                label, values = "", values[columns:]
            self.rows.append(Row(label, self.heading, values, header, self.percent, aligned, printed))

    def _header_of(self, cells: list[float | str | None]) -> int:
        """The latest header; where it has too few columns for the row, the latest that has exactly as many."""
        shown = sum(not isinstance(cell, str) for cell in cells)
        last = len(self.headers) - 1
        if last >= 0 and shown > len(self.headers[last].years):
            for index in range(last, -1, -1):
                if len(self.headers[index].years) == shown:
                    return index
        return last


def _align(cells: list[float | str | None], columns: int) -> tuple[tuple[float | None, ...], bool]:
    """Cells under ``columns``, and whether that fits; a note reference in front of them goes."""
    shown = [cell for cell in cells if not isinstance(cell, str)]
    if columns and len(shown) == columns + 1 and shown[0] is not None:
        rest = [abs(cell) for cell in shown[1:] if cell is not None]
        if shown[0] == int(shown[0]) and 0 < shown[0] < 40 and rest and min(rest) > 40:
            return tuple(shown[1:]), True
    if len(shown) >= columns:
        return tuple(shown), True
    with_blanks = [None if isinstance(cell, str) else cell for cell in cells]
    while len(with_blanks) > columns and with_blanks[-1] is None:
        with_blanks.pop()
    if len(with_blanks) == columns:
        return tuple(with_blanks), True
    return tuple(shown), False


def _consecutive(years: list[int]) -> bool:
    return len(years) > 1 and all(abs(left - right) == 1 for left, right in itertools.pairwise(years))


def _only_header_words(text: str) -> bool:
    """Whether ``text`` is made of what stands in the heads of columns: months and their days, units, "ended"."""
    before = ""
    for word in re.findall(r"[a-z]+|\d+|[^\sa-z\d]", text.lower()):
        day = word.isdigit() and len(word) <= 2 and re.fullmatch(_MONTH, before) is not None
        mark = word.isdigit() and len(word) == 1 and before == "("
        known = word in _HEADER_WORDS or word in _HEADER_SIGNS or re.fullmatch(_MONTH, word) is not None
        if not (known or day or mark):
            return False
        before = word
    return True


def _is_values(line: str) -> bool:
    """Whether ``line`` holds cells alone."""
    return all(_NO_VALUE.fullmatch(word) or _CELL_WORD.fullmatch(word) for word in line.split())


def _split(line: str) -> tuple[str, str]:
    """A line's label and the cells that follow it; no cells where its numbers belong to its words."""
    words = line.split()
    first = len(words)
    while first and _CELL_WORD.fullmatch(words[first - 1]):
        first -= 1
    if first == 0 or first == len(words) or not re.search(r"[A-Za-z)\].,:*]$", words[first - 1]):
        return line, ""
    label, cells = " ".join(words[:first]), " ".join(words[first:])
    if label.count("(") > label.count(")"):  # "(Note 4) 4.42 3.78": the 4 belongs to the label
        closed, _, cells = cells.partition(")")
        label, cells = f"{label} {closed})", cells.strip()
    if not any(character.isdigit() for character in cells) and " " not in cells:
        return line, ""
    return (line, "") if _RUNS_ON.search(label) else (label, cells)


def _expects_no_more(reader: _Reader) -> bool:
    shown = [cell for cell in reader.cells if not isinstance(cell, str)]
    return bool(reader.headers) and len(shown) >= len(reader.headers[-1].years)


def _year(match: re.Match[str]) -> int:
    return int(match[1]) if match[1] else 2000 + int(match[2])


def _continues(previous: str, line: str) -> bool:
    """Whether ``line`` goes on the label that ``previous`` began."""
    if previous.endswith(":"):
        return False
    return line[0].islower() or previous.endswith((",", "-", "—", "and", "of", "in", "by", "cash", "from"))


def _is_page_number(line: str, open_row: str | None, label: list[str]) -> bool:
    if open_row is not None or not re.fullmatch(r"\d{1,3}", line):
        return False
    return not label or label[-1].endswith((".", ";"))


def squash(label: str) -> str:
    """A label's letters alone, without brackets, notes and amounts: what is compared with a synonym."""
    label = re.sub(r"\((?:[^()]|\([^()]*\))*\)", " ", label)
    label = _LESS.sub("", label)
    label = re.sub(r"\bnotes?\s+\d+(?:\s*(?:,|and)\s*\d+)*", " ", label, flags=re.IGNORECASE)
    return re.sub(r"[^a-z&%]", "", fold(label))

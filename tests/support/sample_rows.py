"""Rows of the sample's tables, read back from page text by a parser that shares nothing with the printer."""

from __future__ import annotations

import re
from functools import lru_cache

from apportion.corpus.records import Corpus
from apportion.corpus.sample import build_sample

CELL = re.compile(r"\(?[\d,]+(?:\.\d+)?\)?|—")


@lru_cache(maxsize=1)
def sample() -> Corpus:
    return build_sample()


def number(cell: str) -> float:
    if cell == "—":
        return 0.0
    value = float(cell.strip("()").replace(",", ""))
    return -value if cell.startswith("(") else value


def rows(text: str) -> list[tuple[str, list[float]]]:
    """Labels with their values, in print order, of a page or the end of one, set a row or a cell to the line."""
    found: list[tuple[str, list[float]]] = []
    # The last line of a page is its number.
    for line in text.splitlines()[:-1]:
        cells = [part.removeprefix("$").strip() for part in re.split(r"\s{3,}", line.strip())]
        if all(CELL.fullmatch(cell) for cell in cells if cell) and found:
            found[-1][1].extend(number(cell) for cell in cells if cell)
        elif len(cells) > 1 and all(CELL.fullmatch(cell) for cell in cells[1:]):
            found.append((cells[0], [number(cell) for cell in cells[1:]]))
        else:
            found.append((line.strip(), []))
    # A table's head reads like a row of years.
    return [entry for entry in found if entry[1] and not all(2015 <= value <= 2040 for value in entry[1])]


class Book:
    """The statements of one filing as its pages print them."""

    def __init__(self, corpus: Corpus, filing_id: str) -> None:
        pages = corpus.pages.filter(corpus.pages["filing_id"] == filing_id)
        self.texts = pages["text"].to_list()
        self.kinds = pages["page_kind"].to_list()
        self.income = rows(self.of("income"))
        self.balance = rows(self.of("balance"))
        self.cash_flow = rows(self.of("cash_flow"))

    def of(self, kind: str) -> str:
        (text,) = (text for text, each in zip(self.texts, self.kinds, strict=True) if each == kind)
        return text

    @staticmethod
    def find(statement: list[tuple[str, list[float]]], pattern: str) -> list[float]:
        for label, values in statement:
            if re.search(pattern, label, re.IGNORECASE):
                return values
        raise LookupError(pattern)

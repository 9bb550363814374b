"""What ranking by accounting knows of a filing's pages, in one SQLite file a filing.

Full text in two fields, headings and body, with SQLite's own BM25; what each page is; the line items its rows print;
and the lengths of its TF-IDF vectors, so that a cosine costs only the columns of the question's terms.
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from apportion.corpus.page_kinds import PageProfile, profiles_of
from apportion.corpus.page_reading import read_page
from apportion.corpus.statement_rows import page_lines
from apportion.retrieval.fulltext_shard import TOKENISER
from apportion.retrieval.terms import TermCounts

VERSION = "1"
"""Changes whenever the same pages would give another shard."""

HEADING_WEIGHT = 3.0
"""Weight of a word in a heading, by that of one in the body."""

LONGEST_HEADING = 90
OPENING_LINES = 6
_FIGURES = re.compile(r"\d.*\d")
_WORD = re.compile(r"[^\W_]+")

Numbers = npt.NDArray[np.float64]


class PageShard:
    """The pages of one filing, in ascending order."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        rows = self._connection.execute(
            "SELECT page_number, kind, fiscal_years, units, figures, strength, word_length, character_length"
            " FROM pages ORDER BY page_number"
        ).fetchall()
        self.page_numbers = np.array([row[0] for row in rows], np.int64)
        self.profiles = [
            PageProfile(row[1], tuple(json.loads(row[2])), row[3], row[4], row[5]) for row in rows
        ]
        self.lengths = {
            "words": np.array([row[6] for row in rows]),
            "characters": np.array([row[7] for row in rows]),
        }
        self._places = {int(page): place for place, page in enumerate(self.page_numbers)}

    @classmethod
    def build(
        cls, path: Path, page_numbers: Sequence[int], texts: Sequence[str], families: dict[str, TermCounts]
    ) -> None:
        """Write the shard of some pages, whole or not at all.

        Args:
            path: where to.
            page_numbers: ascending.
            texts: of the pages.
            families: their counted terms by family, as in :class:`apportion.retrieval.shards.TermShard`.
        """
        readings = [read_page(text) for text in texts]
        profiles = profiles_of(readings)
        lengths = {name: vector_lengths(counts) for name, counts in families.items()}
        draft = path.with_name(f".{path.name}-{os.getpid()}")
        draft.unlink(missing_ok=True)
        connection = sqlite3.connect(draft)
        try:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(
                f"CREATE VIRTUAL TABLE words USING fts5(heading, body, content='', tokenize='{TOKENISER}')"
            )
            connection.execute(
                "CREATE TABLE pages (page_number INTEGER PRIMARY KEY, kind TEXT, fiscal_years TEXT, units TEXT,"
                " figures REAL, strength REAL, word_length REAL, character_length REAL)"
            )
            connection.execute("CREATE TABLE line_items (item TEXT, page_number INTEGER, certainty REAL)")
            connection.executemany(
                "INSERT INTO words (rowid, heading, body) VALUES (?, ?, ?)",
                ((number, headings(text), text) for number, text in zip(page_numbers, texts, strict=True)),
            )
            connection.executemany(
                "INSERT INTO pages VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    (
                        number,
                        p.kind,
                        json.dumps(p.fiscal_years),
                        p.units,
                        p.figures,
                        p.strength,
                        float(w),
                        float(c),
                    )
                    for number, p, w, c in zip(
                        page_numbers, profiles, lengths["words"], lengths["characters"], strict=True
                    )
                ),
            )
            connection.executemany(
                "INSERT INTO line_items VALUES (?, ?, ?)",
                (
                    (item, number, certainty)
                    for number, reading in zip(page_numbers, readings, strict=True)
                    for item, certainty in sorted(reading.rows.items())
                ),
            )
            connection.execute("CREATE INDEX by_item ON line_items (item)")
            connection.commit()
        finally:
            connection.close()
        draft.replace(path)

    def bm25(self, phrases: Iterable[str]) -> Numbers:
        """BM25 of each page for any of some phrases, each taken word by word as it is; 0 or more.

        SQLite's BM25 with its constants; words of headings count :data:`HEADING_WEIGHT` times.
        """
        scores = np.zeros(len(self.page_numbers))
        # Quoted words are characters to the query language, never operators.
        wanted = [" ".join(_WORD.findall(phrase)) for phrase in phrases]
        query = " OR ".join(f'"{words}"' for words in wanted if words)
        if query:
            for page, score in self._connection.execute(
                "SELECT rowid, -bm25(words, ?, 1.0) FROM words WHERE words MATCH ?", (HEADING_WEIGHT, query)
            ):
                scores[self._places[page]] = score
        return scores

    def rows(self, items: Collection[str]) -> dict[str, Numbers]:
        """For each line item how surely each page prints it, in [0, 1]."""
        found = {}
        for item in sorted(items):
            certainties = np.zeros(len(self.page_numbers))
            for page, certainty in self._connection.execute(
                "SELECT page_number, certainty FROM line_items WHERE item = ?", (item,)
            ):
                certainties[self._places[page]] = certainty
            found[item] = certainties
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


def headings(text: str) -> str:
    """The lines of a page that look like headings: its opening ones and short ones that end like no sentence."""
    found = []
    for place, line in enumerate(page_lines(text)):
        short = len(line) < LONGEST_HEADING and not _FIGURES.search(line)
        if short and (place < OPENING_LINES or (line[0].isupper() and not line.endswith((".", ";", ",")))):
            found.append(line)
    return "\n".join(found)


def vector_lengths(counts: TermCounts) -> Numbers:
    """Lengths of the pages' vectors of sublinear TF-IDF over the filing; 1 for a page without terms."""
    pages = counts.counts.shape[0]
    weights = inverse_frequencies(counts.document_frequencies(), pages)
    weighted = (1.0 + np.log(counts.counts.data.astype(np.float64))) * weights[counts.counts.indices]
    rows = np.repeat(np.arange(pages), np.diff(counts.counts.indptr))
    lengths = np.sqrt(np.bincount(rows, weights=weighted**2, minlength=pages))
    return np.where(lengths > 0, lengths, 1.0)


def inverse_frequencies(frequencies: npt.NDArray[np.int64], pages: int) -> Numbers:
    """scikit-learn's smooth weights, 1 + ln((1 + n) / (1 + df))."""
    return np.log((1 + pages) / (1 + frequencies)) + 1.0

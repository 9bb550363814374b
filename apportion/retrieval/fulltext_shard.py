"""A filing's pages in SQLite's FTS5: its tokeniser and its inverted index; no query language is ever spoken.

Words are taken as they are: a question's words are cut by the same tokeniser and looked up one by one, so that quotes,
brackets and operators in it are only characters.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Sequence
from functools import lru_cache
from pathlib import Path

TOKENISER = "porter unicode61 remove_diacritics 2"


class FullTextShard:
    """An inverted index over the pages of one filing."""

    def __init__(self, path: Path) -> None:
        self._connection = sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)
        # A temporary table reads the index's vocabulary without writing to the file.
        self._connection.execute(
            "CREATE VIRTUAL TABLE temp.occurrences USING fts5vocab('main', 'words', 'instance')"
        )

    @classmethod
    def build(cls, path: Path, page_numbers: Sequence[int], texts: Sequence[str]) -> None:
        """Write the index of some pages, whole or not at all."""
        draft = path.with_name(f".{path.name}-{os.getpid()}")
        draft.unlink(missing_ok=True)
        connection = sqlite3.connect(draft)
        try:
            connection.execute("PRAGMA journal_mode = OFF")
            connection.execute("PRAGMA synchronous = OFF")
            connection.execute(
                f"CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='{TOKENISER}')"
            )
            connection.execute(
                "CREATE TABLE lengths (page_number INTEGER PRIMARY KEY, words INTEGER NOT NULL)"
            )
            connection.executemany(
                "INSERT INTO words (rowid, text) VALUES (?, ?)", zip(page_numbers, texts, strict=True)
            )
            connection.execute("INSERT INTO words (words) VALUES ('optimize')")
            connection.execute("CREATE VIRTUAL TABLE temp.seen USING fts5vocab('main', 'words', 'instance')")
            counted = dict(connection.execute("SELECT doc, count(*) FROM temp.seen GROUP BY doc"))
            connection.executemany(
                "INSERT INTO lengths VALUES (?, ?)",
                [(number, counted.get(number, 0)) for number in page_numbers],
            )
            connection.commit()
        finally:
            connection.close()
        draft.replace(path)

    def lengths(self) -> dict[int, int]:
        """How many words each page has, by page number ascending."""
        return dict(self._connection.execute("SELECT page_number, words FROM lengths ORDER BY page_number"))

    def counts(self, words: Iterable[str]) -> dict[str, dict[int, int]]:
        """How often each word stands on each page that has it."""
        found = {}
        for word in words:
            rows = self._connection.execute(
                "SELECT doc, count(*) FROM temp.occurrences WHERE term = ? GROUP BY doc", (word,)
            )
            found[word] = {int(page): int(count) for page, count in rows}
        return found

    def close(self) -> None:
        """Close the file."""
        self._connection.close()


@lru_cache(maxsize=4096)
def words_of(text: str) -> tuple[str, ...]:
    """The distinct words of a text as the index knows them, in alphabetical order."""
    connection = sqlite3.connect(":memory:")
    try:
        connection.execute(f"CREATE VIRTUAL TABLE words USING fts5(text, content='', tokenize='{TOKENISER}')")
        connection.execute("CREATE VIRTUAL TABLE seen USING fts5vocab('words', 'row')")
        connection.execute("INSERT INTO words (rowid, text) VALUES (1, ?)", (text,))
        return tuple(term for (term,) in connection.execute("SELECT term FROM seen ORDER BY term"))
    finally:
        connection.close()

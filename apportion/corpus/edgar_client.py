"""Fetching from EDGAR as its owners ask: a named user agent, ten requests a second at most, nothing fetched twice.

https://www.sec.gov/os/accessing-edgar-data says how. A throttle page, whatever status it comes with, is a refusal.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING
from zoneinfo import ZoneInfo

from apportion.corpus.archive import Archive, Kept
from apportion.corpus.edgar import (
    EdgarError,
    IndexEntry,
    index_folder,
    parse_index,
    parse_tickers,
)
from apportion.corpus.filers import Filer, parse_filer, submissions_path
from apportion.corpus.receiving import CODINGS, receive, resuming

if TYPE_CHECKING:
    import httpx

SITE = "https://www.sec.gov"
DATA_SITE = "https://data.sec.gov"
"""Where EDGAR itself keeps filers' submissions; a mirror has them beside the rest."""

REQUESTS_A_SECOND = 10.0
ATTEMPTS = 5
FIRST_WAIT_S = 2.0
LONGEST_WAIT_S = 660.0
TIMEOUT_S = 60.0
PUBLISHED_WITHIN_DAYS = 5

USER_AGENT = re.compile(r"(?=.*[A-Za-z])[^@\s][^@]*\s\S*[^@\s]+@[^@\s]+\.[^@\s]+")
THROTTLE = (
    b"request rate threshold exceeded",
    b"undeclared automated tool",
    b"exceeded the maximum number of requests",
    b"automated access to our sites must comply",
)
RETRIED = (403, 408, 425, 429, 500, 502, 503, 504)


class EdgarThrottledError(EdgarError):
    """EDGAR kept refusing."""


class EdgarMissingError(EdgarError):
    """EDGAR has no such document."""


@dataclass(frozen=True)
class Politeness:
    """How requests are paced and retried; the defaults are what EDGAR asks for."""

    requests_a_second: float = REQUESTS_A_SECOND
    attempts: int = ATTEMPTS
    first_wait_s: float = FIRST_WAIT_S


def check_user_agent(value: str | None) -> str:
    """The user agent, if it names somebody who can be written to.

    Raises:
        EdgarError: it doesn't.
    """
    if not value or not USER_AGENT.fullmatch(value.strip()):
        raise EdgarError(
            "EDGAR wants to know who asks: set APPORTION_EDGAR_USER_AGENT to a name and an e-mail address, "
            "such as 'Example Research research@example.com'"
        )
    return value.strip()


class Pacer:
    """Gives out moments at least an interval apart, to all threads and processes that share its file."""

    def __init__(self, path: Path, a_second: float) -> None:
        if not 0 < a_second <= REQUESTS_A_SECOND:
            raise ValueError(
                f"{a_second} requests a second: EDGAR allows more than 0 and at most {REQUESTS_A_SECOND:g}"
            )
        self._path = path
        self._interval = 1.0 / a_second
        self._threads = threading.Lock()

    def wait(self) -> None:
        """Return when it is this request's turn."""
        from filelock import FileLock

        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._threads, FileLock(self._path.with_name(f"{self._path.name}.lock")):
            now = time.time()
            try:
                free = float(self._path.read_text(encoding="ascii"))
            except (OSError, ValueError):
                free = 0.0
            # A clock that was set back shan't stop requests for hours.
            turn = free if now < free < now + 60 else now
            self._path.write_text(repr(turn + self._interval), encoding="ascii")
        time.sleep(max(0.0, turn - time.time()))


class EdgarClient:
    """Reads EDGAR's lists and documents into an archive."""

    def __init__(
        self, archive: Path, user_agent: str | None, site: str = SITE, politeness: Politeness | None = None
    ) -> None:
        """Take up work.

        Args:
            archive: folder of what was fetched.
            user_agent: name and e-mail address of whoever asks.
            site: EDGAR's address.
            politeness: pace and retries.

        Raises:
            EdgarError: the user agent names nobody.
        """
        self.archive = Archive(archive)
        self._agent = check_user_agent(user_agent)
        self._site = site.rstrip("/")
        self._polite = politeness or Politeness()
        self._pacer = Pacer(archive / ".pace", self._polite.requests_a_second)

    @contextmanager
    def _connected(self) -> Iterator[httpx.Client]:
        import httpx

        headers = {"User-Agent": self._agent, "Accept-Encoding": CODINGS}
        with httpx.Client(headers=headers, timeout=TIMEOUT_S, follow_redirects=False) as client:
            yield client

    def daily_index(self, day: date, today: date | None = None) -> list[IndexEntry]:
        """The filings of a day; none where EDGAR published no index because it was closed.

        Args:
            day: the day.
            today: New York's calendar day, by which a missing index is one that may still come.

        Raises:
            EdgarError: the index isn't published yet, or isn't one.
        """
        folder = f"{self._site}/Archives/{index_folder(day)}"
        name = f"master.{day:%Y%m%d}.idx"
        with self._connected() as client:
            try:
                listing = self._fetch(client, f"{folder}/index.json").path.read_text(encoding="utf-8")
            except EdgarMissingError:
                listing = ""
            days = re.findall(r"master\.(\d{8})\.idx", listing)
            if f"{day:%Y%m%d}" in days:
                return parse_index(self._fetch(client, f"{folder}/{name}").path.read_text("utf-8", "replace"))
        newest = today or datetime.now(ZoneInfo("America/New_York")).date()
        closed = day.weekday() >= 5 or max(days, default="") > f"{day:%Y%m%d}"
        if not closed and (newest - day).days < PUBLISHED_WITHIN_DAYS:
            raise EdgarError(f"EDGAR has published no index for {day} yet; try again later")
        return []

    def tickers(self) -> dict[str, str]:
        """CIK by ticker, as of now."""
        with self._connected() as client:
            kept = self._fetch(client, f"{self._site}/files/company_tickers.json")
        return parse_tickers(kept.path.read_text(encoding="utf-8"))

    def filers(self, ciks: Iterable[str], fresh: Container[str] = ()) -> dict[str, Filer]:
        """Who filers are, by CIK, from their submissions; those that EDGAR knows nothing readable of are left out.

        Args:
            ciks: the filers.
            fresh: those that are asked for as of now; of the others what the archive has will do.

        Raises:
            EdgarThrottledError: EDGAR kept refusing.
        """
        site = DATA_SITE if self._site == SITE else self._site
        found: dict[str, Filer] = {}
        with self._connected() as client:
            for cik in dict.fromkeys(ciks):
                url = f"{site}/{submissions_path(cik)}"
                kept = None if cik in fresh else self.archive.get(url)
                try:
                    kept = kept or self._fetch(client, url)
                except EdgarMissingError:
                    continue
                filer = parse_filer(kept.path.read_bytes(), cik)
                if filer is not None:
                    found[cik] = filer
        return found

    def documents(self, entries: list[IndexEntry]) -> Iterator[tuple[IndexEntry, Kept | None]]:
        """Each filing's submission, from the archive or from EDGAR; None where EDGAR has none.

        What was fetched stays: after an interruption only the rest is.

        Raises:
            EdgarThrottledError: EDGAR kept refusing.
        """
        with self._connected() as client:
            for entry in entries:
                url = f"{self._site}/Archives/{entry.path}"
                kept = self.archive.get(url)
                if kept is None:
                    try:
                        kept = self._fetch(client, url)
                    except EdgarMissingError:
                        kept = None
                yield entry, kept

    def _fetch(self, client: httpx.Client, url: str) -> Kept:
        """A document of now: conditionally where an earlier one is kept, the rest where one broke off."""
        import httpx

        before = self.archive.get(url)
        headers: dict[str, str] = {}
        if before is not None and before.etag:
            headers["If-None-Match"] = before.etag
        if before is not None and before.last_modified:
            headers["If-Modified-Since"] = before.last_modified
        part = self.archive.part(url)
        wait, said = self._polite.first_wait_s, ""
        for attempt in range(self._polite.attempts):
            if attempt:
                time.sleep(wait)
                wait = min(wait * 2, LONGEST_WAIT_S)
            self._pacer.wait()
            try:
                with client.stream("GET", url, headers={**headers, **resuming(part)}) as answer:
                    content = receive(answer, part, url)
            except httpx.HTTPError as error:
                said = f"{type(error).__name__} {error}".strip()
                continue
            if content is None:
                said = "a range that wasn't asked for"
                continue
            throttled = any(mark in content[:20_000].lower() for mark in THROTTLE)
            if answer.status_code == 304 and before is not None:
                return before
            if answer.status_code in (200, 206) and not throttled and content:
                return self.archive.put(url, content, answer.headers)
            if answer.status_code in (404, 410):
                raise EdgarMissingError(f"{url}: EDGAR has no such document")
            said = "a throttle page" if throttled else f"status {answer.status_code}"
            if not throttled and answer.status_code not in (*RETRIED, 200):
                raise EdgarError(f"{url}: EDGAR answered with {said}")
            told = answer.headers.get("retry-after", "")
            wait = min(max(wait, float(told)), LONGEST_WAIT_S) if told.isdigit() else wait
        raise EdgarThrottledError(
            f"{url}: EDGAR answered {self._polite.attempts} times with {said}; wait ten minutes and start again, "
            "what was fetched is kept"
        )

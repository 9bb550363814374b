"""A local EDGAR: an index, a list of tickers and submissions, answered as EDGAR does, misbehaving on demand."""

from __future__ import annotations

import gzip
import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

THROTTLE_PAGE = (
    b"<html><head><title>SEC.gov | Request Rate Threshold Exceeded</title></head><body>"
    b"<h1>Your Request Originates from an Undeclared Automated Tool</h1></body></html>"
)


@dataclass
class Filing:
    """One filing of a day, as its submission tells it."""

    cik: str
    company: str
    form: str
    filed: str
    accession: str
    body: str
    period: str = "20231231"
    fiscal_year_end: str = "1231"

    @property
    def path(self) -> str:
        """Its address below ``Archives/``."""
        return f"edgar/data/{int(self.cik)}/{self.accession}.txt"

    @property
    def submission(self) -> bytes:
        """The full-text submission."""
        return (
            f"<SEC-DOCUMENT>{self.accession}.txt : {self.filed}\n<SEC-HEADER>{self.accession}.hdr.sgml : {self.filed}\n"
            f"ACCESSION NUMBER:\t\t{self.accession}\nCONFORMED SUBMISSION TYPE:\t{self.form}\n"
            f"PUBLIC DOCUMENT COUNT:\t\t2\nCONFORMED PERIOD OF REPORT:\t{self.period}\n"
            f"FILED AS OF DATE:\t\t{self.filed}\n\nFILER:\n\n\tCOMPANY DATA:\n"
            f"\t\tCOMPANY CONFORMED NAME:\t\t\t{self.company}\n\t\tCENTRAL INDEX KEY:\t\t\t{self.cik}\n"
            f"\t\tFISCAL YEAR END:\t\t\t{self.fiscal_year_end}\n</SEC-HEADER>\n"
            f"<DOCUMENT>\n<TYPE>{self.form}\n<SEQUENCE>1\n<FILENAME>report.htm\n<TEXT>\n{self.body}\n</TEXT>\n</DOCUMENT>\n"
            "<DOCUMENT>\n<TYPE>EX-99\n<SEQUENCE>2\n<FILENAME>ex.htm\n<TEXT>\nan exhibit\n</TEXT>\n</DOCUMENT>\n"
            "</SEC-DOCUMENT>\n"
        ).encode()


@dataclass
class EdgarServer:
    """What the server has, how it misbehaves, and what it was asked."""

    filings: list[Filing] = field(default_factory=list)
    tickers: list[tuple[str, str]] = field(default_factory=list)
    listed_under: dict[str, list[str]] = field(default_factory=dict)
    """Further CIKs under which an accession stands in the index."""
    throttled: int = 0
    """How many of the next requests get the throttle page; -1 for all."""
    throttle_status: int = 403
    retry_after: str | None = None
    cut_off: int = 0
    """How many of the next answers break off."""
    zipped: bool = False
    """Whether answers are sent in gzip."""
    shifted: bool = False
    """Whether a rest that is asked for begins elsewhere."""
    submissions: dict[str, dict[str, object]] = field(default_factory=dict)
    """What is told of filers, by CIK of ten digits."""
    url: str = ""
    asked: list[tuple[float, str, str]] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    """Which rests were asked for."""
    statuses: Counter[int] = field(default_factory=Counter)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, path: str) -> bytes | None:
        """The document at a path, or None."""
        if path == "/files/company_tickers.json":
            rows = {
                str(i): {"cik_str": int(cik), "ticker": ticker, "title": ticker}
                for i, (ticker, cik) in enumerate(self.tickers)
            }
            return json.dumps(rows).encode()
        for cik, told in self.submissions.items():
            if path == f"/submissions/CIK{cik}.json":
                return json.dumps(told).encode()
        for filing in self.filings:
            if path == f"/Archives/{filing.path}":
                return filing.submission
        days = {filing.filed for filing in self.filings}
        if path.endswith("/index.json"):
            quarter = path.rpartition("/")[0].rpartition("/Archives/edgar/daily-index/")[2]
            there = sorted(day for day in days if f"{day[:4]}/QTR{(int(day[4:6]) - 1) // 3 + 1}" == quarter)
            items = [{"name": f"master.{day}.idx", "type": "file", "size": "1 KB"} for day in there]
            return json.dumps({"directory": {"item": items}}).encode() if there else None
        for day in days:
            if path.endswith(f"/master.{day}.idx"):
                return self.index(day)
        return None

    def index(self, day: str) -> bytes:
        """A day's ``master.idx``."""
        lines = [
            "Description:           Daily Index of EDGAR Dissemination Feed",
            "",
            "CIK|Company Name|Form Type|Date Filed|File Name",
            "-" * 80,
        ]
        lines += [
            f"{int(cik)}|{filing.company}|{filing.form}|{filing.filed}|edgar/data/{int(cik)}/{filing.accession}.txt"
            for filing in self.filings
            if filing.filed == day
            for cik in [filing.cik, *self.listed_under.get(filing.accession, [])]
        ]
        return ("\n".join(lines) + "\n").encode()


@contextmanager
def serve(state: EdgarServer) -> Iterator[EdgarServer]:
    """Run the server."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            with state.lock:
                state.asked.append((time.time(), self.path, self.headers.get("User-Agent", "")))
                throttle = state.throttled != 0
                state.throttled -= state.throttled > 0
                cut = not throttle and state.cut_off > 0
                state.cut_off -= cut
            if throttle:
                self._send(state.throttle_status, THROTTLE_PAGE, {"Retry-After": state.retry_after})
                return
            content = state.answer(self.path)
            if content is None:
                self._send(404, b"not found", {})
                return
            tag = '"' + hashlib.sha256(content).hexdigest()[:16] + '"'
            if self.headers.get("If-None-Match") == tag:
                self._send(304, b"", {"ETag": tag})
                return
            named: dict[str, str | None] = {"ETag": tag}
            if state.zipped:
                content = gzip.compress(content, mtime=0)
                named["Content-Encoding"] = "gzip"
            wanted = self.headers.get("Range")
            if wanted is not None:
                with state.lock:
                    state.ranges.append(wanted)
                if self.headers.get("If-Range") == tag:
                    start = int(wanted.removeprefix("bytes=").rstrip("-")) - 10 * state.shifted
                    whole = len(content)
                    named["Content-Range"] = f"bytes {start}-{whole - 1}/{whole}"
                    self._send(206, content[start:], named, cut=cut)
                    return
            self._send(200, content, named, cut=cut)

        def _send(
            self, status: int, content: bytes, headers: dict[str, str | None], *, cut: bool = False
        ) -> None:
            with state.lock:
                state.statuses[status] += 1
            self.send_response(status)
            for name, value in headers.items():
                if value is not None:
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content[: len(content) // 2] if cut else content)
            if cut:
                self.close_connection = True

        def log_message(self, format: str, *arguments: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    state.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def report(company: str, year: int, revenue: int) -> str:
    """A small 10-K in HTML."""
    return (
        "<html><body><p>FORM 10-K</p>"
        f"<p>For the fiscal year ended December 31, {year}</p><p>{company}</p>"
        "<p>(Exact name of registrant as specified in its charter)</p>"
        '<hr style="page-break-after:always"/><p>Item 1. Business</p><p>We make things.</p>'
        '<hr style="page-break-after:always"/><p>Item 8. Financial Statements</p><table>'
        f"<tr><td>Net revenue</td><td>$</td><td>{revenue:,}</td></tr>"
        "<tr><td>Net loss</td><td>$</td><td>(1,234</td><td>)</td></tr></table></body></html>"
    )

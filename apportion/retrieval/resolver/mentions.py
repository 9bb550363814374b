"""The companies that a question names: by ticker, name, former name, brand, or an abbreviation."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from apportion.retrieval.resolver.catalogue import Catalogue, Filer
from apportion.retrieval.resolver.naming import COMMON, LINKS, Word, joined, words_in
from apportion.tickers import ticker_key

LONGEST = 7
"""Words of the longest name looked for."""

TICKER = re.compile(r"[A-Z]{1,5}(?:[.-][A-Z])?")
NOT_TICKERS = frozenset(
    "A ABOUT AGM AI ALL AM AN AND ANY AP AR ARE AS AT BE BUT BY CAGR CAN CAPEX CCC CEO CFO COGS COO COVID CPI CTO "
    "DCF DIO DO DPO DPS DSO EBIT EBITA EBITDA EBITDAR EBT EPS ESG EU EUR EV FASB FCF FDA FOR FOREX FROM FTE FX FY GAAP "
    "GAO GBP GDP GM H HAS HI HOW HQ HR I IFRS IN INC IP IPO IRS IS IT ITS JV K KPI KPIS LIFO LLC LOW LTD M MD "
    "MDA MRQ NA NAV NCI NEW NO NON NOPAT NOT NOW NPV NYSE OF OK ON ONE OPEX OR OTC OUT PE PER PLC PP PPE PPNE PR PSU "
    "Q QOQ R RD ROA ROCE ROE ROI ROIC ROU RSU SBC SEC SEE SG SGA SGNA SO SOFR SOX SPAC SWOT TAX TBD THE TO TTM TV UK "
    "UP US USA USD VAR VAT VIE VS WACC WAS WE WHAT WHO WHY YOY YTD YTM LIBOR ASC ASU NASDAQ COST KEY REAL BEST".split()
)
"""Capital words that are rarely meant as tickers; with a mark (``$``, brackets, an exchange) they are."""

_MARKED = re.compile(
    r"(?:\$|\((?:NYSE|NASDAQ|Nasdaq|AMEX)\s*:\s*|\b(?:NYSE|NASDAQ|Nasdaq)\s*:\s*|\bticker(?:\s+symbol)?\s+|\()$"
)


@dataclass(frozen=True)
class Mention:
    """One company named.

    ``kind`` is how: ``exact`` (ticker), ``filename``, ``alias``, ``name``. ``filers`` are the filers it fits; none
    where the company is known but has no filing. ``label`` is its ticker, else its name.
    """

    kind: str
    filers: tuple[Filer, ...]
    label: str
    start: int


@dataclass(frozen=True)
class Mentions:
    """All companies named, and the abbreviations that nothing tells the meaning of, with the filers they might mean."""

    found: tuple[Mention, ...]
    ambiguous: tuple[tuple[str, tuple[Filer, ...]], ...]


def mentions_in(question: str, catalogue: Catalogue) -> Mentions:
    """Find the companies of a question."""
    words = words_in(question)
    # Where nothing is written with capitals, capitals tell nothing.
    plain = question == question.lower() or question == question.upper()
    found: list[Mention] = []
    unclear: list[tuple[str, tuple[Filer, ...]]] = []
    taken: set[int] = set()
    for size in range(min(LONGEST, len(words)), 0, -1):
        for start in range(len(words) - size + 1):
            places = range(start, start + size)
            if not taken.isdisjoint(places):
                continue
            mention = _name(words[start : start + size], question, catalogue, plain)
            if mention is not None:
                found.append(mention)
                taken.update(places)
    for place, word in enumerate(words):
        if place in taken or (plain and question != question.upper()):
            continue
        marked = _MARKED.search(question[: word.start]) is not None
        ticker = _ticker(word, marked, catalogue, shouting=plain)
        if isinstance(ticker, Mention):
            found.append(ticker)
        elif ticker is not None:
            unclear.append(ticker)
    return Mentions(tuple(_once(sorted(found, key=lambda one: one.start))), tuple(unclear))


def _name(words: Sequence[Word], question: str, catalogue: Catalogue, plain: bool) -> Mention | None:
    """The company that some words name, written as a name is."""
    if words[0].key in LINKS or words[-1].key in LINKS or not words[0].key:
        return None
    key = joined([part.key for part in words])
    if len(key) < 2:
        return None
    filers = catalogue.by_key.get(key, [])
    unlisted = None if filers else catalogue.unlisted_names.get(key)
    if not filers and unlisted is None:
        return None
    if not _written_as_name(words, key, question, plain):
        return None
    if len(words) == 1 and TICKER.fullmatch(words[0].written) and words[0].written in NOT_TICKERS:
        return None
    if unlisted is not None:
        company = catalogue.known.companies[unlisted]
        filed = tuple(
            dict.fromkeys(f for ticker in company.tickers for f in catalogue.by_former.get(ticker, ()))
        )
        label = next(iter(company.tickers), company.name)
        return Mention("alias" if filed else "name", _unique(filed), label, words[0].start)
    kinds = {kind for _, kind in filers}
    kind: str = next(kind for kind in ("name", "alias", "filename") if kind in kinds)
    # What is a ticker as well, such as AMD or AES, is an exact name.
    if len(words) == 1 and _own_ticker(words[0].written, [filer for filer, _ in filers]):
        kind = "exact"
    first = filers[0][0]
    return Mention(
        kind, _unique([filer for filer, _ in filers]), first.ticker or first.company or key, words[0].start
    )


def _own_ticker(written: str, filers: Sequence[Filer]) -> bool:
    ticker = ticker_key(written)
    return TICKER.fullmatch(written) is not None and any(
        ticker in filer.tickers or ticker in filer.known_tickers for filer in filers
    )


def _written_as_name(words: Sequence[Word], key: str, question: str, plain: bool) -> bool:
    first = words[0]
    if plain:
        return key not in COMMON and len(key) >= 3
    capital = any(character.isupper() or character.isdigit() for character in first.written)
    if not capital:
        return False
    if len(words) > 1:
        return True
    if key in COMMON and first.start == _start(question) and not first.possessive:
        return False
    return not (len(key) <= 2 and not first.written.isupper() and not any(c.isdigit() for c in key))


def _start(question: str) -> int:
    return len(question) - len(question.lstrip(" \"'“‘("))


def _ticker(
    word: Word, marked: bool, catalogue: Catalogue, *, shouting: bool
) -> Mention | tuple[str, tuple[Filer, ...]] | None:
    """The company of a ticker, or an abbreviation that might be of several."""
    written = word.written
    # "GM's revenue" is about a company, whatever "GM" may stand for elsewhere.
    owner = word.possessive and len(written) > 1 and ticker_key(written) in catalogue.by_ticker
    named = marked or owner or (written not in NOT_TICKERS and len(written) > 1)
    if not TICKER.fullmatch(written) or not named:
        return None
    if shouting and not marked:
        return None
    ticker = ticker_key(written)
    own = catalogue.by_ticker.get(ticker) or _other_class(ticker, catalogue)
    if own:
        return Mention("exact", _unique(own), ticker, word.start)
    known = catalogue.by_known_ticker.get(ticker)
    meanings = catalogue.known.ambiguous.get(ticker)
    if known and not meanings:
        return Mention("exact", _unique(known), ticker, word.start)
    former = catalogue.by_former.get(ticker)
    if former and (not meanings or marked):
        filers = _unique(former)
        return Mention("alias", filers, filers[0].ticker or ticker, word.start)
    if meanings and not marked:
        keys = [joined([part.key for part in words_in(meaning)]) for meaning in meanings]
        possible = [filer for key in keys for filer, _ in catalogue.by_key.get(key, ())]
        return ticker, _unique([*possible, *(known or ()), *(former or ())])
    if known:
        return Mention("exact", _unique(known), ticker, word.start)
    if ticker in catalogue.unlisted_tickers or marked or _was_ticker(ticker, catalogue):
        return Mention("exact", (), ticker, word.start) if marked is False or _plausible(ticker) else None
    if len(ticker) >= 3:
        spelt = [filer for filer in catalogue.filers if _initials(filer) == ticker]
        if len(spelt) > 1:
            return ticker, _unique(spelt)
        if spelt:
            return Mention("alias", tuple(spelt), spelt[0].ticker or ticker, word.start)
    return None


def _plausible(ticker: str) -> bool:
    """Whether a marked word is a ticker rather than an abbreviation set in brackets."""
    return ticker not in NOT_TICKERS


def _was_ticker(ticker: str, catalogue: Catalogue) -> bool:
    return any(renaming.former == ticker for renaming in catalogue.known.history)


def _other_class(ticker: str, catalogue: Catalogue) -> list[Filer]:
    """The filer of another class of a share: GOOGL's where GOOG is named."""
    return [filer for filer in catalogue.by_known_ticker.get(ticker, []) if filer.tickers]


def _initials(filer: Filer) -> str:
    words = [word.key for word in words_in(filer.company or "") if word.key and word.key not in LINKS]
    return "".join(word[0] for word in words).upper() if len(words) >= 3 else ""


def _unique(filers: Sequence[Filer]) -> tuple[Filer, ...]:
    return tuple({filer.number: filer for filer in filers}.values())


def _once(mentions: Sequence[Mention]) -> list[Mention]:
    """Each company once, by the surest of its mentions."""
    order = ("exact", "name", "alias", "filename")
    best: dict[object, Mention] = {}
    for mention in mentions:
        whose: object = tuple(filer.number for filer in mention.filers) or mention.label
        held = best.get(whose)
        if held is None or order.index(mention.kind) < order.index(held.kind):
            best[whose] = (
                mention if held is None else Mention(mention.kind, mention.filers, mention.label, held.start)
            )
    return list(best.values())

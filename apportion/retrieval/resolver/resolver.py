"""From a question to the filings it is about, without a model and without their text.

Document-routed retrieval, sections 4.2 and 7.3, with the extensions that its error analysis asks for: a dated table of
tickers, names beside tickers, abbreviations that are not guessed at, and companies out of the corpus told apart from
questions that name none.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apportion.retrieval.resolver.catalogue import Catalogue, Document, Filer
from apportion.retrieval.resolver.choosing import Choice, choose
from apportion.retrieval.resolver.mentions import Mention, mentions_in
from apportion.retrieval.resolver.periods import Period, Timing, timing_of
from apportion.retrieval.resolver.tables import KnownCompanies, known_companies

RESOLVED = ("exact", "filename", "alias", "name")
NO_TICKER, AMBIGUOUS, NO_FILING = "fallback_no_ticker", "fallback_ambiguous", "fallback_no_filing"
STATUSES = (*RESOLVED, NO_TICKER, AMBIGUOUS, NO_FILING)

TRUST: Mapping[str, float] = {"exact": 1.0, "name": 0.95, "alias": 0.9, "filename": 0.85}
"""Confidence in a company by how it was named."""

THRESHOLD = 0.5
"""Below it the scope is widened to all candidates."""


@dataclass(frozen=True)
class Resolution:
    """What a question resolved to.

    ``filing_ids`` are empty for every fallback; ``candidates`` are the filings that were possible; ``missing`` names
    companies without a fitting filing; ``confidence`` lies in [0, 1].
    """

    status: str
    filing_ids: tuple[str, ...] = ()
    candidates: tuple[str, ...] = ()
    tickers: tuple[str, ...] = ()
    fiscal_years: tuple[int, ...] = ()
    confidence: float = 0.0
    missing: tuple[str, ...] = ()
    companies: tuple[tuple[str, ...], ...] = ()
    """The filings of each company resolved, in the order in which the question names them."""

    def scope(self, threshold: float = THRESHOLD) -> tuple[str, ...] | None:
        """The filings to search, None for all of them."""
        if self.filing_ids and self.confidence >= threshold:
            return self.filing_ids
        return tuple(dict.fromkeys((*self.filing_ids, *self.candidates))) or None


class Resolver:
    """Resolves questions over the filings of one corpus.

    Args:
        filings: rows of `filings`; a question's own ``filing_id`` is never among the resolver's inputs.
        known: the tables of companies; the shipped ones unless given.
        default_year: used for a company only where the corpus has no filing of the years named, or none are.
    """

    def __init__(
        self,
        filings: Iterable[Mapping[str, Any]],
        known: KnownCompanies | None = None,
        default_year: int | None = None,
    ) -> None:
        self.catalogue = Catalogue(filings, known if known is not None else known_companies())
        self.default_year = default_year

    def resolve(self, question: str, extracted: Mapping[str, Any] | None = None) -> Resolution:
        """Resolve one question.

        Args:
            question: its text.
            extracted: ``tickers`` and ``years`` that a model read from it, joined with what is found here.
        """
        timing = timing_of(question)
        named = mentions_in(question, self.catalogue)
        mentions = list(named.found)
        if extracted is not None:
            timing = _with_years(timing, extracted.get("years", ()))
            mentions = self._with_tickers(mentions, extracted.get("tickers", ()))
        years = tuple(timing.years)
        filed = [mention for mention in mentions if mention.filers]
        missing = tuple(mention.label for mention in mentions if not mention.filers)
        tickers = tuple(mention.label for mention in mentions)
        if not filed:
            if named.ambiguous:
                possible = [filer for _, filers in named.ambiguous for filer in filers]
                return Resolution(AMBIGUOUS, (), _ids(_all(possible)), (), years, 0.0, missing)
            status = NO_FILING if missing else NO_TICKER
            return Resolution(status, (), (), tickers, years, 0.0, missing)
        return self._choose(filed, tickers, missing, timing, years)

    def filings_of(self, labels: Iterable[str]) -> frozenset[str]:
        """All filings of the companies that a resolution names, by their tickers or names."""
        wanted = set(labels)
        return frozenset(
            document.filing_id
            for filer in self.catalogue.filers
            if wanted & {filer.ticker, filer.company, *filer.tickers, *filer.known_tickers}
            for document in filer.documents
        )

    def tickers(self) -> dict[str, str]:
        """The ticker of each filing whose filer has one that is known."""
        return {
            document.filing_id: filer.ticker
            for filer in self.catalogue.filers
            if filer.ticker is not None
            for document in filer.documents
        }

    def _choose(
        self,
        filed: Sequence[Mention],
        tickers: tuple[str, ...],
        missing: tuple[str, ...],
        timing: Timing,
        years: tuple[int, ...],
    ) -> Resolution:
        choices: list[tuple[Mention, Choice]] = []
        for mention in filed:
            if len(mention.filers) > 1:
                fitting = [
                    choice
                    for filer in mention.filers
                    if (choice := choose(filer.documents, timing, self.default_year)).outcome == "found"
                ]
                if len(fitting) == 1:
                    choices.append((mention, fitting[0]))
                else:
                    choices.append((mention, Choice("ambiguous", tuple(_all(mention.filers)))))
            else:
                choices.append((mention, choose(mention.filers[0].documents, timing, self.default_year)))
        found = [(mention, choice) for mention, choice in choices if choice.outcome == "found"]
        open_ones = [choice for _, choice in choices if choice.outcome == "ambiguous"]
        everything = _ids(document for _, choice in choices for document in choice.documents)
        if open_ones:
            return Resolution(AMBIGUOUS, (), everything, tickers, years, 0.3, missing)
        missing += tuple(mention.label for mention, choice in choices if choice.outcome == "no_filing")
        if not found:
            return Resolution(NO_FILING, (), everything, tickers, years, 0.3, missing)
        kinds = [mention.kind for mention, _ in found]
        status = min(kinds, key=lambda kind: TRUST[kind])
        confidence = min(TRUST[mention.kind] * choice.trust for mention, choice in found)
        if missing:
            confidence *= 0.9
        ids = _ids(document for _, choice in found for document in choice.documents)
        per_company = tuple(_ids(choice.documents) for _, choice in found)
        return Resolution(status, ids, ids, tickers, years, round(confidence, 4), missing, per_company)

    def _with_tickers(self, mentions: list[Mention], tickers: Iterable[Any]) -> list[Mention]:
        """The mentions, and those companies that a model named by ticker and the words didn't."""
        held = {filer.number for mention in mentions for filer in mention.filers}
        joined = list(mentions)
        for ticker in tickers:
            if not isinstance(ticker, str) or not ticker.strip():
                continue
            read = mentions_in(f"${ticker.strip().upper()}", self.catalogue).found
            for mention in read:
                if not mention.filers or held.isdisjoint(filer.number for filer in mention.filers):
                    if mention.label not in {one.label for one in joined}:
                        joined.append(mention)
                    held.update(filer.number for filer in mention.filers)
        # Words that say what is in the corpus stand before a model's idea of what isn't.
        return joined


def _with_years(timing: Timing, years: Iterable[Any]) -> Timing:
    read = [
        Period(int(year))
        for year in years
        if isinstance(year, int | str) and str(year).isdigit() and 1900 <= int(year) <= 2200
    ]
    if timing.periods or timing.days:
        return timing
    return Timing(tuple(read), timing.days, timing.forms, timing.forward)


def _all(filers: Iterable[Filer]) -> list[Document]:
    return [document for filer in filers for document in filer.documents]


def _ids(documents: Iterable[Document]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(document.filing_id for document in documents))

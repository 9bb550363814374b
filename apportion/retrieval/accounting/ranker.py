"""The retriever ``accounting``: signals of each page, fused with fixed weights, and the first five chosen as a set.

The weights are set by hand, not learnt: what each signal adds is measured by leaving it out
(``docs/accounting-retrieval.md``).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from apportion.retrieval.accounting.covering import order
from apportion.retrieval.accounting.signals import Signals, signals_of
from apportion.retrieval.accounting.wants import wants_of
from apportion.retrieval.fulltext import FullText
from apportion.retrieval.page_shard import PageShard
from apportion.retrieval.ranking import Ranked, Scope, best
from apportion.retrieval.shards import IndexFolder, TermShard

WEIGHTS: Mapping[str, float] = {
    "question": 0.3,
    "expansion": 0.8,
    "phrases": 0.7,
    "tfidf": 0.4,
    "page_kind": 4.4,
    "line_items": 1.3,
    "period": 0.15,
    "figures": 0.1,
    "neighbours": 0.2,
}
"""Weights of the untrained fusion."""

FILINGS_SEARCHED = 5
"""Filings of a wider scope whose pages are ranked for a question that names none."""

FILINGS_DEPTH = 200
PAGES_OF_FILING = 3


@dataclass(frozen=True)
class Explained:
    """A ranked page with why it stands where it does.

    Attributes:
        page: the page and its score, the sum of its shares.
        kind: what it is.
        shares: by signal, its weight times its value.
        items: wanted line items that its rows print.
    """

    page: Ranked
    kind: str
    shares: Mapping[str, float]
    items: tuple[str, ...]


@dataclass
class Accounting:
    """Ranks pages by what an analyst knows of statements, sections and periods."""

    index: IndexFolder
    scope: Scope
    weights: Mapping[str, float] = field(default_factory=lambda: WEIGHTS)
    name: str = "accounting"
    signals: dict[tuple[str, str], Signals] | None = None
    """Signals by filing and question that rankers with other weights share; None keeps none."""

    def rank(self, questions: Sequence[str], filings: Sequence[str | None], k: int) -> list[list[Ranked]]:
        """As `Ranker.rank`. Scores are at most the sum of the weights.

        Statistics are each filing's own. A question without a filing is searched by full text first; the pages of the
        filings found stand by their score within their filing times the filing's share.
        """
        return [[one.page for one in explained] for explained in self.explain(questions, filings, k)]

    def explain(
        self, questions: Sequence[str], filings: Sequence[str | None], k: int
    ) -> list[list[Explained]]:
        """As :meth:`rank`, with what speaks for each page."""
        open_places = [place for place, filing in enumerate(filings) if filing is None]
        shares = self._filing_shares([questions[place] for place in open_places])
        found: list[list[Explained]] = [[] for _ in questions]
        asked: dict[str, list[tuple[int, float | None]]] = {}
        for place, filing in enumerate(filings):
            if filing is not None and filing in self.scope:
                asked.setdefault(filing, []).append((place, None))
        for place, of_filings in zip(open_places, shares, strict=True):
            for filing, known in of_filings.items():
                asked.setdefault(filing, []).append((place, known))
        for filing, wanted in sorted(asked.items()):
            shard, terms = self.index.accounting(filing), self.index.terms(filing)
            try:
                for place, share in wanted:
                    found[place] += self._within(filing, shard, terms, questions[place], share, k)
            finally:
                shard.close()
        return [
            explained if filings[place] is not None else _best(explained, k)
            for place, explained in enumerate(found)
        ]

    def _within(
        self, filing: str, shard: PageShard, terms: TermShard, question: str, share: float | None, k: int
    ) -> list[Explained]:
        wants = wants_of(question)
        signals = None if self.signals is None else self.signals.get((filing, question))
        if signals is None:
            signals = signals_of(wants, shard, terms)
            if self.signals is not None:
                self.signals[filing, question] = signals
        scores = fuse(signals, self.weights)
        chosen = self.scope[filing]
        if chosen is not None:
            inside = np.isin(shard.page_numbers, np.asarray(chosen, np.int64))
            scores = np.where(inside, scores, -np.inf)
        places = [place for place in order(scores, wants, signals) if np.isfinite(scores[place])][:k]
        largest = max((float(scores[place]) for place in places), default=0.0) or 1.0
        explained: list[Explained] = []
        for rank, place in enumerate(places):
            # The first pages are a set: their order is not that of their scores, and scores must not rise with rank.
            score = float(scores[place]) if rank == 0 else min(float(scores[place]), explained[-1].page.score)
            explained.append(
                Explained(
                    Ranked(filing, int(shard.page_numbers[place]), score),
                    signals.kinds[place],
                    {
                        name: self.weights.get(name, 0.0) * float(values[place])
                        for name, values in signals.values.items()
                    },
                    tuple(item for item, certainty in signals.rows.items() if certainty[place] > 0),
                )
            )
        if share is None:
            return explained
        return [
            Explained(
                Ranked(one.page.filing_id, one.page.number, share * one.page.score / largest),
                one.kind,
                one.shares,
                one.items,
            )
            for one in explained
        ]

    def _filing_shares(self, questions: Sequence[str]) -> list[dict[str, float]]:
        """For each question the filings to look into, with the full text's score of each by the best of all.

        A filing's score is the sum of its best pages': one page alone says little of whose it is.
        """
        if not questions:
            return []
        cores = [wants_of(question).core for question in questions]
        rankings = FullText(self.index, self.scope).rank(cores, [None] * len(cores), FILINGS_DEPTH)
        shares = []
        for ranking in rankings:
            pages: dict[str, list[float]] = {}
            for page in ranking:
                pages.setdefault(page.filing_id, []).append(page.score)
            sums = {filing: sum(scores[:PAGES_OF_FILING]) for filing, scores in pages.items()}
            largest = max(sums.values(), default=0.0) or 1.0
            kept = sorted(sums.items(), key=lambda pair: (-pair[1], pair[0]))[:FILINGS_SEARCHED]
            shares.append({filing: score / largest for filing, score in kept})
        return shares


def fuse(signals: Signals, weights: Mapping[str, float]) -> npt.NDArray[np.float64]:
    """The weighted sum of the signals, an array (pages,)."""
    scores = np.zeros(len(signals.kinds))
    for name, values in signals.values.items():
        scores += weights.get(name, 0.0) * values
    return scores


def _best(explained: Sequence[Explained], k: int) -> list[Explained]:
    by_page = {(one.page.filing_id, one.page.number): one for one in explained}
    return [by_page[page.filing_id, page.number] for page in best((one.page for one in explained), k)]

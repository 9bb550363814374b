"""What speaks for each page of a filing as the answer to a question: one array of values in [0, 1] a signal."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from apportion.corpus.page_reading import STATEMENTS
from apportion.retrieval.accounting.wants import NAMED, UNLIKELY, Wants
from apportion.retrieval.page_shard import PageShard, inverse_frequencies
from apportion.retrieval.shards import TermShard
from apportion.retrieval.terms import TermCounts, character_counts, word_counts
from apportion.retrieval.tfidf import CHARACTER_WEIGHT, WORD_WEIGHT

Numbers = npt.NDArray[np.float64]

SIGNALS = (
    "question",
    "expansion",
    "phrases",
    "tfidf",
    "page_kind",
    "line_items",
    "period",
    "figures",
    "neighbours",
)
"""Full text for the question's words, for the words and the phrases that filings use for it, hybrid TF-IDF, kind of
page, line items that rows print, years that head columns, share of figures, and full text of the pages beside."""

COLUMNS = {"page_kind": "kind", "line_items": "items"}
"""Signals whose column in tables has another name, since their own names a fact about the page."""

SIGNAL_COLUMNS = tuple(COLUMNS.get(name, name) for name in SIGNALS)

DENSE = 0.35
"""Share of figures from which a page is all table."""

CAUSE_ROWS = 0.4
"""Weight of printed line items where the question is what moved them."""

STOP_WORDS = frozenset(
    "the of a an and or for in on to from by at as is was were are be been has have had does do did what which how much"
    " many with that this it its if any their there than then not between using use used based data company would like"
    " question please year fiscal fy usd most primarily".split()
)
_WORD = re.compile(r"[^\W_]+")
COUNT = {"words": word_counts, "characters": character_counts}
WEIGHT = {"words": WORD_WEIGHT, "characters": CHARACTER_WEIGHT}


@dataclass(frozen=True)
class Signals:
    """The signals of one question over one filing's pages.

    Attributes:
        values: by signal, an array (pages,) of values in [0, 1].
        rows: by wanted line item, how surely each page prints it, in [0, 1].
        kinds: of the pages.
        strengths: how surely each is a primary statement.
    """

    values: Mapping[str, Numbers]
    rows: Mapping[str, Numbers]
    kinds: Sequence[str]
    strengths: Numbers


def signals_of(wants: Wants, shard: PageShard, terms: TermShard) -> Signals:
    """Read the signals of one question off a filing's shards."""
    question = _words(wants.core)
    expansion = [word for term in wants.terms for word in _words(term) if word not in question]
    words, expanded = shard.bm25(question), shard.bm25(expansion)
    values = {
        "question": _to_one(words),
        "expansion": _to_one(expanded),
        "phrases": _to_one(shard.bm25(wants.terms)),
        "tfidf": _to_one(tfidf(wants.core, shard, terms)),
    }
    strengths = np.array([profile.strength for profile in shard.profiles])
    kinds = [profile.kind for profile in shard.profiles]
    likely = np.array([wants.pages.get(kind, UNLIKELY) for kind in kinds])
    own = np.isin(kinds, STATEMENTS)
    values["page_kind"] = likely * np.where(own, 0.4 + 0.6 * strengths, 1.0) / NAMED
    rows = shard.rows(wants.items)
    printed = sum(rows.values(), np.zeros(len(kinds))) / max(len(rows), 1)
    values["line_items"] = printed * (CAUSE_ROWS if wants.cause else 1.0)
    values["period"] = np.array(
        [
            sum(year in profile.fiscal_years for year in wants.years) / max(len(wants.years), 1)
            for profile in shard.profiles
        ]
    )
    figures = np.minimum(1.0, np.array([profile.figures for profile in shard.profiles]) / DENSE)
    values["figures"] = figures if wants.tabular else 1.0 - figures if wants.cause else np.zeros(len(kinds))
    values["neighbours"] = _to_one(_beside(values["question"] + values["expansion"]))
    return Signals(values, rows, kinds, strengths)


def tfidf(question: str, shard: PageShard, terms: TermShard) -> Numbers:
    """Hybrid TF-IDF of each page as :class:`apportion.retrieval.tfidf.HybridTfidf` over the filing alone, in [0, 1]."""
    scores = np.zeros(len(shard.page_numbers))
    for name, counts in terms.families.items():
        query = COUNT[name]([question])
        scores += WEIGHT[name] * _cosines(query, counts, shard.lengths[name])
    return scores


def _cosines(query: TermCounts, pages: TermCounts, lengths: Numbers) -> Numbers:
    if not len(pages.terms) or not len(query.terms):
        return np.zeros(len(lengths))
    places = np.minimum(np.searchsorted(pages.terms, query.terms), len(pages.terms) - 1)
    there = pages.terms[places] == query.terms
    columns: Any = pages.counts[:, places[there]].tocsc()
    weights = inverse_frequencies(np.diff(columns.indptr), len(lengths))
    asked = (1.0 + np.log(np.asarray(query.counts.todense(), np.float64).ravel()[there])) * weights
    columns = columns.astype(np.float64)
    columns.data = 1.0 + np.log(columns.data)
    length = float(np.sqrt(np.sum(asked**2))) or 1.0
    scores: Numbers = (columns @ (asked * weights)) / lengths / length
    return scores


def _words(text: str) -> list[str]:
    """The distinct words of a text, lower case, without stop words."""
    return list(dict.fromkeys(word for word in _WORD.findall(text.lower()) if word not in STOP_WORDS))


def _to_one(values: Numbers) -> Numbers:
    """Values by the largest of them."""
    largest = values.max(initial=0.0)
    return values / largest if largest > 0 else values


def _beside(values: Numbers) -> Numbers:
    """For each page the sum over the pages before and behind it."""
    beside = np.zeros_like(values)
    beside[1:] += values[:-1]
    beside[:-1] += values[1:]
    return beside

"""Signals of a cheap answer: what its wording, its figures and its fit to the question say of it.

None reads a label, the reference answer or another route's answer. All are counted from texts already at hand, in
under a millisecond an answer; what needs the context is null where no context is known. They are described, with
their cost, in ``docs/benefit-model.md``.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from functools import lru_cache
from typing import Any

from apportion.accounting import METRICS_BY_NAME, mentions
from apportion.answers.numeric import Figure, figures
from apportion.features.wording import (
    APOLOGY,
    ASKS_FOR_MORE,
    CAPITALS,
    CONCEDES,
    CONCLUDES,
    EQUATION,
    HEDGES,
    LIST_ITEM,
    NAME_STARTERS,
    REFUSES,
    RELATIVE_TOLERANCE,
    SENTENCE,
    SUPPOSES,
    WORD,
    YEARS,
    asked_type,
    given_type,
)
from apportion.line_items import ITEMS_BY_NAME

MOST_FIGURES = 60
"""Figures of a text that are compared with one another; a longer list is cut."""

SIGNAL_GROUPS: dict[str, tuple[str, ...]] = {
    "refusal": (
        "refuses",
        "refusal_phrases",
        "refusal_place",
        "refuses_at_end",
        "asks_for_more",
        "apologises",
    ),
    "hedging": ("hedges", "concedes", "supposes", "concludes"),
    "figures": (
        "answer_figures",
        "answer_new_figures",
        "figures_per_word",
        "figures_derived",
        "figures_supported",
        "equations",
        "equations_wrong",
    ),
    "naming": ("other_company", "other_years", "asked_years_missing", "new_names"),
    "type": ("asked_for", "type_mismatch", "operands_needed", "operands_missing"),
    "form": ("answer_words", "answer_sentences", "answer_lists", "answer_repetition", "answer_cut"),
    "overlap": ("asked_terms_echoed", "answer_terms_new", "items_asked", "items_echoed"),
    "consistency": ("sample_agreement",),
    "retrieval": ("unread_score", "unread_coverage"),
    "accounting": (
        "page_kind_wanted",
        "items_printed_cheap",
        "items_printed_deep",
        "statements_missing",
        "period_shown",
    ),
}
"""Names of the signals by kind: what importance is measured over."""

SIGNALS: tuple[str, ...] = tuple(name for names in SIGNAL_GROUPS.values() for name in names)


def answer_signals(
    question: str,
    answer: str | None,
    *,
    company: str | None = None,
    other_companies: Collection[str] = (),
    context: str | None = None,
) -> dict[str, Any]:
    """The signals of one answer, without those of retrieval.

    Args:
        question: its text.
        answer: the cheap answer; None where the route failed, which counts as a refusal without a word.
        company: the company that the question names, where its source says.
        other_companies: other companies that the set's questions are about.
        context: the text that the answer was made from; None where it isn't known.
    """
    said = (answer or "").strip()
    words = [word.lower() for word in WORD.findall(said)]
    count = max(len(words), 1)
    sentences = [part for part in SENTENCE.split(said) if part.strip()]
    asked_words = {word.lower() for word in WORD.findall(question)}
    found = figures(said)[:MOST_FIGURES]
    asked_figures = {figure.value for figure in figures(question)}
    fresh = [figure for figure in found if figure.value not in asked_figures]
    asked_items = _items(question)
    said_items = {mention.name for mention in mentions(said)}
    asked, given = asked_type(question), given_type(said, fresh)
    needed = _operands(asked_items)
    equations = list(EQUATION.finditer(said.replace(",", "")))
    return {
        **_refusal(said, sentences),
        "hedges": len(HEDGES.findall(said)) / count,
        "concedes": len(CONCEDES.findall(said)),
        "supposes": len(SUPPOSES.findall(said)),
        "concludes": bool(CONCLUDES.search(said)),
        "answer_figures": len(found),
        "answer_new_figures": len(fresh),
        "figures_per_word": len(found) / count,
        "figures_derived": _derived_share(fresh),
        "figures_supported": _supported_share(fresh, context),
        "equations": len(equations),
        "equations_wrong": sum(_wrong(match) for match in equations),
        **_naming(question, said, company, other_companies),
        "asked_for": asked,
        "type_mismatch": None if asked == "text" else asked != given,
        "operands_needed": needed,
        "operands_missing": max(needed - len({figure.value for figure in fresh}), 0),
        "answer_words": len(words),
        "answer_sentences": len(sentences),
        "answer_lists": len(LIST_ITEM.findall(said)),
        "answer_repetition": _repetition(words),
        "answer_cut": bool(said) and said[-1] not in ".!?)]}\"'%*" and len(words) > 30,
        "asked_terms_echoed": len(asked_words & set(words)) / max(len(asked_words), 1),
        "answer_terms_new": len(set(words) - asked_words) / max(len(set(words)), 1),
        "items_asked": len(asked_items),
        "items_echoed": len(asked_items & said_items) / len(asked_items) if asked_items else None,
    }


def retrieval_signals(
    scores: Sequence[float],
    depth: int,
    coverage_cheap: float | None,
    coverage_deep: float | None,
) -> dict[str, float | None]:
    """What retrieval says of the pages that the cheap route did not read.

    Args:
        scores: of the ranked pages, best first.
        depth: pages that the cheap route read.
        coverage_cheap, coverage_deep: share of the question's terms in either context.
    """
    unread = scores[depth] / scores[0] if len(scores) > depth and depth > 0 and scores[0] > 0 else None
    return {
        "unread_score": unread,
        "unread_coverage": None
        if coverage_cheap is None or coverage_deep is None
        else coverage_deep - coverage_cheap,
    }


def _refusal(said: str, sentences: Sequence[str]) -> dict[str, Any]:
    phrases = list(REFUSES.finditer(said))
    return {
        "refuses": not said or bool(phrases),
        "refusal_phrases": len(phrases),
        # Where the first one stands: an answer that begins by refusing rarely goes on to answer.
        "refusal_place": phrases[0].start() / len(said) if phrases else (1.0 if said else 0.0),
        "refuses_at_end": bool(sentences) and bool(REFUSES.search(" ".join(sentences[-2:]))),
        "asks_for_more": len(ASKS_FOR_MORE.findall(said)),
        "apologises": bool(APOLOGY.search(said)),
    }


def _naming(question: str, said: str, company: str | None, others: Collection[str]) -> dict[str, Any]:
    asked_years, said_years = YEARS(question), YEARS(said)
    lower, asked = said.lower(), question.lower()
    named = [name for name in _plain_names(frozenset(others)) if name in lower and name not in asked]
    own = (company or "").lower()
    names = {name for name in CAPITALS.findall(said) if name.split()[0] not in NAME_STARTERS}
    return {
        "other_company": any(name not in own and own not in name for name in named) if others else None,
        "other_years": len(said_years - asked_years),
        "asked_years_missing": len(asked_years - said_years) if asked_years else None,
        "new_names": sum(name.lower() not in asked for name in names),
    }


@lru_cache(maxsize=8)
def _plain_names(names: frozenset[str]) -> tuple[str, ...]:
    return tuple(sorted(name.lower() for name in names if len(name) > 3))


@lru_cache(maxsize=4096)
def _items(question: str) -> frozenset[str]:
    """Line items and metrics that a question names; it is asked on many routes, and read once."""
    return frozenset(mention.name for mention in mentions(question))


def _operands(asked: Collection[str]) -> int:
    """Distinct line items that the metrics named in a question are computed from; 0 where it names none."""
    items: set[str] = set()
    for name in asked:
        metric = METRICS_BY_NAME.get(name)
        if metric is not None:
            items |= {word for word in re.findall(r"[a-z_]+", metric.formula) if word in ITEMS_BY_NAME}
    return len(items)


def _close(a: float, b: float) -> bool:
    return abs(a - b) <= RELATIVE_TOLERANCE * max(abs(a), abs(b), 1e-9)


def _derived_share(found: Sequence[Figure]) -> float | None:
    """Share of an answer's figures that follow from two earlier ones by one operation; None without three."""
    values = [figure.value for figure in found][:20]
    if len(values) < 3:
        return None
    follows = sum(
        any(_combine(values[i], values[j], value) for i in range(k) for j in range(k) if i != j)
        for k, value in enumerate(values)
        if k >= 2
    )
    return follows / (len(values) - 2)


def _combine(a: float, b: float, value: float) -> bool:
    if value in (a, b):
        return False
    results = [a + b, a - b, a * b]
    if b:
        results += [a / b, 100 * a / b, 100 * (a - b) / abs(b)]
    return any(_close(result, value) for result in results if result)


def _supported_share(found: Sequence[Figure], context: str | None) -> float | None:
    """Share of an answer's figures that stand in its context, or follow from figures of the answer that do."""
    if context is None or not found:
        return None
    there = {round(abs(figure.value), 4) for figure in figures(context)}
    values = [abs(figure.value) for figure in found][:20]
    standing = [value for value in values if round(value, 4) in there]
    supported = sum(
        round(value, 4) in there
        or any(_combine(a, b, value) for a in standing for b in standing if a is not b)
        for value in values
    )
    return supported / len(values)


def _wrong(match: re.Match[str]) -> bool:
    a, b, result = float(match["a"]), float(match["b"]), float(match["result"])
    sign = match["sign"]
    if sign in "/÷" and b == 0:
        return True
    value = {"+": a + b, "-": a - b, "−": a - b, "*": a * b, "×": a * b}.get(sign)
    if value is None:
        value = a / b
    return not (
        abs(value - result) <= 0.01 * max(abs(value), abs(result)) + 0.006 or _close(100 * value, result)
    )


def _repetition(words: Sequence[str]) -> float:
    """Share of an answer's word triples that stand in it more than once."""
    triples = list(zip(words, words[1:], words[2:], strict=False))
    return 1 - len(set(triples)) / len(triples) if triples else 0.0

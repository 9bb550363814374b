"""Numeric agreement between an answer and a reference answer.

A figure is read with its sign ("(500)" is −500), its scale ("$1.577 billion") and its kind (percent or
not). A figure that states no scale or percent sign takes the unit that the question, else the reference,
states. Where neither settles the unit and the verdict hangs on it, the verdict is ``ambiguous``, neither
right nor wrong. Of an answer that shows its working, the result counts.
"""

from __future__ import annotations

import re
import unicodedata
from dataclasses import dataclass
from typing import Literal

NumericVerdict = Literal["agree", "disagree", "ambiguous", "not_numeric"]

RELATIVE_TOLERANCE = 0.005

_SCALES = {
    "thousand": 1e3, "thousands": 1e3, "k": 1e3,
    "million": 1e6, "millions": 1e6, "mm": 1e6, "mn": 1e6, "mln": 1e6, "m": 1e6,
    "billion": 1e9, "billions": 1e9, "bn": 1e9, "b": 1e9,
    "trillion": 1e12, "trillions": 1e12, "tn": 1e12,
}  # fmt: skip
_PERCENTS = {"%": 1.0, "percent": 1.0, "percentage": 1.0, "pct": 1.0, "bps": 0.01, "bp": 0.01, "basis": 0.01}
_UNIT = "|".join(sorted([*_SCALES, *_PERCENTS], key=len, reverse=True)).replace("%|", "")

_FIGURE = re.compile(
    r"(?<![\w.,])"
    r"(?P<sign>[-+] ?)?(?P<open>\()?\s?(?P<inner>[-+] ?)?"
    r"(?P<currency>(?:US|USD|EUR|GBP)?\s?[$€£]|USD\s|EUR\s|GBP\s)?\s?(?P<late>[-+] ?)?(?P<open2>\()?"
    r"(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"
    rf"\s?(?P<early>%)?\s?(?P<close>\))?(?:\s?(?P<unit>%|(?:{_UNIT})\b))?"
    r"(?:\s?(?:x|times)\b)?(?![\d]|,\d|\.\d|[A-Za-z])",
    re.IGNORECASE,
)
_YEAR_BEFORE = re.compile(
    r"(?:\bFY|\bfiscal(?: year)?|\byears?(?: ended)?"
    r"|\b(?:Q[1-4]|in|of|since|during|from|to|and|through|until|by|for)"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?(?: \d{1,2},)?)\s?'?$",
    re.IGNORECASE,
)
_FORM = re.compile(r"(?:10|8|20|6)-?[KQF]\b")
_DAY_BEFORE = re.compile(
    r"\b(?:january|february|march|april|may|june|july|august|september|october|november|december)\s$", re.I
)
_PERCENT_ASKED = re.compile(r"%|\bpercent|\bpercentage|\bpct\b|\bbasis points?\b", re.IGNORECASE)
_SCALE_ASKED = re.compile(
    r"\b(?:in|USD|US\$|dollars?|\$)\s*(?:units of\s*)?"
    r"(?:US\s|USD\s|U\.S\. )?(?:dollars?\s*)?\(?(thousand|million|billion)s?\b",
    re.IGNORECASE,
)
_RESULT = re.compile(
    r"[=≈]|\b(?:therefore|thus|hence|so,|in conclusion|final answer|the answer is|answer:|equals?\b"
    r"|results? in)",
    re.IGNORECASE,
)
_STATES = re.compile(r"\b(?:is|was|were|are|totall?ed|amounted to|stood at)\b|:", re.IGNORECASE)
_NEGATIVE_WORDS = re.compile(
    r"\b(?:decreas\w*|declin\w*|loss(?:es)?|fell|fall|drop\w*|negative|reduc\w*|down|lower|contract\w*|shr[aiu]nk\w*)\b",
    re.IGNORECASE,
)


@dataclass(frozen=True, slots=True)
class Figure:
    """A number as a text states it.

    ``value`` is in the unit as written (1.577 for "$1.577 billion"); ``scale`` is 1e9 there and null where
    none is stated; ``percent`` says whether a percent sign (or basis points, already turned into percent)
    stands with it; ``decimals`` counts the printed digits after the point; ``start`` and ``end`` are its
    place in the text.
    """

    value: float
    decimals: int
    scale: float | None
    percent: bool
    currency: bool
    start: int
    end: int


def figures(text: str) -> list[Figure]:
    """The figures of ``text`` in order; years, days of a date and ordinals are not figures."""
    text = _plain(text)
    found = []
    for match in _FIGURE.finditer(text):
        figure = _figure(match)
        if not _is_name(text, match, figure):
            found.append(figure)
    return found


def result_figure(answer: str, question: str = "") -> Figure | None:
    """The figure that an answer gives as its result, null if it gives none.

    After the last "=", "therefore" and the like, the first figure; without such a sign, the first figure
    after the first "is", "was" or ":", else the first figure. Figures that the question itself states are
    passed over where there are others.
    """
    text = _plain(answer)
    found = figures(text)
    if not found:
        return None
    asked = {(figure.value, figure.percent) for figure in figures(question)}
    fresh = [figure for figure in found if (figure.value, figure.percent) not in asked] or found
    for sign in reversed(list(_RESULT.finditer(text))):
        after = [figure for figure in fresh if figure.start >= sign.start()]
        if after:
            return after[0]
    states = _STATES.search(text)
    if states:
        after = [figure for figure in fresh if figure.start >= states.end()]
        if after:
            return after[0]
    return fresh[0]


def reference_figure(reference: str | float, question: str = "", *, words: int = 6) -> Figure | None:
    """The figure that a reference answer is; null where it holds several figures or more than ``words``
    words."""
    text = _plain(str(reference))
    found = figures(text)
    if len(found) != 1:
        return None
    rest = text[: found[0].start] + " " + text[found[0].end :]
    return found[0] if len(re.findall(r"[^\W\d_]{2,}", rest)) <= words else None


def numeric_agreement(
    answer: str | float | None, reference: str | float, question: str = ""
) -> NumericVerdict:
    """Whether ``answer`` states the figure that ``reference`` is.

    ``agree``: within 0.5 % of it, or equal at the digits that it prints. ``ambiguous``: agrees in one unit
    and not in another, and neither question nor figures say which is meant. ``not_numeric``: the reference
    isn't one figure. An answer without any figure disagrees.
    """
    gold = reference_figure(reference, question)
    if gold is None:
        return "not_numeric"
    given = None if answer is None else result_figure(str(answer), question)
    if answer is None or given is None:
        return "disagree"
    said = _plain(str(answer))
    if gold.value < 0 < given.value and _NEGATIVE_WORDS.search(said[: given.end + 40]):
        given = Figure(
            -given.value, given.decimals, given.scale, given.percent, given.currency, given.start, given.end
        )
    return compare(given, gold, question)


def compare(given: Figure, gold: Figure, question: str = "") -> NumericVerdict:
    """Verdict on two figures; the unit of either may come from ``question``."""
    percent_asked = _PERCENT_ASKED.search(question) is not None
    scale_asked = asked_scale(question)
    if given.percent or gold.percent or (percent_asked and not given.scale and not gold.scale):
        return _compare_percent(given, gold, percent_asked)
    return _compare_scaled(given, gold, scale_asked)


def asked_scale(question: str) -> float | None:
    """1e3, 1e6 or 1e9 where the question asks for thousands, millions or billions; null where it doesn't
    say."""
    found = _SCALE_ASKED.search(question)
    return _SCALES[found[1].lower()] if found else None


def close(value: float, gold: float, decimals: int) -> bool:
    """Within 0.5 % of ``gold``, or equal to it at ``decimals`` digits after the point."""
    gap = abs(value - gold)
    return gap <= max(RELATIVE_TOLERANCE * abs(gold), 0.5 * 10.0**-decimals * (1 + 1e-9))


def _compare_percent(given: Figure, gold: Figure, asked: bool) -> NumericVerdict:
    if given.percent and gold.percent:
        return "agree" if close(given.value, gold.value, gold.decimals) else "disagree"
    if given.percent:  # gold is a bare number: percent points where the question asks for them, or a fraction
        readings = [(given.value, gold.decimals), (given.value / 100, gold.decimals)]
    else:
        readings = [(given.value, gold.decimals), (given.value * 100, gold.decimals)]
    fits = any(close(value, gold.value, decimals) for value, decimals in readings)
    if not gold.percent and not given.percent:
        literal = close(given.value, gold.value, gold.decimals)
        return "agree" if literal or (fits and asked) else "disagree"
    if not fits:
        return "disagree"
    return "agree" if asked else "ambiguous"


def _compare_scaled(given: Figure, gold: Figure, asked: float | None) -> NumericVerdict:
    gold_scale = gold.scale or asked
    given_scale = given.scale or asked
    if gold_scale and given_scale:
        unit = gold_scale
        if close(given.value * given_scale / unit, gold.value, gold.decimals):
            return "agree"
        # "$1,577,000,000" answers a question in millions: an unscaled figure may be the whole amount.
        whole = given.scale is None and close(given.value / unit, gold.value, gold.decimals)
        return "agree" if whole else "disagree"
    if not gold_scale and not given_scale:
        if close(given.value, gold.value, gold.decimals):
            return "agree"
        percent = any(close(given.value * factor, gold.value, gold.decimals) for factor in (100, 0.01))
        fraction = min(abs(given.value), abs(gold.value)) <= 1
        return "ambiguous" if percent and fraction else "disagree"
    scale = gold_scale or given_scale or 1.0
    stated, bare = (gold.value, given.value) if gold_scale else (given.value, gold.value)
    if close(given.value, gold.value, gold.decimals):
        return "agree" if gold_scale else "ambiguous"
    whole = close(bare, stated * scale, 0)
    factors = [scale / other for other in (1e3, 1e6, 1e9) if other != scale]
    if whole:
        return "agree"
    return "ambiguous" if any(close(bare, stated * factor, 0) for factor in factors) else "disagree"


def _figure(match: re.Match[str]) -> Figure:
    digits = match["number"].replace(",", "")
    negative = any("-" in (match[sign] or "") for sign in ("sign", "inner", "late"))
    enclosed = bool((match["open"] or match["open2"]) and match["close"])
    unit = (match["early"] or match["unit"] or "").lower()
    value = float(digits)
    decimals = len(digits.partition(".")[2])
    if unit in _PERCENTS:
        value *= _PERCENTS[unit]
        decimals += 2 if _PERCENTS[unit] != 1 else 0
    # A bracket and a minus sign say the same thing once: "-(500)" in a table's sign column is still -500.
    return Figure(
        value=-value if negative or enclosed else value,
        decimals=decimals,
        scale=_SCALES.get(unit),
        percent=unit in _PERCENTS,
        currency=match["currency"] is not None,
        start=match.start("number"),
        end=match.end(),
    )


def _is_name(text: str, match: re.Match[str], figure: Figure) -> bool:
    """Whether the number is part of a date or of a form's name."""
    if _FORM.match(text, match.start("number")):
        return True
    if figure.percent or figure.scale or figure.currency:
        return False
    before = text[max(0, match.start("number") - 24) : match.start("number")]
    digits = match["number"]
    if re.fullmatch(r"(?:19|20)\d\d", digits):
        return len(text.strip()) > 4 or _YEAR_BEFORE.search(before) is not None
    return re.fullmatch(r"\d{1,2}", digits) is not None and _DAY_BEFORE.search(before) is not None


def _plain(text: str) -> str:
    text = unicodedata.normalize("NFKC", text)
    text = re.sub(r"[‐‑‒–—−]", "-", text)
    return re.sub(r"\*\*|\\[()\[\]]|\\approx", lambda found: "≈" if "approx" in found[0] else " ", text)

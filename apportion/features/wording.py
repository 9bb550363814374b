"""Wordings that tell refusals, hedges, and what kind of answer is asked for and given. English."""

from __future__ import annotations

import re
from collections.abc import Sequence

from apportion.answers.numeric import Figure

RELATIVE_TOLERANCE = 0.005

WORD = re.compile(r"[A-Za-z]+(?:['’][a-z]+)?|\d[\d,.]*\d|\d")
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9(\"'])|\n+")
LIST_ITEM = re.compile(r"^\s*(?:[-*•]|\d{1,2}[.)])\s", re.MULTILINE)
CAPITALS = re.compile(r"\b[A-Z][a-zA-Z&.]{2,}(?:\s[A-Z][a-zA-Z&.]+)*")
NAME_STARTERS = frozenset(
    "The This That These Those Based However Therefore For From Please Thus Hence Also Additionally While When "
    "Without Since Given Using According Unfortunately Yes No Note Overall And But Its Their There Here What "
    "Which".split()
)

_NOT = r"(?:not|n['’]t|never|neither)"
REFUSES = re.compile(
    rf"\b(?:can(?:not|{_NOT}|['’]t| not)|could {_NOT}|couldn['’]t|am unable|is unable|unable|impossible|"
    rf"not possible|difficult) to\s+(?:be\s+)?(?:provide|determine|answer|calculate|find|say|give|identify|assess|"
    r"confirm|locate|compute|conclude|ascertain|access|make|draw|accurately|directly|definitively)"
    rf"|\b(?:I|we) (?:can(?:not|['’]t)|am {_NOT} able to|do(?: not|n['’]t) (?:have|know|see|find))\b"
    r"|\b(?:cannot|can['’]t|can not|could not) (?:be )?(?:accurately |directly |definitively )?"
    r"(?:provide|determine|answer|calculate|find|identif|assess|confirm|locate|comput|conclude|ascertain|draw)\w*"
    r"|\b(?:do(?:es)?|did|is|are|was|were|has|have)(?: not|n['’]t)(?: \w+)? "
    r"(?:provid|includ|contain|specif|stat|mention|giv|disclos|list|availab|enough|sufficient|detail|report|offer|explicit|found|shown|present|break)\w*"
    r"|\bno (?:\w+ ){0,2}(?:information|mention|data|details?|evidence|reference|figures?|indication)\b"
    r"|\b(?:without|lack(?:s|ing)?(?: of)?|insufficient|absence of|missing) (?:\w+ ){0,3}"
    r"(?:information|data|details?|context|figures?|access|statements?)"
    r"|\bnot (?:explicitly |directly |specifically )?"
    r"(?:provided|included|stated|available|specified|mentioned|disclosed|given|found|shown|in the provided)\b"
    r"|\bdon['’]t know\b",
    re.IGNORECASE,
)
ASKS_FOR_MORE = re.compile(
    r"\b(?:would need|(?:would be|is|are) (?:needed|required|necessary)|"
    r"please (?:provide|refer|consult|check|see|share)|"
    r"if you (?:have|can|could|provide)|recommend(?:ed)?|should (?:refer|consult|look)|refer to|consult|"
    r"additional (?:information|context|data|details)|more (?:information|context|data|details|specific)|"
    r"would (?:typically|normally|usually|generally)|need (?:access|the|to (?:know|look|refer|see)))\b",
    re.IGNORECASE,
)
APOLOGY = re.compile(r"\b(?:sorry|apologi[sz]e|unfortunately|regret|as an ai)\b", re.IGNORECASE)
HEDGES = re.compile(
    r"\b(?:may|might|could|possibly|perhaps|approximately|around|about|roughly|unclear|uncertain|likely|appears?|"
    r"seems?|suggests?|potentially|generally|typically|assum\w+|estimat\w+|it is possible|implies|not clear)\b",
    re.IGNORECASE,
)
CONCEDES = re.compile(r"\b(?:however|although|but|nevertheless|that said|while|note that)\b", re.IGNORECASE)
SUPPOSES = re.compile(
    r"\b(?:assum\w+|hypothetical\w*|for example|let['’]s (?:say|assume)|suppose)\b", re.IGNORECASE
)
CONCLUDES = re.compile(
    r"\b(?:therefore|thus|hence|in conclusion|in summary|overall|as a result|the answer is)\b", re.IGNORECASE
)
EQUATION = re.compile(
    r"\$?(?P<a>\d+(?:\.\d+)?)\s*(?:million|billion|M|B)?\s*(?P<sign>[-+*/×÷−])\s*\$?(?P<b>\d+(?:\.\d+)?)\s*"
    r"(?:million|billion|M|B)?\)?\s*[=≈]\s*\$?(?P<result>-?\d+(?:\.\d+)?)"
)
_YEAR = re.compile(
    r"(?<![\d.,$])(?:FY\s?|'|’)?(?P<full>(?:19|20)\d{2})(?![\d%]|[.,]\d)|\bFY\s?['’]?(?P<short>\d{2})\b",
    re.IGNORECASE,
)

_YES_NO = re.compile(
    r"(?:^|[.,:;?]\s+)\W*(?:is|are|was|were|do|does|did|has|have|had|can|could|will|would|should)\b",
    re.IGNORECASE,
)
_PERCENT = re.compile(
    r"\bpercent(?:age)?s?\b|%|\bmargin\b|\b(?:tax|growth) rate\b|\bas a % of\b|\byear-over-year change\b",
    re.IGNORECASE,
)
_RATIO = re.compile(
    r"\bratio\b|\bturnover\b|\btimes\b|\bDPO\b|\bDIO\b|\bDSO\b|\bdays\b|\bround\w* .{0,12}decimal",
    re.IGNORECASE,
)
_AMOUNT = re.compile(
    r"\b(?:USD|dollars?|how much|what (?:is|was) the (?:total|amount)|in (?:millions|billions|thousands))\b|\$",
    re.IGNORECASE,
)
_WHY = re.compile(r"\b(?:why|what drove|explain|reason|describe|how (?:did|does|has))\b", re.IGNORECASE)
_LIST = re.compile(r"^\W*(?:which|what are|list|name|who)\b", re.IGNORECASE)


def YEARS(text: str) -> frozenset[int]:  # noqa: N802 - stands among the wordings
    """The years that a text names; FY22 is 2022."""
    return frozenset(int(m["full"]) if m["full"] else 2000 + int(m["short"]) for m in _YEAR.finditer(text))


def asked_type(question: str) -> str:
    """The kind of answer asked for: percent, ratio, amount, yes_no, reason, list or text."""
    if _PERCENT.search(question) and not _YES_NO.match(question):
        return "percent"
    if _RATIO.search(question) and not _YES_NO.match(question):
        return "ratio"
    if _YES_NO.match(question):
        return "yes_no"
    if _WHY.search(question):
        return "reason"
    if _AMOUNT.search(question):
        return "amount"
    return "list" if _LIST.match(question) else "text"


def given_type(answer: str, found: Sequence[Figure]) -> str:
    """The kind of answer given, in the words of `asked_type`, judged by its last figure or its first word."""
    if re.match(r"\W*(?:yes|no)\b", answer, re.IGNORECASE):
        return "yes_no"
    if LIST_ITEM.search(answer):
        return "list"
    if not found:
        return "reason" if len(answer.split()) > 25 else "list"
    last = found[-1]
    if last.percent:
        return "percent"
    if last.currency or last.scale:
        return "amount"
    return "ratio"

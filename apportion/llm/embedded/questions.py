"""From a question's words to what is to be computed: an expression, its years, and the unit and rounding
asked for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from apportion.accounting import METRICS_BY_NAME, Mention, fold, mentions
from apportion.line_items import ITEMS_BY_NAME, Unit
from apportion.llm.embedded.expressions import Binary, Expression, Ref, parse_worded, years_in

Kind = Literal["figure", "level", "trend"]
Wrapper = Literal["value", "average", "change", "growth", "cagr"]

_DEFINED = re.compile(
    r"(?:^|[.?!:;]\s+|\()(?P<name>[A-Za-z][\w&%/' -]{1,60}?)\s+(?:here\s+)?(?:is|are)\s+"
    r"(?:defined|calculated|computed)\s+as:?\s*(?P<formula>.+?)(?=\.\s|\.$|$)",
)
_DEFINE = re.compile(r"\b[Dd]efine\s+(?P<name>[\w&%/' -]{2,60}?)\s+as:?\s+(?P<formula>.+?)(?=\.\s|\.$|$)")
_YES_NO = re.compile(r"\s*(?:does|do|did|is|was|were|are|has|have)\b", re.IGNORECASE)
_ASKING = re.compile(r"\b(?:which|how high|how low|roughly how|does|do|did|is|was|were|are|has|have)\b", re.I)
_STRONG_ASKING = re.compile(r"\b(?:what|how much|how many|by how)\b", re.IGNORECASE)
_RATIO_OF = re.compile(
    r"^\s*(?:as (?:a |the )?(?:%|percent|percentage|share|fraction)\s+of|divided by|/|over|relative to)"
    r"\s+(?:\w+\s+){0,2}$",
    re.IGNORECASE,
)
_MINUS = re.compile(r"^\s*(?:less|minus|-|net of)\s*(?:\w+\s+)?$", re.IGNORECASE)
_PLUS = re.compile(r"^\s*(?:\+|plus)\s*(?:\w+\s+)?$", re.IGNORECASE)
_MARGIN = re.compile(r"^\s*(?:%|percent(?:age)?)?\s*(?:profit\s+)?margins?\b", re.IGNORECASE)
_AVERAGE = re.compile(
    r"\b(?:\d|two|three|four|five)[\s-]+years?[\s-]+average|\baverage\b.*\bover the (?:last|past)\b",
    re.IGNORECASE,
)
_CHANGE = re.compile(
    r"year[\s-]over[\s-]year|\by/?o/?y\b|\bchanged?\b|\bimprov\w+|\bdeclin\w+|\bincreas\w+|\bdecreas\w+"
    r"|\bdrop\w*",
    re.IGNORECASE,
)
# These ask for words even where they name a figure.
_WORDED = re.compile(
    r"\s*(?:what|which)\s+(?:drove|caused|led|drives|are|were|industry|type|kind|segments?|products?|regions?|company)\b"
    r"|\s*(?:why|who|where|when|which|how (?:did|does|do|has|is|was))\b",
    re.IGNORECASE,
)
_LEVEL = re.compile(r"\b(?:positive|negative|healthy|paid|pays?|capital[\s-]intensive)\b", re.IGNORECASE)
_TREND_ASKED = re.compile(
    r"\b(?:changed|improved or declined|increased or decreased|increase or decrease)\b", re.IGNORECASE
)
_FALLING = re.compile(
    r"\b(?:negative|declin\w+|decreas\w+|drop\w*|fell|fall\w*|reduc\w+|shr[aiu]nk\w*|deteriorat\w+)\b",
    re.IGNORECASE,
)
# Before an item's name these make it another item; its own figure would be a wrong answer.
_NARROWING = re.compile(
    r"adjusted|non-?gaap|gaap|organic|core|comparable|underlying|deferred|unearned|segments?|domestic|foreign"
    r"|international|overseas|subscription|product|products|services?|hardware|software|online|digital|retail|wholesale"
    r"|convertible|other|restructuring|impairment|prepaid|contract|lease|customer|pension|same-store|recurring|backlog"
    r"|tax|interest|related-party|goodwill|currency|constant|pro-?forma|normalized|normalised",
    re.IGNORECASE,
)
_WRITTEN = {
    "ebitda": "EBITDA",
    "ebitda_margin": "EBITDA margin",
    "ppe": "net property, plant and equipment",
    "sga": "SG&A",
}
_WORDS = {
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "1": 1,
    "2": 2,
    "3": 3,
    "4": 4,
    "5": 5,
    "zero": 0,
    "no": 0,
}


@dataclass(frozen=True, slots=True)
class Task:
    """What a question asks to be computed.

    ``years`` are those it names (empty: the latest there is). ``percent`` says that the result is to be
    shown in percent; ``scale`` is the money unit asked for, null where none is; ``decimals`` likewise.
    """

    expression: Expression
    wrapper: Wrapper
    years: tuple[int, ...]
    unit: Unit
    percent: bool
    scale: float | None
    decimals: int | None
    exact: bool
    kind: Kind
    named: str
    yes_no: bool
    rising: bool = True
    threshold: float | None = None


def read_question(question: str) -> Task | None:
    """The computation that ``question`` asks for; null where it names nothing that can be computed."""
    main = _main_clause(question)
    if _WORDED.match(main) and _scale(question) is None and _decimals(question) is None:
        return None
    definitions = _definitions(question)
    if not any(name in METRICS_BY_NAME for name in _names(main)):
        main = _calculation(question) or main
    bracketed = re.sub(r"\([^()]*\)|\[[^\[\]]*\]", " ", main)
    expression, names, ratio = _defined_expression(main, definitions), _names(bracketed), False
    defined = expression is not None
    if expression is None:
        built = _expression(bracketed, definitions)
        if built is None or _qualified(bracketed):
            return None
        expression, names, ratio = built
    unit: Unit = "percent" if ratio else _unit(expression, names, defined)
    percent_asked = re.search(r"%|\bpercents?\b|\bpercentage\b", _without_definitions(question)) is not None
    wrapper = _wrapper(bracketed)
    yes_no = _YES_NO.match(main) is not None
    kind = _kind(main, wrapper, yes_no)
    if kind is None:
        return None
    name = names[0] if names else ""
    return Task(
        expression=expression,
        wrapper=wrapper,
        years=tuple(sorted(years_in(main) or years_in(question))),
        unit=unit,
        percent=percent_asked or unit == "percent" or wrapper in ("cagr", "growth"),
        scale=_scale(question),
        decimals=_decimals(question),
        exact=kind == "figure"
        and (defined or _scale(question) is not None or _decimals(question) is not None),
        kind=kind,
        named=f"The {_WRITTEN.get(name, name.replace('_', ' '))}",
        yes_no=yes_no,
        rising=_rising(main, name),
        threshold=_threshold(main, name),
    )


def asks_quarter(question: str) -> bool:
    """Whether ``question`` is about part of a year."""
    return (
        re.search(r"\bQ[1-4]|[1-4]Q\b|\bquarter|\bH[12]\b|\b(?:three|six|nine) months\b", question, re.I)
        is not None
    )


def _definitions(question: str) -> dict[str, Expression]:
    """The formulas that a question gives, by folded name; one may use another in any order."""
    worded: dict[str, str] = {}
    for pattern in (_DEFINED, _DEFINE):
        place = 0
        while match := pattern.search(question, place):
            name = re.sub(r"^(?:please|here|where|the)\s+", "", match["name"].strip(), flags=re.IGNORECASE)
            worded.setdefault(fold(name), match["formula"].strip())
            place = max(match.end() - 1, match.start("formula"))
    known: dict[str, Expression] = {}
    for _ in worded:
        for name, text in worded.items():
            if name not in known and not _waits(name, text, worded, known):
                expression = parse_worded(text, known)
                if expression is not None:
                    known[name] = expression
    return known


def _waits(name: str, text: str, worded: Mapping[str, str], known: Mapping[str, Expression]) -> bool:
    words = {fold(word) for word in re.findall(r"[\w&]+", text)}
    return any(other in words and other != name and other not in known for other in worded)


def _without_definitions(question: str) -> str:
    return _DEFINE.sub(" ", _DEFINED.sub(" ", question))


def _main_clause(question: str) -> str:
    """The clause that asks: from its question word to the question mark."""
    asked = [sentence for sentence in re.split(r"(?<=\?)\s+", question) if sentence.endswith("?")]
    text = asked[0] if asked else question
    text = re.split(r"(?<=[.:])\s+(?=[A-Za-z])", text)[-1]
    strong = list(_STRONG_ASKING.finditer(text))
    weak = _ASKING.search(text)
    first = _YES_NO.match(text)
    if first:
        return text
    if strong:
        return text[strong[0].start() :]
    return text[weak.start() :] if weak else text


def _calculation(question: str) -> str | None:
    """What a question tells to calculate in a sentence of its own ("Calculate inventory turnover ratio for FY2022")."""
    for found in re.finditer(r"\b(?:calculate|compute)\s+([^;.?]+)", question, re.IGNORECASE):
        if any(name in METRICS_BY_NAME for name in _names(found[1])):
            return found[1]
    return None


def _defined_expression(main: str, definitions: Mapping[str, Expression]) -> Expression | None:
    folded = fold(main)
    named = [name for name in definitions if name in folded]
    if not named:
        return None
    name = max(named, key=len)
    rest = folded.split(name, 1)[1]
    # "EBITDA less capex" or "EBITDA % margin" only uses the name that is defined.
    if re.match(r"(?:less|minus|%?margin|%|asa|plus)", rest):
        return None
    return definitions[name]


def _names(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(mention.name for mention in mentions(text)))


def _qualified(text: str) -> bool:
    """Whether the first item named is narrowed to something else ("deferred revenue", "adjusted EBITDA")."""
    found = mentions(text)
    before = re.search(r"([\w'’&-]+)[\s-]+$", text[: found[_first(text, found)].start])
    if before is None:
        return False
    word = before[1]
    return _NARROWING.fullmatch(word) is not None


def _expression(
    text: str, definitions: Mapping[str, Expression]
) -> tuple[Expression, tuple[str, ...], bool] | None:
    """The expression of a clause, the names in it, and whether it is a share of something."""
    found = mentions(text)
    if not found:
        return None
    start = _first(text, found)
    expression = _operand(text, found[start], definitions)
    names, ratio, place = [found[start].name], False, found[start].end
    if margin := _MARGIN.match(text[place:]):
        expression, ratio, place = Binary("/", expression, Ref("revenue")), True, place + margin.end()
    for mention in found[start + 1 :]:
        between = text[place : mention.start]
        operand = _operand(text, mention, definitions)
        if _RATIO_OF.match(between):
            expression, ratio = Binary("/", expression, operand), True
        elif _MINUS.match(between):
            expression = Binary("-", expression, operand)
        elif _PLUS.match(between):
            expression = Binary("+", expression, operand)
        else:
            break
        names.append(mention.name)
        place = mention.end
        if margin := _MARGIN.match(text[place:]):
            expression, ratio, place = Binary("/", expression, Ref("revenue")), True, place + margin.end()
    return expression, tuple(names), ratio


def _first(text: str, found: list[Mention]) -> int:
    """Where the asked-for item stands; metrics come before items, for these are often mere context."""
    for index, mention in enumerate(found):
        if mention.name in METRICS_BY_NAME:
            return index if index == 0 or not _joined(text, found[index - 1], mention) else 0
    return 0


def _joined(text: str, left: Mention, right: Mention) -> bool:
    between = text[left.end : right.start]
    return any(pattern.match(between) for pattern in (_RATIO_OF, _MINUS, _PLUS))


def _operand(text: str, mention: Mention, definitions: Mapping[str, Expression]) -> Expression:
    return definitions.get(fold(text[mention.start : mention.end]), Ref(mention.name))


def _unit(expression: Expression, names: tuple[str, ...], defined: bool) -> Unit:
    if isinstance(expression, Ref):
        entry = METRICS_BY_NAME.get(expression.name) or ITEMS_BY_NAME[expression.name]
        return entry.unit
    if defined:
        metric = next((METRICS_BY_NAME[name] for name in names if name in METRICS_BY_NAME), None)
        if metric is not None:
            return metric.unit
        return "money" if _is_money(expression) else "ratio"
    return "money" if _is_money(expression) else "ratio"


def _is_money(expression: Expression) -> bool:
    if isinstance(expression, Binary):
        return expression.operator in "+-" and _is_money(expression.left) and _is_money(expression.right)
    if isinstance(expression, Ref):
        entry = METRICS_BY_NAME.get(expression.name) or ITEMS_BY_NAME[expression.name]
        return entry.unit == "money"
    return False


def _wrapper(clause: str) -> Wrapper:
    if re.search(r"\bCAGR\b|compound(?:ed)? annual", clause, re.IGNORECASE):
        return "cagr"
    if _AVERAGE.search(clause):
        return "average"
    if re.search(r"growth rate|\bgrowth\b|\bgrow\b|\bgrew\b", clause, re.IGNORECASE):
        return "growth"
    return "change" if _CHANGE.search(clause) else "value"


def _kind(main: str, wrapper: Wrapper, yes_no: bool) -> Kind | None:
    """What the answer is to state; null for a yes-or-no question that no figure settles."""
    if yes_no and _LEVEL.search(main):
        return "level"
    if yes_no:
        return "trend" if wrapper in ("change", "growth") else None
    return "trend" if wrapper == "change" and _TREND_ASKED.search(main) else "figure"


def _rising(main: str, name: str) -> bool:
    """Whether the question asks if the figure went up; an improvement goes the metric's own way."""
    if re.search(r"\bimprov", main, re.IGNORECASE):
        metric = METRICS_BY_NAME.get(name)
        return metric is None or metric.better != "down"
    return _FALLING.search(main) is None


def _threshold(main: str, name: str) -> float | None:
    """The level from which the answer is yes: rules of thumb of credit analysis."""
    if name in ("quick_ratio", "current_ratio"):
        return 1.0
    return 0.1 if name == "capital_intensity" else None


def _scale(question: str) -> float | None:
    found = re.search(r"\b(thousand|million|billion)s?\b", question, re.IGNORECASE) or re.search(
        r"\bUSD\s?(mn|bn)\b", question, re.I
    )
    if not found:
        return None
    return {"thousand": 1e3, "million": 1e6, "mn": 1e6, "billion": 1e9, "bn": 1e9}[found[1].lower()]


def _decimals(question: str) -> int | None:
    found = re.search(
        r"\b(one|two|three|four|five|zero|no|\d) decimals?(?: place| point| digit)?s?\b",
        question,
        re.IGNORECASE,
    )
    if found:
        return _WORDS.get(found[1].lower())
    return 0 if re.search(r"nearest (?:whole|integer|percent|million)", question, re.IGNORECASE) else None

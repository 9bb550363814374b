"""Which of one filer's filings a question's periods and forms ask for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from apportion.retrieval.resolver.catalogue import ANNUAL, EVENT, RELEASE, Document
from apportion.retrieval.resolver.periods import Period, Timing

EVENT_DAYS = 7
"""An 8-K is due within four business days of what it reports."""

COMPARED_YEARS = 2
"""Years before its own that an annual report still shows."""


@dataclass(frozen=True)
class Choice:
    """The filings chosen, or those that were possible where none could be.

    ``outcome`` is ``found``, ``ambiguous`` or ``no_filing``; ``trust`` in [0, 1] says how directly the words fit;
    ``by_name`` that only the document's own name told its period.
    """

    outcome: str
    documents: tuple[Document, ...]
    trust: float = 0.0


def choose(documents: Sequence[Document], timing: Timing, default_year: int | None = None) -> Choice:
    """Choose among one filer's filings.

    The latest period named is the one reported on, unless another is anchored ("as of"): a filing shows its year beside
    earlier ones. A quarter without a filing of its own lies in the year's report; a year without one, in a report up
    to two years later; what is expected of a year, in the report before it. An annual report and its earnings release
    are both chosen. Amendments only where asked for.
    """
    amended = any(form.endswith("/A") for form in timing.forms)
    offered = [one for one in documents if _amendment(one) == amended] or list(documents)
    of_form = _of_forms(offered, timing.forms)
    if timing.forms and not of_form:
        return Choice("no_filing", tuple(offered))
    events = _events(of_form, timing.days)
    if events:
        return Choice("found", events, 1.0)
    ended = tuple(one for one in of_form if one.period_end in timing.days)
    if ended:
        return Choice("found", ended, 1.0)
    periods = _ordered(timing)
    for period in periods:
        direct = _direct(of_form, period)
        if direct:
            return Choice("found", direct, 1.0)
        if period.anchored:
            break
    if not periods:
        return _undated(of_form, timing, default_year)
    for period in periods:
        if timing.forward:
            before = _annual(of_form, period.year - 1)
            if before:
                return Choice("found", before, 0.8)
        later = _covering(of_form, period)
        if later:
            return Choice("found", later, 0.8)
    interim = tuple(one for one in of_form if one.fiscal_year in {period.year for period in periods})
    if interim:
        return Choice("ambiguous", interim)
    if default_year is not None:
        fallen_back = _annual(of_form, default_year)
        if fallen_back:
            return Choice("found", fallen_back, 0.6)
    return Choice("no_filing", tuple(of_form))


def _amendment(document: Document) -> bool:
    return document.amends is not None or (document.form or "").endswith("/A")


def _of_forms(documents: Sequence[Document], forms: Sequence[str]) -> list[Document]:
    if not forms:
        return list(documents)
    wanted = tuple(form.removesuffix("/A") for form in forms)
    kept = [one for one in documents if (one.form or "").removesuffix("/A").startswith(wanted)]
    if not kept and any(form in ANNUAL for form in wanted):
        kept = [one for one in documents if one.annual]
    return kept


def _events(documents: Sequence[Document], days: Sequence[date]) -> tuple[Document, ...]:
    """The first reports of an event filed on a day named or within a week of it."""
    dated = [
        (one.filed_at, one.filing_id, one)
        for one in documents
        if one.form is not None and one.form.startswith(EVENT) and one.filed_at is not None
    ]
    for day in days:
        near = [entry for entry in dated if day <= entry[0] <= day + timedelta(days=EVENT_DAYS)]
        if near:
            first = min(near)[0]
            return tuple(one for filed, _, one in sorted(near, key=lambda entry: entry[:2]) if filed == first)
    return ()


def _ordered(timing: Timing) -> list[Period]:
    periods = list(timing.periods)
    periods += [
        Period(day.year, None if day.month == 12 else (day.month + 2) // 3, False) for day in timing.days
    ]
    anchored = [period for period in periods if period.anchored]
    return [
        *sorted(anchored, key=_late, reverse=True),
        *sorted((period for period in periods if not period.anchored), key=_late, reverse=True),
    ]


def _late(period: Period) -> tuple[int, int, bool]:
    # Within a year the quarter is the more telling: "of 2023's buybacks, how much in the fourth quarter".
    return period.year, period.quarter or 0, period.marked


def _direct(documents: Sequence[Document], period: Period) -> tuple[Document, ...]:
    if period.quarter is None:
        return _annual(documents, period.year)
    own = tuple(
        one
        for one in documents
        if one.fiscal_year == period.year and one.quarter == period.quarter and one.form != EVENT
    )
    if period.quarter == 4:
        own = tuple(dict.fromkeys((*own, *_annual(documents, period.year))))
    return own or _annual(documents, period.year)


def _annual(documents: Sequence[Document], year: int) -> tuple[Document, ...]:
    """The annual reports of a year and the earnings releases that go with them."""
    return tuple(
        one
        for one in documents
        if one.fiscal_year == year and (one.annual or (one.form == RELEASE and one.quarter in (4, None)))
    )


def _covering(documents: Sequence[Document], period: Period) -> tuple[Document, ...]:
    for later in range(1, COMPARED_YEARS + 1):
        reports = tuple(one for one in documents if one.fiscal_year == period.year + later and one.annual)
        if reports and period.quarter is None:
            return reports
    return ()


def _undated(documents: Sequence[Document], timing: Timing, default_year: int | None) -> Choice:
    if len(documents) == 1:
        return Choice("found", tuple(documents), 0.8)
    if default_year is not None:
        fallen_back = _annual(documents, default_year)
        if fallen_back:
            return Choice("found", fallen_back, 0.6)
    return Choice("ambiguous", tuple(documents))

"""Questions on several filers of the sample: which of two, which of N, and how their risks compare.

They name companies with their tickers, as analysts do; their answers are computed from the filers' figures.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from apportion.corpus.synthetic.boilerplate import RISKS
from apportion.corpus.synthetic.filing import Filing
from apportion.corpus.synthetic.layout import amount
from apportion.corpus.synthetic.view import View

PAIRS, RANKINGS, COMPARISONS = 10, 8, 8
FAMILIES = ("pairwise_metric", "which_of_n", "risk_comparison")

Metric = tuple[str, str, Callable[[View], int]]
"""Its name, the block that holds it, and its value in the filer's unit."""

METRICS: tuple[Metric, ...] = (
    ("revenue", "income", lambda view: view.now["revenue"]),
    ("capital expenditure", "cash_flow", lambda view: view.now["capex"]),
    ("cost of revenue", "income", lambda view: view.now["cost"]),
    ("year-end receivables", "balance", lambda view: view.now["receivables"]),
    ("year-end property, plant and equipment, net", "balance", lambda view: view.now["plant"]),
)
UNITS: Mapping[str, int] = {"thousands": 1_000, "millions": 1_000_000}


def company_questions(filings: Sequence[Filing]) -> list[dict[str, Any]]:
    """Rows of questions on several companies, each over one fiscal year.

    Args:
        filings: one of each filer, all of the same year, at least five.
    """
    count = len(filings)
    rows = [
        _which(FAMILIES[0], number, [filings[number % count], filings[(number + count // 2) % count]])
        for number in range(PAIRS)
    ]
    for number in range(RANKINGS):
        places = [number, number + 5, number + 11, number + 17][: 3 + number % 2]
        rows.append(_which(FAMILIES[1], number, [filings[place % count] for place in places]))
    rows += [
        _risks(number, [filings[(number + 3) % count], filings[(number + 14) % count]])
        for number in range(COMPARISONS)
    ]
    return rows


def _which(family: str, number: int, filings: Sequence[Filing]) -> dict[str, Any]:
    name, tag, value = METRICS[number % len(METRICS)]
    views = [filing.view for filing in filings]
    dollars = [value(view) * UNITS[view.filer.unit] for view in views]
    most = max(range(len(views)), key=lambda place: (dollars[place], -place))
    asked = (
        "Which of the two had the higher" if len(views) == 2 else f"Which of the {len(views)} had the highest"
    )
    text = (
        f"{asked} {name} in FY{views[0].year}: {_listed(views)}? "
        "Name its ticker and the amounts of all of them in US dollars."
    )
    stated = "; ".join(
        f"{view.filer.ticker} {_usd(amount_)}" for view, amount_ in zip(views, dollars, strict=True)
    )
    pages = [(filing, filing.where[tag]) for filing in filings]
    return _row(family, number, text, f"{views[most].filer.ticker} ({stated})", pages)


def _risks(number: int, filings: Sequence[Filing]) -> dict[str, Any]:
    views = [filing.view for filing in filings]
    first = [view.filer.draw("risks").shuffled(RISKS)[0][0] for view in views]
    text = (
        f"Compare the risk factors of {_listed(views)} in their annual reports for FY{views[0].year}: "
        "which risk does each of them describe first?"
    )
    answer = "; ".join(f"{view.filer.ticker}: {title}" for view, title in zip(views, first, strict=True))
    pages = [
        (
            filing,
            next(place for place, page in enumerate(filing.pages) if "ITEM 1A. RISK FACTORS" in page.text),
        )
        for filing in filings
    ]
    return _row(FAMILIES[2], number, text, answer, pages)


def _row(
    family: str, number: int, text: str, answer: str, pages: Sequence[tuple[Filing, int]]
) -> dict[str, Any]:
    return {
        "question_id": f"{family.replace('_', '-')}-{number + 1:04d}",
        "text": text,
        "family": family,
        "company": None,
        "filing_id": None,
        "reference_answer": answer,
        "evidence": [{"filing_id": filing.filing_id, "page_number": place} for filing, place in pages],
    }


def _listed(views: Sequence[View]) -> str:
    named = [f"{view.filer.brief} ({view.filer.ticker})" for view in views]
    return f"{', '.join(named[:-1])} {'or' if len(named) > 2 else 'and'} {named[-1]}"


def _usd(value: int) -> str:
    return f"${amount(value)}"

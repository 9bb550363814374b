"""What the sample's pages print: identities and gold answers, from the text alone."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable

import pytest
from sample_rows import Book, rows, sample

from apportion.corpus.sample import FILERS, SEED, YEARS, questions_on
from apportion.corpus.synthetic.filing import all_filings


@pytest.fixture(scope="module")
def books() -> dict[str, Book]:
    corpus = sample()
    return {filing: Book(corpus, filing) for filing in corpus.filings["filing_id"]}


@pytest.fixture(scope="module")
def figures(books: dict[str, Book]) -> dict[str, dict[str, list[float]]]:
    return {filing: named(book) for filing, book in books.items()}


def named(book: Book) -> dict[str, list[float]]:
    """The lines that ratios need, by the place and wording of their rows; latest year first."""
    income, balance, cash = book.income, book.balance, book.cash_flow
    find = book.find

    def maybe(statement: list[tuple[str, list[float]]], pattern: str) -> list[float]:
        try:
            return find(statement, pattern)
        except LookupError:
            return [0.0, 0.0, 0.0]

    return {
        "revenue": income[0][1],
        "cost": income[1][1],
        "operating": find(income, r"^operating income"),
        "interest": find(income, r"^interest expense"),
        "pretax": find(income, r"^income before"),
        "tax": find(income, r"^provision"),
        "net": find(income, r"^net (income|earnings|loss)"),
        "cash": find(balance, r"^cash and cash equivalents"),
        "investments": maybe(balance, r"^short-term investments"),
        "receivables": find(balance, r"receivable"),
        "inventories": maybe(balance, r"^inventories"),
        "current_assets": find(balance, r"^total current assets"),
        "plant": find(balance, r"^property"),
        "assets": find(balance, r"^total assets"),
        "payables": find(balance, r"^accounts payable"),
        "current_liabilities": find(balance, r"^total current liabilities"),
        "debt_current": maybe(balance, r"^current portion"),
        "debt_long": find(balance, r"^long-term debt"),
        "liabilities": find(balance, r"^total liabilities$"),
        "equity": find(balance, r"^total (share|stock)\w+' equity"),
        "sum": find(balance, r"^total liabilities and"),
        "retained": find(balance, r"^(retained earnings|accumulated deficit)"),
        "charges": find(cash, r"^depreciation and amortization"),
        "cfo": find(cash, r"^net cash (from|provided by).* operating activities"),
        "cfi": find(cash, r"^net cash used in investing"),
        "cff": find(cash, r"financing activities$"),
        "currency": find(cash, r"^effect of exchange"),
        "capex": [
            -value
            for value in find(cash, r"^(capital exp|purchases of prop|additions to prop|investment in plant)")
        ],
        "dividends": [-value for value in maybe(cash, r"^dividends paid")],
        "change": find(cash, r"^net increase"),
        "opening": find(cash, r"beginning of year"),
        "closing": find(cash, r"end of year"),
    }


def test_statements_balance_and_tie_as_printed(figures: dict[str, dict[str, list[float]]]) -> None:
    for filing, at in figures.items():
        for year in range(2):
            assert at["assets"][year] == at["sum"][year], filing
            assert at["sum"][year] == at["liabilities"][year] + at["equity"][year], filing
            assert at["closing"][year] == at["cash"][year], filing
        for year in range(3):
            flows = at["cfo"][year] + at["cfi"][year] + at["cff"][year] + at["currency"][year]
            assert flows == at["change"][year] == at["closing"][year] - at["opening"][year], filing
            assert at["net"][year] == at["pretax"][year] - at["tax"][year], filing
        assert at["opening"][0] == at["closing"][1], filing
        assert at["retained"][0] == at["retained"][1] + at["net"][0] - at["dividends"][0], filing


def test_sections_of_statements_sum_to_their_totals(books: dict[str, Book]) -> None:
    for filing, book in books.items():
        labels = [label for label, _ in book.balance]
        for year in range(2):
            values = [row[year] for _, row in book.balance]
            place = labels.index("Total current assets")
            assert sum(values[:place]) == values[place], filing
            end = labels.index("Total assets")
            assert sum(values[place:end]) == values[end], filing
            owed = labels.index("Total current liabilities")
            assert sum(values[end + 1 : owed]) == values[owed], filing
            total = labels.index("Total liabilities")
            assert sum(values[owed:total]) == values[total], filing
        labels = [label for label, _ in book.cash_flow]
        first = next(i for i, label in enumerate(labels) if "operating activities" in label)
        for year in range(3):
            assert sum(row[year] for _, row in book.cash_flow[:first]) == book.cash_flow[first][1][year], (
                filing
            )


def test_last_years_columns_are_what_last_years_filing_printed(
    figures: dict[str, dict[str, list[float]]],
) -> None:
    compared = 0
    for filing, at in figures.items():
        if "_2022_" in filing:
            before = figures[filing.replace("_2022_", "_2021_")]
            for name, values in at.items():
                assert values[1] == before[name][0], (filing, name)
                compared += 1
    assert compared > 24 * 25


def test_notes_tie_to_statements(books: dict[str, Book], figures: dict[str, dict[str, list[float]]]) -> None:
    for filing, book in books.items():
        notes = [
            row
            for text, kind in zip(book.texts, book.kinds, strict=True)
            if kind in ("notes", "segments")
            for row in rows(text)
        ]
        at = figures[filing]
        assert Book.find(notes, "^Total segment revenue") == at["revenue"], filing
        assert Book.find(notes, "^Consolidated operating income") == at["operating"], filing
        assert Book.find(notes, "^Consolidated assets") == at["assets"], filing
        assert Book.find(notes, "^Property, net") == at["plant"], filing
        assert Book.find(notes, "^Total provision for income taxes") == at["tax"], filing
        debt = [at["debt_current"][year] + at["debt_long"][year] for year in range(2)]
        assert Book.find(notes, "^Total debt") == debt, filing
        labels = [label for label, _ in notes]
        start, end = labels.index("Total debt"), labels.index("Debt due after one year")
        assert [a + b for a, b in zip(notes[start][1], notes[start + 1][1], strict=True)] == notes[end][1], (
            filing
        )


def average(values: list[float]) -> float:
    return (values[0] + values[1]) / 2


Formula = Callable[[dict[str, list[float]]], float]
# Every template of the family, by words of its question, with the formula over printed rows.
METRICS: tuple[tuple[str, Formula], ...] = (
    ("capital expenditure amount", lambda at: at["capex"][0]),
    ("fixed asset turnover", lambda at: at["revenue"][0] / average(at["plant"])),
    ("year-over-year change in revenue", lambda at: 100 * (at["revenue"][0] / at["revenue"][1] - 1)),
    ("inventory turnover", lambda at: at["cost"][0] / average(at["inventories"])),
    ("free cash flow", lambda at: at["cfo"][0] - at["capex"][0]),
    ("days sales outstanding", lambda at: 365 * average(at["receivables"]) / at["revenue"][0]),
    ("effective tax rate", lambda at: 100 * at["tax"][0] / at["pretax"][0]),
    ("operating cash flow ratio", lambda at: at["cfo"][0] / at["current_liabilities"][0]),
    ("3 year average of cap", lambda at: 100 * sum(at["capex"][i] / at["revenue"][i] for i in range(3)) / 3),
    ("net working capital", lambda at: at["current_assets"][0] - at["current_liabilities"][0]),
    ("return on assets", lambda at: 100 * at["net"][0] / average(at["assets"])),
    (
        "change in unadjusted operating income",
        lambda at: 100 * (at["operating"][0] / at["revenue"][0] - at["operating"][1] / at["revenue"][1]),
    ),
    (
        "days payable outstanding",
        lambda at: (
            365 * average(at["payables"]) / (at["cost"][0] + at["inventories"][0] - at["inventories"][1])
        ),
    ),
    ("net AR", lambda at: at["receivables"][1]),
    ("unadjusted EBITDA", lambda at: 100 * (at["operating"][0] + at["charges"][0]) / at["revenue"][0]),
    ("dividend payout ratio", lambda at: at["dividends"][0] / at["net"][0]),
    (
        "average net profit margin",
        lambda at: 100 * sum(at["net"][i] / at["revenue"][i] for i in range(3)) / 3,
    ),
    ("interest coverage", lambda at: -at["operating"][0] / at["interest"][0]),
    ("debt to equity", lambda at: (at["debt_current"][0] + at["debt_long"][0]) / at["equity"][0]),
)


def test_gold_answers_of_metrics_follow_from_the_printed_rows(
    books: dict[str, Book], figures: dict[str, dict[str, list[float]]]
) -> None:
    corpus = sample()
    used: Counter[str] = Counter()
    asked = corpus.questions.filter(corpus.questions["family"] == "metrics")
    for text, filing, answer in asked.select("text", "filing_id", "reference_answer").iter_rows():
        (words, formula) = next(entry for entry in METRICS if entry[0] in text)
        used[words] += 1
        wanted = formula(figures[filing])
        shown = re.sub(r"[^\d.-]", "", answer)
        decimals = len(shown.partition(".")[2])
        thousands = "In thousands" in books[filing].of("income")
        if words == "free cash flow" and thousands:
            wanted /= 1_000
        assert abs(float(shown) - wanted) <= 0.5 * 10**-decimals + 1e-9, (text, answer, wanted)
        if "thousand" in answer:
            assert thousands
    assert len(used) >= 17


JUDGED: tuple[tuple[str, Callable[[dict[str, list[float]]], bool]], ...] = (
    (
        "quick ratio",
        lambda at: (
            at["cash"][0] + at["investments"][0] + at["receivables"][0] >= at["current_liabilities"][0]
        ),
    ),
    (
        "improving gross margin",
        lambda at: at["cost"][0] / at["revenue"][0] < at["cost"][1] / at["revenue"][1],
    ),
    (
        "improving operating margin",
        lambda at: at["operating"][0] / at["revenue"][0] > at["operating"][1] / at["revenue"][1],
    ),
    ("capital-intensive", lambda at: at["capex"][0] / at["revenue"][0] >= 0.1),
    ("positive working capital", lambda at: at["current_assets"][0] > at["current_liabilities"][0]),
    (
        "increased its debt",
        lambda at: at["debt_current"][0] + at["debt_long"][0] > at["debt_current"][1] + at["debt_long"][1],
    ),
    ("pay dividends", lambda at: at["dividends"][0] > 0),
    ("cover the dividends", lambda at: at["cfo"][0] - at["capex"][0] >= at["dividends"][0]),
    ("larger than its net income", lambda at: at["cfo"][0] > at["net"][0]),
)


def test_verdicts_of_domain_follow_from_the_printed_rows(figures: dict[str, dict[str, list[float]]]) -> None:
    asked = sample().questions.filter(sample().questions["family"] == "domain")
    verdicts: Counter[tuple[str, bool]] = Counter()
    for text, filing, answer in asked.select("text", "filing_id", "reference_answer").iter_rows():
        for words, verdict in JUDGED:
            if words in text:
                assert answer.startswith("Yes." if verdict(figures[filing]) else "No."), (text, answer)
                verdicts[words, verdict(figures[filing])] += 1
    assert len({words for words, _ in verdicts}) == len(JUDGED)
    yes = sum(count for (_, positive), count in verdicts.items() if positive)
    assert 0.25 < yes / verdicts.total() < 0.85


def test_activity_with_the_most_cash_follows_from_the_printed_rows(
    figures: dict[str, dict[str, list[float]]],
) -> None:
    asked = sample().questions
    found = 0
    for text, filing, answer in asked.select("text", "filing_id", "reference_answer").iter_rows():
        if text.startswith("Among operations"):
            at = figures[filing]
            flows = {"Operating": at["cfo"][0], "Investing": at["cfi"][0], "Financing": at["cff"][0]}
            best = max(flows, key=lambda kind: flows[kind])
            assert answer.startswith(best)
            assert f"{abs(flows[best]):,.0f}" in answer
            found += 1
    assert found


def test_segments_asked_for_follow_from_the_printed_rows(books: dict[str, Book]) -> None:
    found = 0
    for text, filing, answer in (
        sample().questions.select("text", "filing_id", "reference_answer").iter_rows()
    ):
        if "segments had the highest revenue" in text or "dragged down" in text:
            book = books[filing]
            (page,) = (page for page in book.texts if "Revenue by segment" in page)
            after = rows(page.split("Revenue by segment")[1])
            end = next(i for i, (label, _) in enumerate(after) if label == "Total segment revenue")
            table = [entry for entry in after[:end] if len(entry[1]) == 3]
            if "highest" in text:
                name, values = max(table, key=lambda entry: entry[1][0])
                assert f"{values[0]:,.0f}" in answer
            else:
                name, _ = min(table, key=lambda entry: entry[1][0] / entry[1][1])
            assert answer.startswith(name)
            found += 1
    assert found >= 3


def test_evidence_pages_hold_what_the_answer_rests_on() -> None:
    corpus = sample()
    wanted = {}
    for number, filing in enumerate(all_filings(SEED, FILERS, YEARS)):
        for _, question in questions_on(filing, number):
            wanted[filing.filing_id, question.text] = question.shown
    pages_of = corpus.pages.select("filing_id", "page_number", "text").iter_rows()
    texts = {(filing, page): text for filing, page, text in pages_of}
    for text, evidence, filing in corpus.questions.select("text", "evidence", "filing_id").iter_rows():
        pages = [" ".join(texts[page["filing_id"], page["page_number"]].split()) for page in evidence]
        for piece in wanted[filing, text]:
            assert any(piece in page for page in pages), (filing, text, piece)
        for page in pages:
            assert any(piece in page for piece in wanted[filing, text]), (filing, text)


def test_discussion_repeats_figures_rounded(books: dict[str, Book]) -> None:
    rounded = 0
    for book in books.values():
        prose = " ".join(book.texts)
        stated = re.search(
            r"Cash and cash equivalents were \$([\d.,]+)\s(million|billion)", " ".join(prose.split())
        )
        assert stated
        scale = 1e9 if stated[2] == "billion" else 1e6
        unit = 1e3 if "In thousands" in prose else 1e6
        exact = book.find(book.balance, "^cash and cash")[0] * unit
        assert abs(float(stated[1].replace(",", "")) * scale - exact) <= 0.01 * exact
        rounded += float(stated[1].replace(",", "")) * scale != exact
    assert rounded >= 20


def test_contents_name_the_pages_on_which_parts_begin(books: dict[str, Book]) -> None:
    for filing, book in books.items():
        (contents,) = (text for text, kind in zip(book.texts, book.kinds, strict=True) if kind == "contents")
        listed = dict(re.findall(r"^(.+?)   (\d+)$", contents, re.M))
        for title, kind in (("Exhibits", "exhibits"), ("Signatures", "exhibits")):
            assert book.kinds[int(listed[title]) - 1] == kind, filing
        for place, text in enumerate(book.texts[1:], start=2):
            assert text.endswith(f"\n{place}")

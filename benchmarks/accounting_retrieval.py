"""Retrieval by knowledge of accounting on whole FinanceBench filings, right filing given, no model call.

``python -m benchmarks.accounting_retrieval FOLDER`` reads FinanceBench's files and the PDFs below the folder. Questions
whose PDF isn't there are left out. The retriever was tuned on the filings whose name's SHA-256 is even; the odd ones
stand beside them. Prints hit rates with intervals over filings, each signal's share by leaving it out, how often the
first page prints the answer, what the embedded reader answers over five pages, and CPU seconds.
"""

from __future__ import annotations

import argparse
import hashlib
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import polars as pl

from apportion.answers.numeric import figures, numeric_agreement
from apportion.bootstrap import mean_intervals
from apportion.corpus.financebench import read_financebench
from apportion.corpus.page_kinds import page_profiles
from apportion.corpus.pdf import read_pdf
from apportion.llm.embedded.reader import answer_prompt
from apportion.retrieval.accounting.ablation import signal_shares
from apportion.retrieval.accounting.learnt import Example, cross_fitted
from apportion.retrieval.accounting.ranker import WEIGHTS, Accounting
from apportion.retrieval.accounting.signals import Signals
from apportion.retrieval.accounting.wants import wants_of
from apportion.retrieval.page_shard import PageShard
from apportion.retrieval.ranking import Scope
from apportion.retrieval.retrievers import RETRIEVERS, rank_within_filings
from apportion.retrieval.shards import IndexFolder, TermShard
from apportion.routes.prompts import ContextPage, answer_messages, parse_answer

DEPTH = 20
BUILT = ("page kinds", "terms", "accounting")
HALVES = ("even", "odd", "all")


def half(filing: str) -> str:
    return ("even", "odd")[int(hashlib.sha256(filing.encode()).hexdigest(), 16) % 2]


def load(folder: Path, chosen: str) -> tuple[pl.DataFrame, dict[str, list[str]], float]:
    """Questions whose filing's PDF is below the folder, the filings' pages, and the CPU seconds of reading them."""
    pdfs = {path.stem: path for path in sorted(folder.rglob("*.pdf"))}
    corpus = read_financebench(folder)
    asked = corpus.questions.filter(pl.col("filing_id").is_in(list(pdfs)))
    if chosen != "all":
        asked = asked.filter(pl.col("filing_id").map_elements(half, pl.String) == chosen)
    start = time.process_time()
    pages = {name: list(read_pdf(pdfs[name])) for name in sorted(set(asked["filing_id"]))}
    return asked, pages, time.process_time() - start


def rates(asked: pl.DataFrame, rankings: Sequence[Sequence[int]]) -> pl.DataFrame:
    """Hit rates by half and family."""
    rows = []
    scored = []
    for row, ranking in zip(asked.iter_rows(named=True), rankings, strict=True):
        gold = {page["page_number"] for page in row["evidence"] if page["filing_id"] == row["filing_id"]}
        elsewhere = any(page["filing_id"] != row["filing_id"] for page in row["evidence"])
        first = next((rank for rank, page in enumerate(ranking, 1) if page in gold), None)
        scored.append(
            (
                half(row["filing_id"]), row["family"], row["filing_id"],
                *(first is not None and first <= k for k in (1, 5, 20)),
                gold <= set(ranking[:5]) and not elsewhere, 1 / first if first else 0.0,
            )
        )  # fmt: skip
    for which in HALVES:
        for family in ("all", *sorted(set(asked["family"]))):
            chosen = [s for s in scored if which in (s[0], "all") and family in (s[1], "all")]
            if not chosen:
                continue
            found = mean_intervals(np.array([s[3:] for s in chosen], float), [s[2] for s in chosen])
            shown = [f"{i.estimate:.1%} [{i.low:.0%}, {i.high:.0%}]" for i in found[:4]]
            names = ("first", "in five", "in twenty", "all in five")
            rows.append(
                {"half": which, "family": family, "n": len(chosen), **dict(zip(names, shown, strict=True)),
                 "mrr": f"{found[4].estimate:.3f}"}
            )  # fmt: skip
    return pl.DataFrame(rows)


def in_one_filing(index: IndexFolder, pages: dict[str, list[str]], questions: Sequence[str]) -> str:
    """CPU time of one question at a time in the filing nearest to 300 pages, shards opened anew each time."""
    name = min(pages, key=lambda filing: (abs(len(pages[filing]) - 300), filing))
    rank_within_filings("accounting", index, {name: None}, [questions[0]], [name], DEPTH)
    spent = []
    for question in questions:
        wants_of.cache_clear()
        start = time.process_time()
        rank_within_filings("accounting", index, {name: None}, [question], [name], DEPTH)
        spent.append(1e3 * (time.process_time() - start))
    return (
        f"CPU ms a question in a filing of {len(pages[name])} pages: median {np.median(spent):.1f}, "
        f"95 % below {np.quantile(spent, 0.95):.1f}, most {max(spent):.1f}"
    )


def learnt_rankings(index: IndexFolder, scope: Scope, asked: pl.DataFrame) -> list[list[int]]:
    """Rankings by weights that learnt from other filings' questions."""
    kept: dict[tuple[str, str], Signals] = {}
    ranker = Accounting(index, scope, signals=kept)
    questions, filings = asked["text"].to_list(), asked["filing_id"].to_list()
    ranker.rank(questions, filings, 1)
    examples = []
    for row in asked.iter_rows(named=True):
        signals = kept[row["filing_id"], row["text"]]
        cited = np.zeros(len(signals.kinds), np.bool_)
        # Whole filings: a page's number is its place.
        cited[[page["page_number"] for page in row["evidence"] if page["filing_id"] == row["filing_id"]]] = (
            True
        )
        examples.append(
            Example(row["filing_id"], np.column_stack([signals.values[name] for name in WEIGHTS]), cited)
        )
    rankings = []
    for question, filing, weights in zip(questions, filings, cross_fitted(examples), strict=True):
        (ranking,) = Accounting(index, scope, weights, signals=kept).rank([question], [filing], DEPTH)
        rankings.append([page.number for page in ranking])
    return rankings


def prints_answer(asked: pl.DataFrame, rankings: Sequence[Sequence[int]], pages: dict[str, list[str]]) -> str:
    """How often the first page prints the answer's figure, of questions on which a cited page does."""
    there = first = gold_first = 0
    for row, ranking in zip(asked.iter_rows(named=True), rankings, strict=True):
        wanted = [figure for figure in figures(row["reference_answer"]) if not 1990 <= figure.value <= 2030]
        if not wanted:
            continue
        texts = pages[row["filing_id"]]
        cited = [page["page_number"] for page in row["evidence"] if page["filing_id"] == row["filing_id"]]
        if any(_prints(texts[page], wanted[0].value) for page in cited):
            there += 1
            first += _prints(texts[ranking[0]], wanted[0].value)
            gold_first += ranking[0] in cited
    return f"{first} of {there} first pages print the answer's figure; {gold_first} of them are cited pages"


def _prints(text: str, value: float) -> bool:
    """Whether a page prints a figure, in its own unit or in thousandths of it, as it is rounded."""
    printed = {abs(figure.value) for figure in figures(text)}
    scaled = [abs(value) * scale for scale in (1.0, 1e3, 1e-3)]
    return any(abs(one - want) <= 0.005 * max(want, 1e-9) for one in printed for want in scaled if want)


def reader(asked: pl.DataFrame, rankings: Sequence[Sequence[int]], pages: dict[str, list[str]]) -> str:
    """Metrics questions that the embedded reader answers rightly and wrongly over the first five pages."""
    right = wrong = abstained = 0
    for row, ranking in zip(asked.iter_rows(named=True), rankings, strict=True):
        if row["family"] != "metrics-generated":
            continue
        name = row["filing_id"]
        context = [ContextPage(name, page, pages[name][page]) for page in ranking[:5]]
        answer = parse_answer(answer_prompt(answer_messages(row["text"], context)))
        if answer.abstained:
            abstained += 1
        elif numeric_agreement(answer.answer, row["reference_answer"], row["text"]) == "agree":
            right += 1
        else:
            wrong += 1
    return f"{right} right, {wrong} wrong, {abstained} abstained"


def main() -> None:
    """Run the benchmark."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--half", choices=HALVES, default="all")
    parser.add_argument("--shares", action="store_true", help="each signal's share as well")
    given = parser.parse_args()
    pl.Config(
        tbl_rows=60,
        tbl_cols=12,
        tbl_width_chars=160,
        tbl_hide_dataframe_shape=True,
        tbl_hide_column_data_types=True,
    )
    asked, pages, reading_s = load(given.folder, given.half)
    count = sum(map(len, pages.values()))
    print(f"{asked.height} questions on {len(pages)} filings of {count:,} pages")
    with tempfile.TemporaryDirectory() as scratch:
        index = IndexFolder(Path(scratch))
        spent = dict.fromkeys(BUILT, 0.0)
        for name, texts in pages.items():
            numbers = list(range(len(texts)))
            start = time.process_time()
            page_profiles(texts)
            spent["page kinds"] += time.process_time() - start
            start = time.process_time()
            terms = TermShard.build(numbers, texts)
            spent["terms"] += time.process_time() - start
            start = time.process_time()
            PageShard.build(Path(scratch) / "trial.sqlite", numbers, texts, terms.families)
            spent["accounting"] += time.process_time() - start
            index.add(pl.DataFrame({"filing_id": name, "page_number": numbers, "text": texts}))
        scope = dict.fromkeys(pages)
        found: dict[str, list[list[int]]] = {}
        for name in RETRIEVERS:
            start = time.process_time()
            ranked = rank_within_filings(
                name, index, scope, asked["text"].to_list(), asked["filing_id"].to_list(), DEPTH
            )
            found[name] = [[page.number for page in ranking] for ranking in ranked]
            spent[f"rank {name}"] = time.process_time() - start
        for name in RETRIEVERS:
            table = rates(asked, found[name])
            print(f"\n{name}\n{table if name == 'accounting' else table.filter(pl.col('family') == 'all')}")
        learnt = learnt_rankings(index, scope, asked)
        print(f"\naccounting, weights learnt from other filings\n{rates(asked, learnt)}")
        print(f"\nanswer's figure: {prints_answer(asked, found['accounting'], pages)}")
        for name in ("tfidf", "accounting"):
            print(f"embedded reader over five pages of {name}: {reader(asked, found[name], pages)}")
        print(f"\nCPU ms a page: reading PDFs {1e3 * reading_s / count:.2f}", end="")
        print(", ".join(["", *(f"{name} {1e3 * spent[name] / count:.2f}" for name in BUILT)]))
        print(
            "CPU ms a question:",
            ", ".join(f"{n} {1e3 * spent[f'rank {n}'] / asked.height:.1f}" for n in RETRIEVERS),
        )
        print(in_one_filing(index, pages, asked["text"].to_list()))
        if given.shares:
            shares = signal_shares(index, scope, asked).filter(pl.col("family") == "all")
            print(shares)


if __name__ == "__main__":
    main()

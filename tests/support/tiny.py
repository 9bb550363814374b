"""A tiny data set in FinanceBench's format: invented companies, a page or several a filing, known answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

NAMES = (
    "Alder",
    "Birch",
    "Cedar",
    "Dogwood",
    "Elm",
    "Fir",
    "Ginkgo",
    "Hazel",
    "Ironwood",
    "Juniper",
    "Katsura",
    "Larch",
)


def statement(company: str, index: int, year: int) -> str:
    """An income statement page."""
    revenue = 1_000 + 137 * index
    return (
        f"{company} Corporation\nConsolidated Statements of Income\nYears ended December 31\n(In millions)\n"
        f"{year} {year - 1}\n"
        f"Net revenue {revenue:,} {revenue - 55:,}\n"
        f"Cost of revenue {revenue // 2:,} {revenue // 2 - 20:,}\n"
        f"Net income {revenue // 9:,} {revenue // 10:,}\n"
    )


def cash_flow(company: str, index: int, year: int) -> str:
    """A cash flow page."""
    capex = 40 + 3 * index
    return (
        f"{company} Corporation\nConsolidated Statements of Cash Flows\nYears ended December 31\n(In millions)\n"
        f"{year} {year - 1}\n"
        f"Net cash provided by operating activities {300 + index:,} {280 + index:,}\n"
        f"Purchases of property, plant and equipment ({capex}) ({capex - 2})\n"
        + "The company paid for machines and buildings. "
        * (10 + 7 * index)
    )


def rows(filers: int = len(NAMES)) -> list[dict[str, Any]]:
    """Two questions a filer."""
    listed = []
    for index, name in enumerate(NAMES[:filers]):
        year = 2019 + index % 3
        document = f"{name.upper()}_{year}_10K"
        pages = [(10 + index, statement(name, index, year)), (20 + index, cash_flow(name, index, year))]
        evidence = [
            {
                "doc_name": document,
                "evidence_page_num": number,
                "evidence_text": text[:40],
                "evidence_text_full_page": text,
            }
            for number, text in pages
        ]
        revenue, capex = 1_000 + 137 * index, 40 + 3 * index
        listed += [
            {
                "financebench_id": f"tiny_{index:02d}_a",
                "company": name,
                "doc_name": document,
                "question_type": "metrics-generated",
                "question": f"What is the FY{year} net revenue (in USD millions) for {name}?",
                "answer": f"${revenue}.00",
                "evidence": evidence[:1],
            },
            {
                "financebench_id": f"tiny_{index:02d}_b",
                "company": name,
                "doc_name": document,
                "question_type": "domain-relevant" if index % 2 else "novel-generated",
                "question": f"What is the FY{year} capex (USD millions) for {name}? Use the cash flow statement.",
                "answer": f"${capex}.00",
                "evidence": evidence[1:],
            },
        ]
    return listed


def write(folder: Path, listed: list[dict[str, Any]] | None = None, *, documents: bool = True) -> Path:
    """Write the data set's two files; returns the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    listed = rows() if listed is None else listed
    (folder / "financebench_open_source.jsonl").write_text("".join(json.dumps(row) + "\n" for row in listed))
    if documents:
        facts = {
            row["doc_name"]: {
                "doc_name": row["doc_name"],
                "company": row["company"],
                "doc_type": "10k",
                "doc_period": 2020,
            }
            for row in listed
        }
        lines = "".join(json.dumps(fact) + "\n" for fact in facts.values())
        (folder / "financebench_document_information.jsonl").write_text(lines)
    return folder

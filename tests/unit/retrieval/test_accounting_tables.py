"""The tables of accounting knowledge, and a user's own file on top of them."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from apportion.accounting import METRICS, METRICS_BY_NAME, items_of, mentions
from apportion.corpus.page_kinds import PAGE_KINDS
from apportion.knowledge import tables as knowledge
from apportion.knowledge.tables import AccountingTableError
from apportion.knowledge.topics import topics
from apportion.line_items import ITEMS_BY_NAME


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A user's file, read afresh."""
    path = tmp_path / "own.toml"
    monkeypatch.setenv(knowledge.VARIABLE, str(path))
    knowledge.tables.cache_clear()
    yield path
    knowledge.tables.cache_clear()


def test_metrics_need_the_line_items_of_their_formulas() -> None:
    assert items_of("quick_ratio") == {
        "cash",
        "short_term_investments",
        "accounts_receivable",
        "current_liabilities",
    }
    assert {ITEMS_BY_NAME[name].statement for name in items_of("quick_ratio")} == {"balance"}
    assert items_of("free_cash_flow_conversion") == {
        "operating_cash_flow",
        "capital_expenditure",
        "net_income",
    }
    assert items_of("inventory") == {"inventory"}
    assert all(items_of(metric.name) for metric in METRICS)


def test_topics_stand_on_kinds_of_page_that_there_are() -> None:
    for topic in topics():
        assert set(topic.pages) <= set(PAGE_KINDS)
    (legal,) = (topic for topic in topics() if topic.name == "legal")
    assert legal.asked.search("any pending Lawsuits?")
    assert not legal.asked.search("is it paralegal work")


def test_a_user_adds_and_extends(own: Path) -> None:
    own.write_text(
        '[[metric]]\nname = "burn_rate"\nasked = ["burn rate"]\nformula = "0 - free_cash_flow / 12"\nunit = "money"\n'
        '[[line_item]]\nname = "revenue"\nlabels = ["gaming win"]\n'
        '[[topic]]\nname = "legal"\npages = { notes = 0.9 }\n'
    )
    found = knowledge.tables()
    assert found["metric"][-1]["name"] == "burn_rate"
    (revenue,) = (entry for entry in found["line_item"] if entry["name"] == "revenue")
    assert revenue["labels"][0] == "total net revenue"
    assert revenue["labels"][-1] == "gaming win"
    (legal,) = (entry for entry in found["topic"] if entry["name"] == "legal")
    assert legal["pages"]["notes"] == 0.9
    assert legal["pages"]["legal"] == 1.0


def test_a_users_metric_reaches_reader_and_questions(tmp_path: Path) -> None:
    """Tables are read when a process starts; the process is asked what it then knows."""
    own = tmp_path / "own.toml"
    own.write_text(
        '[[metric]]\nname = "liquid_share"\nasked = ["liquid share"]\nformula = "cash / total_assets"\nunit = "ratio"\n'
    )
    code = (
        "from apportion.llm.embedded.reader import read;"
        "page = 'Balance Sheets\\nDecember 31, 2023 2022\\nCash 25 20\\nTotal assets 100 90\\n';"
        "print(read('What is the FY2023 liquid share? Round to two decimals.', [page])[0])"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], env={knowledge.VARIABLE: str(own)}, capture_output=True, text=True, check=True,
        cwd=Path(__file__).parents[3],
    )  # fmt: skip
    assert done.stdout.strip() == "0.25"
    assert "liquid_share" not in METRICS_BY_NAME


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[metric]\n", "not TOML"),
        ("[[ratios]]\nname = 'x'\n", "no such table 'ratios'"),
        ("[[metric]]\nname = 'Burn rate'\n", "use lower-case letters"),
        ("[[metric]]\nname = 'burn'\n", "asked is missing"),
        ("[[metric]]\nname = 'cash_ratio'\nformulae = 'x'\n", "no field 'formulae'"),
        (
            "[[metric]]\nname = 'cash_ratio'\nformula = 'cash / money_bags'\n",
            "'money_bags', which is no line item",
        ),
        ("[[metric]]\nname = 'cash_ratio'\nformula = 'cash; import os'\n", "';' can't be read"),
        ("[[metric]]\nname = 'ebitda'\nformula = 'ebitda_margin * revenue'\n", "comes back to itself"),
        ("[[metric]]\nname = 'cash_ratio'\nunit = 'euros'\n", "must be one of money"),
        ("[[line_item]]\nname = 'cash'\nmagnitude = 'yes'\n", "must be true or false"),
        ("[[topic]]\nname = 'legal'\npages = { notes = 3 }\n", "weights from 0 to 1"),
    ],
)
def test_a_malformed_entry_is_named_with_its_remedy(own: Path, text: str, message: str) -> None:
    own.write_text(text)
    with pytest.raises(AccountingTableError, match=message) as raised:
        knowledge.tables()
    assert "\n" not in str(raised.value)


def test_a_file_that_is_not_there_is_named(own: Path) -> None:
    with pytest.raises(AccountingTableError, match=r"own\.toml can't be read"):
        knowledge.tables()


def test_a_wording_that_two_share_means_the_metric() -> None:
    assert [mention.name for mention in mentions("the quick ratio and free cash flow")] == [
        "quick_ratio",
        "free_cash_flow",
    ]

"""The notes on debt and leases."""

from __future__ import annotations

from apportion.corpus.synthetic.filers import Note
from apportion.corpus.synthetic.layout import row, table
from apportion.corpus.synthetic.view import Block, Part, View, text


def note_name(note: Note, year: int) -> str:
    """A note as the debt table calls it."""
    return f"{note.rate // 100}.{note.rate % 100:02d}% senior notes due {note.due_after(year)}"


def debt(view: View) -> Part:
    """Borrowings that sum to the balance sheet's, maturities, and the credit line."""
    two, filer, facts = view.two, view.filer, view.facts
    rows = [
        row(
            note_name(note, view.year),
            note.face,
            note.face if note_name(note, view.year) == note_name(note, view.year - 1) else 0,
        )
        for note in filer.notes
    ]
    rows += [
        row(note_name(note, view.year - 1), 0, note.face)
        for note in filer.notes
        if note_name(note, view.year) != note_name(note, view.year - 1)
    ]
    rows.append(view.rows("Term loan", "term_loan", two))
    rows.append(view.rows("Total debt", "debt", two, money=True))
    rows.append(view.rows("Less current portion", "debt_current", two, -1))
    rows.append(view.rows("Debt due after one year", "debt_long", two, money=True))
    due = [
        row(f"{view.year + 1 + i}" if i < 5 else "Thereafter", value)
        for i, value in enumerate(view.now.maturities)
    ]
    due.append(row("Total", view.now["debt"], money=True))
    spread = view.spread_notes
    plan = "\n".join(("Maturities of debt by fiscal year", view.unit_line(), table(due, spread)))
    available = facts.revolver - facts.letters_of_credit
    line = text(
        f"We have a revolving credit facility of {view.million(facts.revolver)} with a group of banks. "
        f"Nothing was drawn on it at {view.ended(view.year)}; letters of credit of "
        f"{view.million(facts.letters_of_credit)} left {view.million(available)} available. The facility "
        f"requires that consolidated debt not exceed {3 + filer.index % 3}.{filer.index % 2 * 5} times "
        "earnings before interest, taxes, depreciation and amortization. We were in compliance with all "
        "covenants.",
        tag="revolver",
    )
    return "Debt", [
        Block(view.note_table(view.balance_header(spread), rows), "debt"),
        Block(plan, "maturities"),
        line,
    ]


def leases(view: View) -> Part:
    """Payments due under operating leases, less the interest in them."""
    *payments, interest = view.now.lease_payments
    rows = [row(f"{view.year + 1 + i}" if i < 5 else "Thereafter", value) for i, value in enumerate(payments)]
    rows += [row("Total lease payments", sum(payments)), row("Less interest", -interest)]
    rows.append(row("Present value of lease liabilities", view.now["leased"], money=True))
    term, rate = view.draw("lease").integer(45, 110), view.draw("lease rate").integer(280, 560)
    said = text(
        f"The weighted average remaining term of our operating leases was {term // 10}.{term % 10} years "
        f"and the weighted average discount rate was {rate // 100}.{rate % 100:02d}%. The lease of our "
        f"headquarters in {view.filer.town} runs until {view.facts.headquarters_until}.",
        tag="lease_terms",
    )
    schedule = "\n".join(("Payments due by fiscal year", view.unit_line(), table(rows, view.spread_notes)))
    return "Leases", [Block(schedule, "lease_payments"), said]

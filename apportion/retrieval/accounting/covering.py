"""The first pages as a set: five pages that cover all that a formula needs beat five near-copies of the best one."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from apportion.retrieval.accounting.signals import Signals
from apportion.retrieval.accounting.wants import Wants

FIRST = 5
"""Pages that are chosen as a set."""

CONSIDERED = 40
"""Best pages among which the set is chosen."""

GAIN = 0.2
"""What covering every wanted line item adds, by the score of the best page."""

PRINTED = 0.7
"""Certainty from which a page prints a line item."""

PRIMARY = 0.4
"""Strength from which a page is one of the company's own statements."""


def order(scores: npt.NDArray[np.float64], wants: Wants, signals: Signals) -> list[int]:
    """Places of the pages, best first.

    The best page stands first whatever it covers. The next ones are chosen one by one by score and by the share of the
    wanted line items that they add, as primary statements print them (greedy maximum coverage: Nemhauser, Wolsey and
    Fisher 1978). Where a metric is computed, each statement that its formula needs has a page among the first five.
    Ties go to the earlier page.
    """
    ranked = [int(place) for place in np.argsort(-scores, kind="stable")]
    if not wants.items or not ranked:
        return ranked
    statements = [place for place in ranked if signals.strengths[place] > PRIMARY]
    prints = {
        place: {item for item, certainty in signals.rows.items() if certainty[place] >= PRINTED}
        for place in statements
    }
    largest = max(float(scores[ranked[0]]), 1e-12)
    first, candidates = ranked[:1], ranked[1:CONSIDERED]
    left = set(wants.items) - prints.get(first[0], set())
    while len(first) < FIRST and candidates:
        best = max(
            candidates,
            key=lambda place: (
                float(scores[place]) / largest
                + GAIN * len(prints.get(place, set()) & left) / len(wants.items),
                -place,
            ),
        )
        candidates.remove(best)
        first.append(best)
        left -= prints.get(best, set())
    if wants.metric:
        first = _with_statements(first, statements, wants, signals)
    chosen = set(first)
    return first + [place for place in ranked if place not in chosen]


def _with_statements(first: list[int], statements: list[int], wants: Wants, signals: Signals) -> list[int]:
    """The first pages with the best page of each needed statement that lacks, in place of the last ones."""
    lacking = []
    for kind in sorted(wants.needed_statements):
        if any(signals.kinds[place] == kind and place in set(statements) for place in first):
            continue
        lacking += [place for place in statements if signals.kinds[place] == kind][:1]
    return first[: FIRST - len(lacking)] + lacking

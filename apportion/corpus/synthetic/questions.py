"""Questions on one filing, with answers computed from its figures and the blocks of the filing that hold them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from apportion.corpus.synthetic.layout import amount
from apportion.corpus.synthetic.view import View


@dataclass(frozen=True)
class Question:
    """A question and its gold answer. ``tags`` name the blocks that hold the evidence; ``shown`` are pieces of text
    that stand on those pages word for word."""

    text: str
    answer: str
    tags: tuple[str, ...]
    shown: tuple[str, ...]


STRIDE = 5

Template = Callable[[View], Question | None]
"""A question on a filing; none where the filing doesn't support it."""


def ask(view: View, templates: Sequence[Template], number: int, count: int) -> list[Question]:
    """The next ``count`` questions of a family for filing ``number``, going round the templates in turn."""
    found: list[Question] = []
    # A step that shares no factor with the number of templates reaches all of them equally often.
    start = number * STRIDE
    for step in range(len(templates)):
        question = templates[(start + step) % len(templates)](view)
        if question is not None:
            found.append(question)
        if len(found) == count:
            break
    return found


def printed(*values: int) -> tuple[str, ...]:
    """Amounts as statements print them."""
    return tuple(amount(value) for value in values)


def dollars(view: View, value: int) -> str:
    """An exact amount as an answer: ``$1,234 million``."""
    return f"{'-' if value < 0 else ''}${abs(value):,} {view.filer.unit.removesuffix('s')}"


def percentage(value: float, decimals: int = 1) -> str:
    """A fraction as percent."""
    return f"{100 * value:.{decimals}f}%"

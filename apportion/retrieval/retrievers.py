"""The rankers by the names under which `retrievals` stores them."""

from __future__ import annotations

import difflib
from collections.abc import Callable

from apportion.retrieval.fulltext import FullText
from apportion.retrieval.fusion import Fusion
from apportion.retrieval.ranking import Ranker, Scope
from apportion.retrieval.sharded import ShardedTfidf
from apportion.retrieval.shards import IndexFolder

RETRIEVERS: dict[str, Callable[[IndexFolder, Scope], Ranker]] = {
    ShardedTfidf.name: ShardedTfidf,
    FullText.name: FullText,
    Fusion.name: Fusion,
}


def check_retriever(name: str) -> str:
    """The name, if there is such a retriever.

    Raises:
        ValueError: there is none.
    """
    if name in RETRIEVERS:
        return name
    near = difflib.get_close_matches(name, RETRIEVERS, n=1)
    hint = f"did you mean {near[0]}?" if near else f"retrievers: {', '.join(RETRIEVERS)}"
    raise ValueError(f"there is no retriever {name!r}; {hint}")

"""The rankers by the names under which `retrievals` stores them."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Sequence

from apportion.retrieval.accounting.ranker import Accounting
from apportion.retrieval.dense import Dense
from apportion.retrieval.fulltext import FullText
from apportion.retrieval.fusion import Fusion
from apportion.retrieval.ranking import Ranked, Ranker, Scope, by_filing
from apportion.retrieval.sharded import ShardedTfidf
from apportion.retrieval.shards import IndexFolder

ACCOUNTING = "accounting"

RETRIEVERS: dict[str, Callable[[IndexFolder, Scope], Ranker]] = {
    ShardedTfidf.name: ShardedTfidf,
    FullText.name: FullText,
    Dense.name: Dense,
    Fusion.name: Fusion,
    ACCOUNTING: Accounting,
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


def rank_within_filings(
    name: str,
    index: IndexFolder,
    scope: Scope,
    questions: Sequence[str],
    filings: Sequence[str | None],
    k: int,
) -> list[list[Ranked]]:
    """As `Ranker.rank`, each question within its filing, with the statistics of that filing alone.

    What every page of a filing says (its filer, its year) tells none of its pages apart. Statistics of the filing know
    that, those of many filings don't: on 104 questions over whole 10-Ks TF-IDF found a cited page among the first 1, 5
    and 20 for 14, 38 and 57 % against 10, 26 and 49 %. Only the shards of filings that are asked about are read.
    A question without a filing in scope has no page.
    """
    rankings: list[list[Ranked]] = [[] for _ in questions]
    for filing, places in by_filing(filings).items():
        if filing is None or filing not in scope:
            continue
        ranker = RETRIEVERS[name](index, {filing: scope[filing]})
        found = ranker.rank([questions[place] for place in places], [filing] * len(places), k)
        for place, ranking in zip(places, found, strict=True):
            rankings[place] = ranking
    return rankings

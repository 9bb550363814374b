"""How many of the reranked chunks are read: the adaptive cut (document-routed retrieval, 4.1.2).

The paper scales scores without saying how; here they sum to one for the cumulative share and are min-max scaled for the
cliff (chosen).
"""

from __future__ import annotations

from collections.abc import Sequence

SHARE = 0.55
CLIFF = 0.15


def kept(scores: Sequence[float], share: float = SHARE, cliff: float = CLIFF) -> int:
    """How many of the first chunks are kept: until their scores reach a share of the sum, and none beyond the cliff.

    Args:
        scores: best first. Where any is negative, all are lifted so that the lowest is zero.
        share: of the sum of scores, in (0, 1].
        cliff: a chunk this far below the first, of the way from the last to the first, ends the list.

    At least one is kept where there is any.
    """
    if not scores:
        return 0
    lowest, highest = min(scores), max(scores)
    lifted = [score - min(lowest, 0.0) for score in scores]
    total, width = sum(lifted), highest - lowest
    count, reached = 0, 0.0
    for score, value in zip(scores, lifted, strict=True):
        if count and width > 0 and (highest - score) / width > cliff + 1e-12:
            break
        count += 1
        reached += value
        if total <= 0 or reached >= share * total - 1e-12:
            break
    return count

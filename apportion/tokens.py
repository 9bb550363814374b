"""Token counts in cl100k_base, the unit that the embedded models and the corpus count in.

The encoding's table ships inside LiteLLM; it is read from there, so that counting never tries the network and
never pays for importing LiteLLM itself.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import tiktoken

ENCODING = "cl100k_base"


@lru_cache(maxsize=1)
def encoding() -> tiktoken.Encoding:
    """The cl100k_base encoding, loaded from LiteLLM's bundled table."""
    import tiktoken

    spec = importlib.util.find_spec("litellm")
    if spec is not None and spec.submodule_search_locations:
        bundled = Path(spec.submodule_search_locations[0]) / "litellm_core_utils" / "tokenizers"
        os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(bundled))
    return tiktoken.get_encoding(ENCODING)


def count_tokens(text: str) -> int:
    """Number of cl100k_base tokens in ``text``; special-token spellings count as ordinary text."""
    return len(encoding().encode_ordinary(text))


def count_tokens_batch(texts: Iterable[str]) -> list[int]:
    """Token counts of many texts, in order."""
    return [len(ids) for ids in encoding().encode_ordinary_batch(list(texts), num_threads=2)]

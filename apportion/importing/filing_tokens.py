"""How many tokens a whole filing takes, counted from its PDF."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterable
from pathlib import Path

from apportion.corpus.records import Problem
from apportion.tokens import count_tokens_batch


def count_filings(
    folder: Path, names: Iterable[str], kept: Path | None = None
) -> tuple[dict[str, int], list[Problem]]:
    """Tokens of the filings whose PDF lies in a folder.

    Args:
        folder: holds ``NAME.pdf`` for a document NAME.
        names: the documents wanted.
        kept: a file in which counts are kept by the PDF's SHA-256, so that a PDF is read once.

    Returns:
        cl100k_base tokens by document, for those whose PDF is there and could be read; and a line for each that
        could not.
    """
    held: dict[str, int] = (
        json.loads(kept.read_text(encoding="utf-8")) if kept is not None and kept.exists() else {}
    )
    fresh = dict(held)
    found: dict[str, int] = {}
    problems: list[Problem] = []
    for name in sorted(set(names)):
        path = folder / f"{name}.pdf"
        # A document's name is data: it must not lead out of the folder.
        if "/" in name or "\\" in name or not path.is_file():
            continue
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        if digest not in fresh:
            try:
                fresh[digest] = sum(count_tokens_batch(_page_texts(path)))
            except ValueError as error:
                problems.append(
                    Problem(
                        path.name,
                        None,
                        "file",
                        name,
                        f"cannot be read ({error}); its filing's length stays unknown",
                    )
                )
                continue
        found[name] = fresh[digest]
    if kept is not None and fresh != held:
        kept.parent.mkdir(parents=True, exist_ok=True)
        draft = kept.with_name(f".{kept.name}-{os.getpid()}")
        draft.write_text(json.dumps(fresh, indent=0, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(kept)
    return found, problems


def _page_texts(path: Path) -> list[str]:
    import pypdfium2

    try:
        document = pypdfium2.PdfDocument(path)
    except pypdfium2.PdfiumError as error:
        raise ValueError(" ".join(str(error).split())) from error
    texts = []
    try:
        for page in document:
            text = page.get_textpage()
            texts.append(text.get_text_bounded())
            text.close()
            page.close()
    except pypdfium2.PdfiumError as error:
        raise ValueError(" ".join(str(error).split())) from error
    finally:
        document.close()
    return texts

"""Invented company names and tickers, unique by construction.

A name's first word is put together from three syllables, and each syllable has a letter of its own: those letters
and a final J are the ticker. Two filers therefore share neither name nor ticker.
"""

from __future__ import annotations

ONSETS = (
    "Abri", "Brel", "Corv", "Dunm", "Evar", "Farn", "Grel", "Hesk", "Ilv", "Jorv", "Kelb", "Lund", "Morv",
    "Nyst", "Ostr", "Pell", "Quen", "Rusk", "Skel", "Torv", "Ulsk", "Velm", "Wex", "Xylt", "Yarr", "Zem",
)  # fmt: skip
MIDDLES = (
    "a", "abi", "aco", "ado", "e", "efa", "ego", "eho", "i", "ija", "iko", "ila", "imo",
    "ino", "o", "opi", "oqua", "ora", "ose", "ota", "u", "ova", "owi", "oxa", "y", "uza",
)  # fmt: skip
ENDINGS = (
    "than", "brook", "crest", "dane", "nell", "ford", "gard", "holm", "rin", "jell", "kirk", "lund", "mere",
    "nard", "vor", "pont", "quist", "rane", "stad", "tris", "dur", "vale", "wick", "xen", "lyn", "zane",
)  # fmt: skip
SECOND_WORDS = (
    "Amber", "Birch", "Cedar", "Delta", "Ember", "Falcon", "Granite", "Harbor", "Iron", "Juniper", "Keystone",
    "Linden", "Meadow", "North", "Orchard", "Prairie", "Quartz", "Ridge", "Summit", "Timber", "Union",
        "Valley",
    "Willow", "Xenon", "Yarrow", "Zenith",
)  # fmt: skip
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_STEMS = len(ONSETS) * len(MIDDLES) * len(ENDINGS)
LIMIT = _STEMS * (1 + len(SECOND_WORDS))
# Coprime to the number of stems, so that stepping by it meets every stem once and neighbours look unlike.
_STEP = 7_927


def stem_and_ticker(index: int, seed: int) -> tuple[str, str]:
    """The first words of the name of filer ``index`` and its ticker.

    Raises:
        ValueError: there are no more names.
    """
    if not 0 <= index < LIMIT:
        raise ValueError(f"filers: number {index} has no name; at most {LIMIT:,} filers can be told apart")
    lap, place = divmod(index, _STEMS)
    code = (place * _STEP + seed) % _STEMS
    code, ending = divmod(code, len(ENDINGS))
    onset, middle = divmod(code, len(MIDDLES))
    stem = ONSETS[onset] + MIDDLES[middle] + ENDINGS[ending]
    ticker = LETTERS[onset] + LETTERS[middle] + LETTERS[ending] + "J"
    if lap:
        stem += f" {SECOND_WORDS[lap - 1]}"
        ticker += LETTERS[lap - 1]
    return stem, ticker


def central_index_key(index: int) -> str:
    """An invented CIK of ten digits, far above those the SEC has given out."""
    return f"{9_100_000_000 + index:010d}"

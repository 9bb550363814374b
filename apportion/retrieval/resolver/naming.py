"""Names as keys: what of a company's name is spelt in a question, whatever its punctuation."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

TOKEN = re.compile(r"[^\W_]+(?:[.'’&/+-][^\W_]+)*\+?")
LINKS = frozenset({"and", "the", "of"})
"""Words that a name may be written with or without."""

LEGAL = frozenset(
    "inc incorporated corp corporation co company companies plc ltd limited llc lp nv n v sa s a ag se ab as oyj asa "
    "holdings holding group trust bancorp bancshares cos".split()
)
GENERIC = LEGAL | frozenset(
    "international communications technologies technology systems solutions industries brands stores enterprises "
    "wholesale financial services resources laboratories pharmaceuticals energy platforms global worldwide com "
    "corporation de nemours".split()
)
"""Words that people leave off the end of a name."""

COMMON = frozenset(
    "block target gap ball visa apple chase discover progressive southern american general national united first "
    "square match key pool principal regions waters dover hess fox news travelers booking carnival mosaic linde "
    "roper snap meta equity best public capital standard western northern eastern pacific atlantic global energy "
    "digital advanced applied alliance summit pioneer constellation corning trane ford dow stride unity box square "
    "oracle intuit sealed crown cadence charter comfort everest evergreen extra franklin genuine hilton host iron "
    "live loews marathon monster newmont prudential realty republic simon state sun texas vulcan welltower otis "
    "international automatic bank boston california central church cincinnati colorado consolidated cooper dollar "
    "eastern electronic electric federal financial great group health home illinois intercontinental john lincoln "
    "martin norfolk packaging philip pinnacle quest regal reliance rock royal santa service silicon southwest steel "
    "stanley tractor trade union universal vertex virginia washington waste williams york intelligent integrated "
    "insurance investors business community commerce industrial modern natural premier select superior supreme "
    "total trust valley vision world revenue company annual cash interest income credit debt total product market "
    "carrier fortune assurant aptiv allegion anthem harris coach shell citizens robinhood gen".split()
)
"""Names that are words or other names as well; alone they count only where they are written as a name."""


@dataclass(frozen=True)
class Word:
    """A word of a text: as written, as compared, where it stands."""

    written: str
    key: str
    start: int
    end: int
    possessive: bool = False


def words_in(text: str) -> list[Word]:
    """The words of a text, possessive endings cut off."""
    found = []
    for match in TOKEN.finditer(text):
        written, possessive = match[0], False
        for ending in ("'s", "’s"):
            if written.lower().endswith(ending):
                written, possessive = written[:-2], True
        after = text[match.end() : match.end() + 1]
        possessive = possessive or after in ("'", "’")
        found.append(Word(written, key_of(written), match.start(), match.start() + len(written), possessive))
    return found


def key_of(word: str) -> str:
    """A word without accents, punctuation and case; ``&`` is ``and``, which no key keeps."""
    plain = unicodedata.normalize("NFKD", word).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9+]", "", plain)


def joined(words: Sequence[str]) -> str:
    """The key of some words: ``Foot Locker`` and ``Footlocker`` have the same."""
    return "".join(word for word in words if word not in LINKS)


def first_word(name: str) -> str | None:
    """The first word of a name that has more, where it is telling enough to stand for the whole."""
    words = [word.key for word in words_in(name) if word.key and word.key not in LINKS]
    if len(words) < 2 or len(words[0]) < 5 or words[0] in COMMON | GENERIC or not words[0].isalpha():
        return None
    return words[0]


def name_keys(name: str) -> list[str]:
    """The keys under which a company's name may be written: whole, without legal endings, without generic ones.

    The last are kept only where something telling is left.
    """
    words = [word.key for word in words_in(re.sub(r"[&/]|\.(?=com\b)", " ", name, flags=re.I)) if word.key]
    while words and words[0] in LINKS:
        words = words[1:]
    keys = [joined(words)]
    for endings in (LEGAL, GENERIC):
        while len(words) > 1 and words[-1] in endings | LINKS:
            words = words[:-1]
        keys.append(joined(words))
    return [key for key in dict.fromkeys(keys) if len(key) >= 2]

"""The mechanism laboratory: a synthetic corpus on which retrieval arms change places by construction.

Companies are directions on a sphere, clustered in sectors; passages scatter about their company, and one bridge
passage a company leans towards a company of another sector. A query is answered by a softmax over companies of its own
similarities plus those of each passage read. *Known* queries lie on their company, *local* ones near it, *bridge* ones
near a company whose bridge passage names the answer: one retrieval reads about the wrong company, and only
reading on from it reaches the right one (adaptive routing, "Why the compositional class is the hard part").

It is a designed study of a mechanism. Its numbers say how a gap opens and closes, nothing about any model.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl

from apportion.routing.arms import Arms, Floats, Ints

ARMS = ("none", "single", "iterate")
CLASSES = ("known", "local", "bridge")
FEATURES = ("entropy", "nearest_cosine", "margin", "cross_sector")


@dataclass(frozen=True)
class Setting:
    """Sizes, angles and concentrations of the study; von Mises-Fisher throughout, angles in degrees."""

    dimensions: int = 32
    sectors: int = 4
    companies_a_sector: int = 4
    sector_concentration: float = 60.0
    passages_a_company: int = 4
    passage_concentration: float = 120.0
    bridge_angle: float = 40.0
    bridge_concentration: float = 300.0
    queries_a_class: int = 24
    known_concentration: float = 400.0
    local_concentration: float = 45.0
    named_share: float = 0.28
    bridge_query_concentration: float = 300.0
    temperature: float = 0.30
    retrievals: int = 2
    costs: tuple[float, float, float] = (0.0, 1.0, 3.0)

    def __post_init__(self) -> None:
        if self.sectors < 2 or self.companies_a_sector < 1 or self.dimensions < 3:
            raise ValueError(
                "the laboratory needs two sectors, a company in each and three dimensions at least"
            )
        if self.temperature <= 0 or not 0 <= self.named_share <= 1 or self.retrievals < 1:
            raise ValueError("temperature is above 0, named_share in [0, 1], retrievals at least 1")


@dataclass(frozen=True)
class Study:
    """Queries and what every arm made of them, q queries.

    Attributes:
        classes: the class of each query, shape (q,).
        gold: the company that answers it, shape (q,).
        quality: posterior on that company, shape (q, 3).
        right: whether it is the largest, shape (q, 3).
        features: entropy, nearest cosine, top-two margin, largest cosine outside the nearest sector, shape (q, 4).
        calibration: half of each class, shape (q,).
        costs: of the arms, in retrievals.
    """

    classes: tuple[str, ...]
    gold: Ints
    quality: Floats
    right: np.ndarray
    features: Floats
    calibration: np.ndarray
    costs: tuple[float, float, float]

    def arms(self, rows: np.ndarray | None = None) -> Arms:
        """The queries as a log; every query is a group of its own."""
        at = np.arange(len(self.classes)) if rows is None else np.flatnonzero(rows)
        keys = [f"q{i:06d}" for i in at.tolist()]
        cost = np.broadcast_to(np.asarray(self.costs), (len(at), len(ARMS)))
        return Arms(ARMS, keys, self.quality[at], cost, keys, [self.classes[i] for i in at.tolist()])

    def frame(self, rows: np.ndarray | None = None) -> pl.DataFrame:
        """``question_id`` and the features."""
        at = np.arange(len(self.classes)) if rows is None else np.flatnonzero(rows)
        columns = {name: self.features[at, j] for j, name in enumerate(FEATURES)}
        return pl.DataFrame({"question_id": [f"q{i:06d}" for i in at.tolist()], **columns})


def von_mises_fisher(rng: np.random.Generator, means: Floats, concentration: float) -> Floats:
    """One draw about each of the unit vectors, shape (n, d) (Wood 1994).

    Args:
        rng: where draws come from.
        means: unit vectors, shape (n, d).
        concentration: above 0; large ones stay close.
    """
    n, d = means.shape
    b = (d - 1) / (2 * concentration + np.sqrt(4 * concentration**2 + (d - 1) ** 2))
    x = (1 - b) / (1 + b)
    c = concentration * x + (d - 1) * np.log(1 - x**2)
    cosine, waiting = np.empty(n), np.arange(n)
    while waiting.size:
        z = rng.beta((d - 1) / 2, (d - 1) / 2, waiting.size)
        w = (1 - (1 + b) * z) / (1 - (1 - b) * z)
        accepted = concentration * w + (d - 1) * np.log(1 - x * w) - c >= np.log(rng.random(waiting.size))
        cosine[waiting[accepted]] = w[accepted]
        waiting = waiting[~accepted]
    aside = rng.normal(size=(n, d))
    aside = unit(aside - (aside * means).sum(axis=1, keepdims=True) * means)
    drawn: Floats = cosine[:, None] * means + np.sqrt(np.maximum(1 - cosine**2, 0.0))[:, None] * aside
    return drawn


def unit(vectors: Floats) -> Floats:
    """Vectors scaled to length 1, shape (n, d); one of length 0 stays."""
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(vectors / np.where(length > 0, length, 1.0))


@dataclass(frozen=True)
class Corpus:
    """Companies, their sectors, passages, and the company that each company's bridge passage names."""

    companies: Floats
    sector: Ints
    passages: Floats
    named: Ints


def corpus(setting: Setting, rng: np.random.Generator) -> Corpus:
    """Draw a corpus."""
    means = unit(rng.normal(size=(setting.sectors, setting.dimensions)))
    sector = np.repeat(np.arange(setting.sectors), setting.companies_a_sector)
    companies = von_mises_fisher(rng, means[sector], setting.sector_concentration)
    passages = von_mises_fisher(
        rng, np.repeat(companies, setting.passages_a_company, axis=0), setting.passage_concentration
    )
    count = len(sector)
    named = np.array([rng.choice(np.flatnonzero(sector != sector[company])) for company in range(count)])
    towards = companies[named]
    aside = unit(towards - (towards * companies).sum(axis=1, keepdims=True) * companies)
    angle = np.deg2rad(setting.bridge_angle)
    leaning = np.cos(angle) * companies + np.sin(angle) * aside
    bridges = von_mises_fisher(rng, leaning, setting.bridge_concentration)
    return Corpus(companies, sector, np.concatenate([passages, bridges]), named)


def study(setting: Setting = Setting(), seed: int = 0, corpus_seed: int | None = None) -> Study:
    """Draw corpus and queries and let every arm answer.

    Args:
        setting: sizes and angles.
        seed: of corpus and queries.
        corpus_seed: of the corpus alone, to draw other queries on the same one; None is the seed.
    """
    found = corpus(setting, np.random.default_rng([0, seed if corpus_seed is None else corpus_seed]))
    rng = np.random.default_rng([1, seed])
    n, count = setting.queries_a_class, len(found.sector)
    about = np.concatenate([_spread(rng, n, count) for _ in CLASSES])
    source = found.companies[about]
    leaning = unit(
        (1 - setting.named_share) * source + setting.named_share * found.companies[found.named[about]]
    )
    queries = np.concatenate(
        [
            von_mises_fisher(rng, source[:n], setting.known_concentration),
            von_mises_fisher(rng, source[n : 2 * n], setting.local_concentration),
            von_mises_fisher(rng, leaning[2 * n :], setting.bridge_query_concentration),
        ]
    )
    gold = np.where(np.arange(3 * n) < 2 * n, about, found.named[about])
    logits = _logits(setting, found, queries)
    quality = np.empty((3 * n, len(ARMS)))
    right = np.empty((3 * n, len(ARMS)), dtype=np.bool_)
    for arm, seen in enumerate(logits):
        posterior = softmax(seen / setting.temperature)
        quality[:, arm] = posterior[np.arange(3 * n), gold]
        right[:, arm] = posterior.argmax(axis=1) == gold
    calibration = np.concatenate([rng.permutation(n) < n // 2 for _ in CLASSES])
    return Study(
        tuple(name for name in CLASSES for _ in range(n)),
        gold,
        quality,
        right,
        query_features(queries, found, setting.temperature),
        calibration,
        setting.costs,
    )


def _spread(rng: np.random.Generator, n: int, count: int) -> Ints:
    """Companies that queries are about: each as often as the others, as far as that goes."""
    return np.asarray(rng.permutation(np.resize(rng.permutation(count), n)), dtype=np.int64)


def _logits(setting: Setting, found: Corpus, queries: Floats) -> tuple[Floats, Floats, Floats]:
    """Similarities to the companies, summed over what each arm has read."""
    n = len(queries)
    similar = found.passages @ found.companies.T
    none = queries @ found.companies.T
    read = np.argmax(queries @ found.passages.T, axis=1)
    single = none + similar[read]
    iterate = single.copy()
    seen = np.zeros((n, len(found.passages)), dtype=np.bool_)
    seen[np.arange(n), read] = True
    going = np.arange(n)
    for _ in range(1, setting.retrievals):
        passage = found.passages[read[going]]
        towards = queries[going]
        probe = unit(passage - (passage * towards).sum(axis=1, keepdims=True) * towards)
        following = np.argmax(probe @ found.passages.T, axis=1)
        new = ~seen[going, following]
        going, following = going[new], following[new]
        iterate[going] += similar[following]
        seen[going, following] = True
        read[going] = following
    return none, single, iterate


def query_features(queries: Floats, found: Corpus, temperature: float) -> Floats:
    """What is visible of a query before any retrieval, shape (q, 4), in the order of `FEATURES`."""
    cosine = queries @ found.companies.T
    answer = softmax(cosine / temperature)
    entropy = -(answer * np.log(answer)).sum(axis=1)
    ranked = np.sort(cosine, axis=1)
    nearest = found.sector[cosine.argmax(axis=1)]
    outside = np.where(found.sector[None] == nearest[:, None], -np.inf, cosine).max(axis=1)
    second = ranked[:, -2] if cosine.shape[1] > 1 else ranked[:, -1]
    return np.column_stack([entropy, ranked[:, -1], ranked[:, -1] - second, outside])


def softmax(logits: Floats) -> Floats:
    """Shares that sum to 1 in each row."""
    raised = np.exp(logits - logits.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))

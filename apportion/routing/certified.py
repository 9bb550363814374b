"""A router with a floor: routed only where a gain over every fixed arm is certified, else the chosen fixed arm.

The chosen arm is the best of the calibration filings (`collected`): on every question that nothing certified decides,
the router is that arm exactly. It may not be the best of other filings, which nobody knows beforehand.

Adaptive routing leaves open a router that bounds its regret instead of reporting it. Here the calibration filings
are split: on one part routers are fitted; on the other it is tested, for every price and margin, that the router's
utility exceeds that of *each* fixed arm. All K tests must reject, so whichever arm is truly the best, the router
beats it; that needs no correction for K (an intersection of hypotheses: Berger 1982). Over prices and margins the
tests are closed (`evidence`), so the chance that any of the certified policies is truly no better than the best fixed
arm is at most the risk, over the whole grid at once.

Assumed: filings are independent; a quality lies in [0, 1]; no call of an arm costs more than its `cost_caps` (the
caller's bounds; by default the dearest call of the arm ever logged, and then the bound is an assumption). So that one
dear arm doesn't weaken every claim, a certified policy plays only arms that it played on the fitting filings. Sizes of
filings are taken as they are. The claim is about the mean over questions of filings such as these.

The softened form routes a question away from the fixed arm only where its predicted advantage exceeds a margin;
margin 0 is the router itself, but for ties. Where several margins are certified at a price, the one with the largest
measured gain is played.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

from apportion.bootstrap import group_codes, group_sums
from apportion.prediction.training import TooFewFilings, grouped_folds
from apportion.routing.arms import Arms, Flags, Floats, Ints, choose, utilities
from apportion.routing.evidence import check_risk, log_evidence, mean_at_least, rejected
from apportion.routing.reversal import best_fixed
from apportion.routing.routers import Router, aligned, few_threads, fit_rows

MARGINS = (0.0, 0.05, 0.1, 0.2)
RISK = 0.05


@dataclass(frozen=True)
class Certificate:
    """What is certified at one price.

    Attributes:
        price: λ.
        fixed_arm: the best fixed arm of the calibration filings, played where nothing is certified.
        certified: whether some margin's gain over every fixed arm is certified.
        margin: the margin to play; None where nothing is certified.
        gain: mean gain of the played margin over the best fixed arm on the certifying filings; of the best margin
            where nothing is certified.
        gain_at_least: lower bound on that gain, valid over all prices and margins at once. It shares the risk
            evenly, so it may be below 0 where the test, which needn't, certifies. None where nothing is certified.
    """

    price: float
    fixed_arm: int
    certified: bool
    margin: float | None
    gain: float
    gain_at_least: float | None


@dataclass(frozen=True)
class CertifiedRouter:
    """A fitted router, and for each price the arm it stays with, the arms it may play, and its certificate."""

    router: Router
    base_arms: tuple[int, ...]
    allowed: tuple[tuple[int, ...], ...]
    certificates: tuple[Certificate, ...]

    def choose(self, features: pl.DataFrame) -> Ints:
        """The arm of each question at each price, shape (prices, n)."""
        quality, cost = self.router.predict(features)
        chosen = np.empty((len(self.certificates), features.height), dtype=np.int64)
        for place, found in enumerate(self.certificates):
            chosen[place] = (
                found.fixed_arm
                if found.margin is None
                else softened(
                    quality, cost, found.price, self.base_arms[place], found.margin, self.allowed[place]
                )
            )
        return chosen


def softened(
    quality: Floats,
    cost: Floats,
    price: float,
    base: int,
    margin: float,
    allowed: Sequence[int] | None = None,
) -> Ints:
    """The best arm where its predicted utility exceeds the base arm's by more than the margin, else the base arm.

    Args:
        quality, cost: predicted, shape (n, K).
        price: λ.
        base: the arm to stay with.
        margin: in units of quality, 0 or more.
        allowed: arms that may be played, the base among them; None allows all.
    """
    among = np.arange(quality.shape[1]) if allowed is None else np.asarray(sorted(allowed))
    utility = utilities(quality, cost, price)
    best = among[choose(quality[:, among], cost[:, among], price)]
    ahead = utility[np.arange(len(best)), best] - utility[:, base]
    return np.where(ahead > margin, best, base)


def filing_differences(played: Floats, arms: Arms, price: float, worst: Floats) -> tuple[Floats, Floats]:
    """Played utility less each fixed arm's, summed by filing, scaled so that none can fall below −1.

    Args:
        played: utility of the policy's arm, shape (n,).
        arms: the log.
        price: λ.
        worst: how much dearer than each arm the policy can be on one question, shape (K,).

    Returns:
        The scaled sums, shape (filings, K), and what their means are to be multiplied by to give the mean difference
        a question, shape (K,).
    """
    utility = utilities(arms.quality, arms.cost, price)
    codes, count = group_codes(arms.groups)
    most = np.bincount(codes).max() * (1.0 + price * np.maximum(worst, 0.0))
    return group_sums(codes, count, played[:, None] - utility) / most, most * count / len(arms)


def certify(
    arms: Arms,
    features: pl.DataFrame,
    prices: Sequence[float],
    *,
    kind: str = "ridge",
    margins: Sequence[float] = MARGINS,
    risk: float = RISK,
    share: float = 0.5,
    cost_caps: Sequence[float] | None = None,
    seed: int = 0,
    bounds: bool = True,
) -> CertifiedRouter:
    """Fit a router on part of the filings and certify it on the others.

    Args:
        arms: the calibration log.
        features: what is known at the stage, a row a question.
        prices: λ. At prices above 0 only questions with every cost known certify.
        kind: of router.
        margins: of the softened form, tested all.
        risk: chance that any certified policy is no better than the best fixed arm.
        share: of the filings, about, on which the router is fitted.
        cost_caps: the most that a call of each arm can cost, shape (K,); None: the dearest one logged.
        seed: draws the part.
        bounds: whether to work out `gain_at_least` of what is certified.

    Raises:
        TooFewFilings: fewer than two filings.
    """
    check_risk(risk)
    if not 0 < share < 1:
        raise ValueError(f"share is {share}: give a fraction of the filings between 0 and 1")
    frame = aligned(arms, features)
    fitting = _part(arms.groups, share, seed)
    router = fit_rows(arms, frame, kind, seed, fitting)
    caps = _caps(arms.cost) if cost_caps is None else np.asarray(cost_caps, dtype=np.float64)
    held = arms.rows(~fitting)
    told = router.predict(frame)
    bases, allowed, cells = [], [], []
    for price in prices:
        fitted_part = arms.rows(fitting).at_price(price)
        base = best_fixed(fitted_part, price) if len(fitted_part) else 0
        free = softened(told[0][fitting], told[1][fitting], price, base, 0.0)
        may = tuple(sorted({base, *free.tolist()}))
        bases.append(base)
        allowed.append(may)
        rows = np.ones(len(held), dtype=np.bool_) if price == 0 else held.costed
        part = held if rows.all() else held.rows(rows)
        quality, cost = (values[~fitting][rows] for values in told)
        # Against an arm the policy is at worst as much dearer as the dearest other arm that it may play.
        worst = np.array([max([caps[b] for b in may if b != arm], default=0.0) for arm in range(len(caps))])
        cells += [
            _cell(part, softened(quality, cost, price, base, margin, may), price, margin, worst)
            for margin in margins
        ]
    log_values = np.array([cell.log_value for cell in cells])
    sure = rejected(log_values, risk) if cells else np.zeros(0, dtype=np.bool_)
    certificates = []
    for place, price in enumerate(prices):
        here = range(place * len(margins), (place + 1) * len(margins))
        among = [i for i in here if sure[i]]
        # The largest measured gain, of equals the smallest margin.
        best = max(among or here, key=lambda i: (cells[i].gain, -cells[i].margin))
        whole = arms.at_price(price)
        certificates.append(
            Certificate(
                price,
                best_fixed(whole, price) if len(whole) else 0,
                bool(among),
                cells[best].margin if among else None,
                cells[best].gain,
                cells[best].gain_at_least(risk / max(len(cells), 1)) if bounds and among else None,
            )
        )
    return CertifiedRouter(router, tuple(bases), tuple(allowed), tuple(certificates))


@dataclass(frozen=True)
class _Cell:
    """One policy, at a price and a margin, on the certifying filings."""

    margin: float
    gain: float
    log_value: float
    differences: Floats
    to_question: Floats

    def gain_at_least(self, risk: float) -> float:
        # Against the hardest arm to beat each bound holds by itself, and the least of them for the best arm.
        if self.differences.shape[0] == 0:
            return float("-inf")
        arms = self.differences.shape[1]
        return float((mean_at_least(self.differences, min(risk * arms, 0.999)) * self.to_question).min())


def _cell(part: Arms, chosen: Ints, price: float, margin: float, worst: Floats) -> _Cell:
    if len(part) == 0:
        return _Cell(margin, float("-inf"), float("-inf"), np.zeros((0, len(worst))), worst)
    utility = utilities(part.quality, part.cost, price)
    played = utility[np.arange(len(part)), chosen]
    differences, to_question = filing_differences(played, part, price, worst)
    return _Cell(
        margin,
        float((played - utility[:, best_fixed(part, price)]).mean()),
        float(log_evidence(differences).min()),
        differences,
        to_question,
    )


def _caps(cost: Floats) -> Floats:
    known = ~np.isnan(cost)
    return np.asarray(np.where(known, cost, 0.0).max(axis=0, initial=0.0))


def _part(groups: Sequence[str], share: float, seed: int) -> Flags:
    """Whole filings, about the share of the questions, drawn by the seed."""
    names = np.unique(np.asarray(groups, dtype=object).astype(str))
    if len(names) < 2:
        raise TooFewFilings(
            f"{len(names)} filing: a router is fitted on some filings and certified on others"
        )
    folds = grouped_folds(groups, seed, min(len(names), 20))
    count = int(folds.max()) + 1
    cut = min(max(round(share * count), 1), count - 1)
    return np.asarray(folds < cut)


def certified_choices(
    arms: Arms, features: pl.DataFrame, prices: Sequence[float], seeds: Sequence[int], **options: object
) -> tuple[Ints, Flags]:
    """The certified router on filings that neither fitted nor certified it.

    Returns:
        The arm of each question, shape (seeds, prices, n), and whether it was routed by a certified policy, likewise.
    """
    frame = aligned(arms, features)
    chosen = np.empty((len(seeds), len(prices), len(arms)), dtype=np.int64)
    routed = np.zeros(chosen.shape, dtype=np.bool_)
    with few_threads(len(arms)):
        for place, seed in enumerate(seeds):
            folds = grouped_folds(arms.groups, seed)
            for fold in range(int(folds.max()) + 1):
                out = folds == fold
                calibration = arms.rows(~out)
                if len(set(calibration.groups)) < 2:
                    raise TooFewFilings(
                        "a certified router needs three filings or more: to fit, to certify and to test on"
                    )
                found = certify(calibration, frame, prices, seed=seed, bounds=False, **options)  # type: ignore[arg-type]
                chosen[place][:, out] = found.choose(frame.filter(pl.Series(out)))
                routed[place][:, out] = np.array([c.certified for c in found.certificates])[:, None]
    return chosen, routed


def power(
    gain: float, spread: float, filings: int, *, draws: int, seed: int, risk: float = RISK, policies: int = 1
) -> float:
    """Share of simulated logs on which a policy is certified; with no gain, the realised violation rate.

    Args:
        gain: true mean difference a filing, within (−1, 1).
        spread: its standard deviation over filings; two-valued differences where it allows no others.
        filings: that certify.
        draws: simulated logs.
        seed: of the draws.
        risk: nominal.
        policies: how many are certified at once, all with this gain and equally correlated by halves.

    Raises:
        ValueError: no distribution on [−1, 1] has this mean and spread.
    """
    room = 1 - gain**2
    if not 0 <= spread**2 <= room:
        raise ValueError(
            f"spread is {spread}: differences in [-1, 1] with mean {gain} have at most {room**0.5:g}"
        )
    rng = np.random.default_rng(seed)
    certified = 0
    for _ in range(draws):
        shared = three_valued(rng, gain, spread, (filings, 1))
        own = three_valued(rng, gain, spread, (filings, policies))
        half = rng.random((filings, policies)) < 0.5
        certified += bool(rejected(log_evidence(np.where(half, shared, own)), risk).any())
    return certified / draws


def three_valued(rng: np.random.Generator, mean: float, spread: float, shape: tuple[int, ...]) -> Floats:
    """Differences −1, 0 or 1 (a right answer lost, nothing, one won) with this mean and spread."""
    second = spread**2 + mean**2
    if second < abs(mean):
        # So small a spread has no three-valued form about 0: two values about the mean.
        return mean + spread * rng.choice([-1.0, 1.0], size=shape)
    up, down = (second + mean) / 2, (second - mean) / 2
    u = rng.random(shape)
    return np.where(u < up, 1.0, np.where(u < up + down, -1.0, 0.0))

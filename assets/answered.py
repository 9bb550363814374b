"""What a set's answers were made from: the ranking whose pages they read. A set has one, and decisions rest on it."""

from collections.abc import Collection

from apportion.routes.answering import DEPTHS
from assets.provenance import last_commit
from assets.reading import pages_version
from warehouse.store import Store


def answered_ranking(store: Store, outcome_set: str) -> dict[str, str]:
    """Retriever and pool that ranked the pages of a set's answers; empty where it has none, or a log of elsewhere."""
    made = (last_commit(store, "route_outcomes", outcome_set) or {}).get("arguments", {})
    return {name: made[name] for name in ("retriever", "pool") if made.get(name) is not None}


def kept_answers(store: Store, outcome_set: str, routes: Collection[str]) -> list[str]:
    """The routes whose answers read ranked pages and stay as they are when some routes are answered again."""
    answered = set(store.read("route_outcomes", {"outcome_set": outcome_set})["route"])
    return [route for route, depth in DEPTHS.items() if depth and route in answered and route not in routes]


def check_one_ranking(
    store: Store, outcome_set: str, ranking: dict[str, str], routes: Collection[str]
) -> None:
    """Refuse a ranking by which a set would hold answers from two.

    Args:
        store: where the tables are.
        outcome_set: the set.
        ranking: ``retriever`` and ``pool`` that are asked for.
        routes: the routes that are answered with it.

    Raises:
        ValueError: answers from another ranking would stay beside those from this one.
    """
    before = answered_ranking(store, outcome_set)
    for name, asked in ranking.items():
        made = before.get(name, asked)
        kept = kept_answers(store, outcome_set, routes) if made != asked else []
        if kept:
            every = ",".join((*routes, *kept))
            raise ValueError(
                f"--{name} {asked}: set {outcome_set!r} was answered from {made}, and {', '.join(kept)} would stay so; "
                f"leave --{name} out, or answer these again with it (--routes {every})"
            )


def check_one_snapshot(store: Store, outcome_set: str, routes: Collection[str]) -> None:
    """Refuse a refresh after which a set would hold answers over older and over newer pages.

    Args:
        store: where the tables are.
        outcome_set: the set.
        routes: the routes that are answered over the newest pages.

    Raises:
        ValueError: answers over older pages would stay beside those.
    """
    if pages_version(store, outcome_set) in (None, store.version("pages")):
        return
    answered = store.read("route_outcomes", {"outcome_set": outcome_set})["route"].unique().sort()
    kept = [route for route in answered if route not in routes and route != "direct"]
    if kept:
        every = ",".join((*routes, *kept))
        raise ValueError(
            f"--refresh: set {outcome_set!r} was answered over older pages, and {', '.join(kept)} would stay so; "
            f"leave --refresh out, or answer these again too (--routes {every})"
        )

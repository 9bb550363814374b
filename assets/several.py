"""Several deep routes at once: what is compared then."""

from assets.resources import Comparison

MANY = "*"
"""The deep route's name where one of several is chosen for each question."""

MANY_TABLES = ("policy_summary", "policy_comparison", "selection_overlap", "frontier")
"""The tables of a pair that are published of several deep routes too."""


class SeveralComparison(Comparison):
    """A comparison whose ``deep`` may be ``*``: then one of ``deep_routes`` is chosen for each question, from the
    predictions of each one's pair."""

    deep_routes: list[str] = []  # noqa: RUF012 - pydantic copies it for each resource

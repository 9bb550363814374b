"""What holds unless told otherwise: routes, ranking, models, pace. Imports nothing, so that help may read it."""

from __future__ import annotations

READER = "embedded/reader"
"""The model that answers a new set."""
JUDGE = "embedded/judge"

ROUTES = ("direct", "top1", "top2", "top5")
CHEAP = "top1"
"""The route already paid for."""
DEEP = "top5"
"""The deeper call decided on."""

RETRIEVER = "tfidf"
POOL = "filing"

GAIN_MODEL = "ridge_boosting"
"""The benefit model behind the policies: the escalation paper's."""
POLICY = "gain_per_token"
RISK = 0.05
"""Chance of overspending without a hard cap."""

CONCURRENCY = 16
"""Calls sent at once."""

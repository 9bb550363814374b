"""Deterministic models that need no network and no key."""

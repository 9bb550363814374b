"""Ranking pages and chunks, and naming the filing."""

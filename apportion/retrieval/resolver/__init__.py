"""Naming the filing that a question is about, from its words alone."""

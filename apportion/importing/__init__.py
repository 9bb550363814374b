"""Outcome logs from elsewhere: readers that turn them into the rows of an outcome set."""

"""Definitions, jobs and the command line."""

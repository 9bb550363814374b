"""Ranking a filing's pages by what an analyst knows of statements, sections and periods."""

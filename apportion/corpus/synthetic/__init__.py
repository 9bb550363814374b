"""Fictional filers: their figures, the filings that print them, and questions whose answers follow from both."""

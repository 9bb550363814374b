"""Grading answers: numeric agreement, token overlap, blind adjudication."""

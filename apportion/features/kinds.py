"""The paper's decision-time features by kind."""

from __future__ import annotations

FEATURE_GROUPS: dict[str, tuple[str, ...]] = {
    "question": (
        "family",
        "question_tokens",
        "question_numbers",
        "question_years",
        "question_has_formula",
        "question_is_yes_no",
    ),
    "ranking": ("score_first", "score_mean", "margin", "entropy"),
    "contexts": (
        "coverage_cheap",
        "coverage_deep",
        "redundancy",
        "cheap_context_tokens",
        "deep_pages",
        "deep_new_pages",
        "cheap_prompt_tokens",
        "deep_prompt_tokens",
    ),
    "cheap_outcome": (
        "cheap_confidence",
        "cheap_refused",
        "cheap_hedged",
        "cheap_input_tokens",
        "cheap_output_tokens",
        "cheap_numbers",
        "cheap_numbers_found",
        "cheap_answer_words",
    ),
}
"""Names of the paper's features by kind: what importance is measured over."""

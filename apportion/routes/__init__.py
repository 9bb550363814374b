"""The ways to answer a question, and their prompts."""

"""Side-by-side timings against what a user would pick instead."""

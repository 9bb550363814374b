"""Cross-fitted models of what a deeper call gains and costs."""

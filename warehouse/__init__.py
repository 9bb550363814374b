"""The storage layer: table contracts, the Delta store and the DuckDB catalogue."""

"""Software-defined assets and their checks, one module a stage."""

"""Budget sweeps, clustered bootstrap, overlap and the published tables."""

"""The theory of K arms: Chow, Jensen gap, hulls, fitted routers."""

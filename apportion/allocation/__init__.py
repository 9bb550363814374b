"""Who gets the deeper call: greedy orders, knapsack, the K-arm path, baselines and oracles."""

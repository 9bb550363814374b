-- a frontier rises in cost and quality, and ever more slowly
SELECT stage, frontier, vertex, cost, quality
FROM (
    SELECT *,
        (quality - lag(quality) OVER vertices) / (cost - lag(cost) OVER vertices) AS slope,
        (lag(quality) OVER vertices - lag(quality, 2) OVER vertices)
        / (lag(cost) OVER vertices - lag(cost, 2) OVER vertices) AS slope_before,
        lag(cost) OVER vertices AS cost_before,
        lag(quality) OVER vertices AS quality_before
    FROM routing_frontier
    WINDOW vertices AS (PARTITION BY outcome_set, routes, stage, frontier ORDER BY vertex)
)
WHERE cost <= cost_before
    OR quality < quality_before - 1e-12
    OR slope > slope_before * (1 + 1e-6) + 1e-12

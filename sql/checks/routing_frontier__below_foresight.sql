-- no frontier rises above that of perfect foresight: each of its vertices bounds every policy by the line of its price
SELECT f.stage, f.frontier, f.vertex, f.cost, f.quality, o.vertex AS oracle_vertex
FROM routing_frontier AS f
JOIN routing_frontier AS o USING (outcome_set, routes, stage)
WHERE o.frontier = 'oracle'
    AND f.quality > o.quality + coalesce(o.price / 1000 * (f.cost - o.cost), 1) + 1e-9

-- an order holds each position once, from zero
SELECT policy, gain_model, seed, count(*) AS questions, min(position) AS first, max(position) AS last
FROM orders
GROUP BY outcome_set, cheap_route, deep_route, policy, gain_model, seed
HAVING count(DISTINCT position) <> count(*) OR min(position) <> 0 OR max(position) <> count(*) - 1

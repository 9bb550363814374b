-- a route that failed is an outcome: quality 0 and not correct
SELECT q.question_id, q.route, o.status, q.quality, q.correct
FROM route_quality AS q
JOIN route_outcomes AS o USING (outcome_set, question_id, route)
WHERE q.judged_by <> 'human' AND o.status <> 'ok' AND (q.quality IS DISTINCT FROM 0 OR q.correct IS DISTINCT FROM false)

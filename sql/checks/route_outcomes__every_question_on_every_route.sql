-- warning
-- every question has an outcome on every route of its set; what a cap left out is missing
SELECT q.question_id, r.route
FROM (SELECT DISTINCT outcome_set, route FROM route_outcomes) AS r
JOIN questions AS q USING (outcome_set)
ANTI JOIN route_outcomes AS o
    ON o.outcome_set = q.outcome_set AND o.question_id = q.question_id AND o.route = r.route

-- One row an answer with its grade: what most questions about a log start from.
SELECT o.*, q.judge, q.quality, q.correct, q.token_f1, q.numeric_agreement
FROM route_outcomes AS o
LEFT JOIN route_quality AS q USING (outcome_set, question_id, route)

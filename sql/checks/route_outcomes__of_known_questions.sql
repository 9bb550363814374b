-- every outcome answers a question of its set
SELECT o.question_id, o.route
FROM route_outcomes AS o
ANTI JOIN questions AS q USING (outcome_set, question_id)

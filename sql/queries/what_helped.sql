-- Which questions did the deeper call turn right, and what did each cost?
SELECT a.outcome_set, a.question_id, q.family, q.text, a.cost, a.predicted_gain
FROM question_audit AS a
JOIN questions AS q USING (outcome_set, question_id)
WHERE a.outcome = 'helped'
ORDER BY a.cost

-- within a pass no label stands for two routes
SELECT question_id, judge, session, pass_number, count(*) AS grades, count(DISTINCT candidate_label) AS labels
FROM judgements
GROUP BY outcome_set, question_id, judge, session, pass_number
HAVING count(*) <> count(DISTINCT candidate_label)

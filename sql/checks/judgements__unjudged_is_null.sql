-- a pass that gave no grade has none, and one that gave a grade has both parts of it
SELECT question_id, route, pass_number, status, correct, score
FROM judgements
WHERE (status = 'unjudged') <> (correct IS NULL) OR (correct IS NULL) <> (score IS NULL)

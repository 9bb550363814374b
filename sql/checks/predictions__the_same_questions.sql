-- every model predicts the same questions under every seed
WITH counted AS (
    SELECT target, model, seed, count(*) AS questions, sum(hash(question_id)::HUGEINT) AS which
    FROM predictions
    GROUP BY target, model, seed
)
SELECT * FROM counted WHERE (SELECT count(DISTINCT (questions, which)) FROM counted) > 1

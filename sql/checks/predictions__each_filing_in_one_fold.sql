-- a filing, or the group of a question without one, is never both trained on and predicted
WITH grouped AS (
    SELECT
        p.target,
        p.model,
        p.seed,
        p.fold,
        coalesce(q.filing_id, q.evidence[1].filing_id, 'group:' || q.question_group) AS held_together
    FROM predictions AS p
    JOIN questions AS q USING (outcome_set, question_id)
)
SELECT target, model, seed, held_together, count(DISTINCT fold) AS folds
FROM grouped
WHERE held_together IS NOT NULL
GROUP BY target, model, seed, held_together
HAVING count(DISTINCT fold) > 1

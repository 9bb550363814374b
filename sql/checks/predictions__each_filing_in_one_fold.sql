-- a filing is never both trained on and predicted
SELECT
    p.target,
    p.model,
    p.seed,
    coalesce(q.filing_id, q.evidence[1].filing_id) AS filing_id,
    count(DISTINCT p.fold) AS folds
FROM predictions AS p
JOIN questions AS q USING (outcome_set, question_id)
WHERE coalesce(q.filing_id, q.evidence[1].filing_id) IS NOT NULL
GROUP BY p.target, p.model, p.seed, coalesce(q.filing_id, q.evidence[1].filing_id)
HAVING count(DISTINCT p.fold) > 1

-- nothing outside a question's filing is ranked, unless the whole corpus is searched
SELECT r.question_id, r.rank, r.filing_id, q.filing_id AS scope
FROM retrievals AS r
JOIN questions AS q USING (outcome_set, question_id)
WHERE r.pool <> 'corpus' AND r.filing_id IS DISTINCT FROM q.filing_id

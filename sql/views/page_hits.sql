-- For each question, retriever and pool: the rank of the first page that holds the answer; null where none was ranked.
SELECT q.outcome_set, q.question_id, q.family, r.retriever, r.pool,
    min(r.rank) FILTER (list_contains(q.evidence, {'filing_id': r.filing_id, 'page_number': r.page_number})) AS first_hit
FROM questions AS q
JOIN retrievals AS r USING (outcome_set, question_id)
GROUP BY q.outcome_set, q.question_id, q.family, r.retriever, r.pool

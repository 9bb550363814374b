-- For each question with cited pages, retriever and pool: the rank of the first page that holds the answer; null where none was ranked.
WITH rankings AS (
    SELECT DISTINCT outcome_set, retriever, pool FROM retrievals
)
SELECT q.outcome_set, q.question_id, q.family, m.retriever, m.pool,
    min(r.rank) FILTER (list_contains(q.evidence, {'filing_id': r.filing_id, 'page_number': r.page_number})) AS first_hit
FROM questions AS q
JOIN rankings AS m USING (outcome_set)
LEFT JOIN retrievals AS r
    ON r.outcome_set = q.outcome_set AND r.question_id = q.question_id AND r.retriever = m.retriever AND r.pool = m.pool
WHERE len(q.evidence) > 0
GROUP BY q.outcome_set, q.question_id, q.family, m.retriever, m.pool

-- what is explained are the first ranks of the ranking, page by page
SELECT r.question_id, r.rank, r.filing_id, r.page_number, t.filing_id AS ranked_filing, t.page_number AS ranked_page
FROM retrieval_reasons AS r
LEFT JOIN retrievals AS t USING (outcome_set, question_id, retriever, pool, rank)
WHERE r.filing_id IS DISTINCT FROM t.filing_id OR r.page_number IS DISTINCT FROM t.page_number

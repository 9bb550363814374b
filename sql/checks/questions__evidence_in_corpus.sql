-- every page that a question cites is in the corpus
SELECT q.question_id, e.filing_id, e.page_number
FROM (SELECT question_id, unnest(evidence) AS e FROM questions) AS q
WHERE NOT EXISTS (
    SELECT 1 FROM pages AS p WHERE p.filing_id = q.e.filing_id AND p.page_number = q.e.page_number
)

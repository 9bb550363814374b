-- Which pages came first for a question, and what spoke for each? (retriever accounting)
SELECT outcome_set, retriever, pool, question_id, rank, filing_id, page_number, page_kind,
    array_to_string(line_items, ', ') AS line_items,
    round(question + expansion + phrases + tfidf, 2) AS words, round(kind, 2) AS kind, round(items, 2) AS items,
    round(period + figures + neighbours, 2) AS others
FROM retrieval_reasons
ORDER BY ALL

-- ranks are gapless from one and scores never rise along them
SELECT outcome_set, question_id, retriever, pool, rank, score
FROM (
    SELECT *,
        row_number() OVER ranking AS place,
        lag(score) OVER ranking AS before
    FROM retrievals
    WINDOW ranking AS (PARTITION BY outcome_set, question_id, retriever, pool ORDER BY rank)
)
WHERE place <> rank OR score > before

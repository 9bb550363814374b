-- no feature is a human label of any route: none agrees or disagrees with one on every question
WITH told AS (
    UNPIVOT (
        SELECT
            outcome_set,
            question_id,
            TRY_CAST(COLUMNS(* EXCLUDE (outcome_set, cheap_route, deep_route, question_id)) AS DOUBLE)
        FROM features
    ) ON COLUMNS(* EXCLUDE (outcome_set, question_id)) INTO NAME feature VALUE told
)
SELECT t.feature, q.route, count(*) AS questions, corr(t.told, q.correct::INT) AS correlation
FROM told AS t
JOIN route_quality AS q USING (outcome_set, question_id)
WHERE q.judged_by = 'human' AND q.correct IS NOT NULL
GROUP BY t.feature, q.route, q.judge
HAVING count(*) >= 30 AND coalesce(nullif(abs(corr(t.told, q.correct::INT)), 'nan'::DOUBLE), 0) > 0.9999

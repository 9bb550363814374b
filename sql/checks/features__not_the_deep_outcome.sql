-- no feature is a count of what the deep call took; its prompt is counted beforehand, the cheap call's counts are its own
WITH told AS (
    UNPIVOT (
        SELECT
            outcome_set,
            question_id,
            deep_route,
            TRY_CAST(COLUMNS(* EXCLUDE (
                outcome_set, cheap_route, deep_route, question_id, cheap_input_tokens, cheap_output_tokens
            )) AS DOUBLE)
        FROM features
    ) ON COLUMNS(* EXCLUDE (outcome_set, question_id, deep_route)) INTO NAME feature VALUE told
),
took AS (
    UNPIVOT (
        SELECT outcome_set, question_id, route, input_tokens, output_tokens, total_tokens
        FROM route_outcomes
    ) ON input_tokens, output_tokens, total_tokens INTO NAME counted VALUE took
)
SELECT t.outcome_set, t.feature, o.counted, count(*) AS questions
FROM told AS t
JOIN took AS o
    ON o.outcome_set = t.outcome_set AND o.question_id = t.question_id AND o.route = t.deep_route
WHERE NOT (o.counted = 'input_tokens' AND t.feature IN ('cheap_prompt_tokens', 'deep_prompt_tokens'))
GROUP BY t.outcome_set, t.deep_route, t.feature, o.counted
HAVING count(*) >= 5 AND count(DISTINCT o.took) > 1 AND bool_and(t.told = o.took)

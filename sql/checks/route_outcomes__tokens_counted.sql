-- a call that was answered has tokens: nothing that was made costs nothing
SELECT question_id, route, status, input_tokens, output_tokens, total_tokens
FROM route_outcomes
WHERE (status = 'ok' AND usage_source = 'provider' AND coalesce(total_tokens, 0) = 0)
    OR total_tokens <> input_tokens + output_tokens

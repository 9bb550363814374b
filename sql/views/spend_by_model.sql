-- Calls, tokens and dollars by set, model and purpose; dollars are null where a price is unknown.
SELECT outcome_set, model, purpose, count(*) AS calls, sum(attempts) AS attempts,
    sum(input_tokens) AS input_tokens, sum(output_tokens) AS output_tokens,
    count(*) FILTER (usage_source <> 'provider') AS estimated,
    CASE WHEN count(*) = count(cost_usd) THEN sum(cost_usd) END AS cost_usd
FROM calls
GROUP BY outcome_set, model, purpose

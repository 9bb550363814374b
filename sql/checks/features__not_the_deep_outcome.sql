-- the deep prompt's count is made from the prompt: on some question it differs from what the deep call took
SELECT f.outcome_set, count(*) AS questions
FROM features AS f
JOIN route_outcomes AS o
    ON o.outcome_set = f.outcome_set AND o.question_id = f.question_id AND o.route = f.deep_route
WHERE o.output_tokens > 0
GROUP BY f.outcome_set, f.cheap_route, f.deep_route
HAVING bool_and(f.deep_prompt_tokens = o.total_tokens)

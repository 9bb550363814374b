-- what is said of the cheap answer is what the cheap route's outcome says: nothing learnt after the decision
SELECT f.question_id, f.cheap_input_tokens, o.input_tokens, f.cheap_output_tokens, o.output_tokens
FROM features AS f
LEFT JOIN route_outcomes AS o
    ON o.outcome_set = f.outcome_set AND o.question_id = f.question_id AND o.route = f.cheap_route
WHERE f.cheap_input_tokens IS DISTINCT FROM o.input_tokens
    OR f.cheap_output_tokens IS DISTINCT FROM o.output_tokens
    OR f.cheap_confidence IS DISTINCT FROM o.confidence

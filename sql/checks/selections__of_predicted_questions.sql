-- every call that was bought had a prediction under the same seed; of several deep routes, that of the route bought
SELECT s.policy, s.seed, s.question_id, s.route
FROM selections AS s
ANTI JOIN predictions AS p
    ON p.outcome_set = s.outcome_set AND p.cheap_route = s.cheap_route AND p.seed = s.seed
    AND p.question_id = s.question_id
    AND p.deep_route = CASE WHEN s.deep_route = '*' THEN s.route ELSE s.deep_route END

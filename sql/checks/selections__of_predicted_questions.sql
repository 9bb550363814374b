-- every call that was bought had a prediction under the same seed
SELECT s.policy, s.seed, s.question_id
FROM selections AS s
ANTI JOIN predictions AS p USING (outcome_set, cheap_route, deep_route, seed, question_id)

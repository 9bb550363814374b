-- at most one arm is uniquely best on a question, some arm is always among the best, and families make up the whole
WITH counted AS (
    SELECT stage, price, family, max(questions) AS questions, sum(uniquely_best) AS uniquely, sum(best) AS best
    FROM routing_reversals
    GROUP BY outcome_set, routes, stage, price, family
)
SELECT stage, price, family, questions, uniquely, best
FROM counted
WHERE uniquely > questions OR best < questions
UNION ALL
SELECT stage, price, 'all', sum(questions) FILTER (family <> 'all'), sum(questions) FILTER (family = 'all'), NULL
FROM counted
GROUP BY stage, price
HAVING sum(questions) FILTER (family <> 'all') <> sum(questions) FILTER (family = 'all')

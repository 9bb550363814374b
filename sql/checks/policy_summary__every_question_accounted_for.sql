-- questions in the denominator and those left out are all of the set's, in every policy
SELECT p.policy, p.budget_fraction, p.questions, p.left_out, q.questions AS asked
FROM policy_summary AS p
JOIN (SELECT outcome_set, count(*) AS questions FROM questions GROUP BY outcome_set) AS q USING (outcome_set)
WHERE p.questions + p.left_out <> q.questions

-- At which budgets is a policy distinguishable from gain-only, in quality?
SELECT outcome_set, budget_fraction, policy, difference, ci_low, ci_high
FROM policy_comparison
WHERE baseline = 'gain_only' AND metric = 'quality'
ORDER BY outcome_set, budget_fraction, policy

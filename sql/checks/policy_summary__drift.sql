-- warning
-- realised spend exceeds the predicted budget by at most five percent
SELECT policy, budget_fraction, predicted_budget, realised_spend
FROM policy_summary
WHERE predicted_budget > 0 AND realised_spend > 1.05 * predicted_budget

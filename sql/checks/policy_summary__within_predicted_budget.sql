-- predicted spend never exceeds the predicted budget
SELECT policy, budget_fraction, predicted_budget, predicted_spend
FROM policy_summary
WHERE predicted_spend > predicted_budget

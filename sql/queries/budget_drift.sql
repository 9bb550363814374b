-- How far did realised spend drift from the predicted budget?
SELECT outcome_set, policy, budget_fraction, predicted_budget, realised_spend,
    realised_spend / predicted_budget - 1 AS drift
FROM policy_summary
WHERE predicted_budget > 0
ORDER BY abs(realised_spend / predicted_budget - 1) DESC

-- at budget zero every policy is the cheap route
SELECT policy, quality, selected_calls
FROM policy_summary
WHERE budget_fraction = 0 AND (selected_calls <> 0 OR realised_spend <> 0)

-- an interval holds the difference that it is of
SELECT policy, baseline, budget_fraction, metric, difference, ci_low, ci_high
FROM policy_comparison
WHERE ci_low > difference + 1e-9 OR ci_high < difference - 1e-9

-- helped, hurt and neutral calls are all that were bought
SELECT policy, budget_fraction, selected_calls, helped, hurt, neutral
FROM policy_summary
WHERE abs(helped + hurt + neutral - selected_calls) > 1e-9

-- Policies at the tightest nonzero budget of each set and pair (escalation paper, table II).
SELECT outcome_set, cheap_route, deep_route, policy, gain_model, budget_fraction,
    accuracy, quality, tokens_per_question, escalated_share, helped, hurt, neutral
FROM policy_summary
QUALIFY budget_fraction = min(budget_fraction) FILTER (budget_fraction > 0)
    OVER (PARTITION BY outcome_set, cheap_route, deep_route)

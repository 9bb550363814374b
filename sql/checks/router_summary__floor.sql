-- where nothing is routed, the certified router is the chosen fixed arm exactly
SELECT stage, price, routed_share, gain_over_chosen, chosen_ci_low, chosen_ci_high
FROM router_summary
WHERE router = 'certified'
    AND (
        routed_share IS NULL
        OR gain_over_chosen IS NULL
        OR (routed_share = 0 AND gain_over_chosen <> 0)
        OR (routed_share = 0 AND (chosen_ci_low <> 0 OR chosen_ci_high <> 0))
    )

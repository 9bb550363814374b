-- perfect foresight is never worse than the best fixed arm, and the gap is the difference between them
SELECT stage, price, oracle, best_fixed, gap, ci_low, ci_high
FROM routing_gap
WHERE gap < 0
    OR abs(oracle - best_fixed - gap) > 1e-9
    OR ci_low > gap
    OR ci_high < gap
    OR (reversal_share = 0) <> (gap = 0)

-- no router gains more than perfect foresight; what is certified has a margin, what isn't has none
SELECT stage, price, router, split, gain, gap, certified, margin
FROM router_summary
WHERE gain > gap + 1e-9
    OR gain_over_chosen < gain - 1e-9
    OR (certified AND margin IS NULL)
    OR (NOT certified AND (margin IS NOT NULL OR gain_at_least IS NOT NULL))

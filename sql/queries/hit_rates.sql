-- How often is a gold page first, and in the first five?
SELECT outcome_set, retriever, pool, family, count(*) AS questions,
    avg(coalesce(first_hit = 1, false)::INT) AS first,
    avg(coalesce(first_hit <= 5, false)::INT) AS first_five
FROM page_hits
GROUP BY ALL
ORDER BY ALL

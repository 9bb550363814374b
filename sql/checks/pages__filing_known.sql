-- every page belongs to a filing of its batch, and as many are there as the filing says, none among them
SELECT f.filing_id, f.page_count, count(p.page_number) AS pages
FROM checked_slice AS b
JOIN filings AS f USING (filing_batch)
LEFT JOIN pages AS p USING (filing_id)
GROUP BY f.filing_id, f.page_count
HAVING count(p.page_number) <> f.page_count
UNION ALL
SELECT p.filing_id, NULL, count(*) FROM pages AS p
WHERE p.filing_id NOT IN (SELECT filing_id FROM filings)
GROUP BY p.filing_id

-- Answers that abstained or failed, and whether the deeper call had one.
SELECT c.outcome_set, c.question_id, c.status, c.answer AS cheap, d.answer AS deep
FROM route_outcomes AS c
JOIN route_outcomes AS d USING (outcome_set, question_id)
WHERE c.route = 'top1' AND d.route = 'top5'
    AND (c.status <> 'ok' OR c.answer ILIKE 'not in the pages provided%')
ORDER BY ALL

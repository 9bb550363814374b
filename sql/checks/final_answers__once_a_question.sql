-- every question that the pair was decided on has one final answer, by the cheap route or the deep one
SELECT f.question_id, count(a.question_id) AS answers, any_value(a.route) AS route
FROM features AS f
SEMI JOIN (SELECT DISTINCT outcome_set, cheap_route, deep_route FROM final_answers)
    USING (outcome_set, cheap_route, deep_route)
LEFT JOIN final_answers AS a USING (outcome_set, cheap_route, deep_route, question_id)
GROUP BY f.outcome_set, f.cheap_route, f.deep_route, f.question_id
HAVING count(a.question_id) <> 1 OR bool_or(a.route NOT IN (f.cheap_route, f.deep_route))

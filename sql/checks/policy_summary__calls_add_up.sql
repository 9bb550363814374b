-- calls, helped, hurt and neutral are those of the selections under one judge's grades, averaged over the seeds
WITH seeds AS (
    SELECT p.outcome_set, p.cheap_route, p.deep_route, count(DISTINCT r.seed) AS seeds
    FROM (SELECT DISTINCT outcome_set, cheap_route, deep_route FROM policy_summary) AS p
    JOIN predictions AS r
        ON r.outcome_set = p.outcome_set AND r.cheap_route = p.cheap_route AND p.deep_route IN (r.deep_route, '*')
    GROUP BY ALL
),
judges AS (
    SELECT DISTINCT outcome_set, judge FROM route_quality
),
bought AS (
    SELECT s.outcome_set, s.cheap_route, s.deep_route, s.policy, s.gain_model, s.budget_fraction, j.judge,
        count(*) AS calls,
        count(*) FILTER (NOT c.correct AND d.correct) AS helped,
        count(*) FILTER (c.correct AND NOT d.correct) AS hurt
    FROM selections AS s
    SEMI JOIN policy_summary USING (outcome_set, cheap_route, deep_route)
    JOIN judges AS j USING (outcome_set)
    LEFT JOIN route_quality AS c
        ON c.outcome_set = s.outcome_set AND c.question_id = s.question_id AND c.judge = j.judge
        AND c.route = s.cheap_route
    LEFT JOIN route_quality AS d
        ON d.outcome_set = s.outcome_set AND d.question_id = s.question_id AND d.judge = j.judge
        AND d.route = s.route
    GROUP BY ALL
),
agreed AS (
    SELECT p.outcome_set, p.cheap_route, p.deep_route, p.policy, p.gain_model, p.budget_fraction
    FROM policy_summary AS p
    JOIN seeds AS n USING (outcome_set, cheap_route, deep_route)
    JOIN judges AS j USING (outcome_set)
    LEFT JOIN bought AS b USING (outcome_set, cheap_route, deep_route, policy, gain_model, budget_fraction, judge)
    WHERE abs(coalesce(b.calls, 0) / n.seeds - p.selected_calls) < 1e-6
        AND abs(coalesce(b.helped, 0) / n.seeds - p.helped) < 1e-6
        AND abs(coalesce(b.hurt, 0) / n.seeds - p.hurt) < 1e-6
        AND abs(coalesce(b.calls - b.helped - b.hurt, 0) / n.seeds - p.neutral) < 1e-6
)
SELECT policy, budget_fraction, selected_calls, helped, hurt, neutral
FROM policy_summary
ANTI JOIN agreed USING (outcome_set, cheap_route, deep_route, policy, gain_model, budget_fraction)

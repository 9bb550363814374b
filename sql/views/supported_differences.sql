-- Differences between policies whose interval excludes zero.
SELECT * FROM policy_comparison WHERE ci_low > 0 OR ci_high < 0

-- The tenant with due rows that comes after one, or is it where that is asked for.
SELECT tenant
FROM async_operations
WHERE state = 'QUEUED' AND due = 1 AND tenant >= @tenant AND (tenant > @tenant OR @itself)
ORDER BY tenant
LIMIT 1;

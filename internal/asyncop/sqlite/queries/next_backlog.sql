-- The backlog of a tenant that comes after one.
SELECT issuer, subject, lane
FROM async_operations
WHERE state = 'QUEUED' AND due = 1 AND tenant = @tenant AND (issuer, subject, lane) > (@issuer, @subject, @lane)
ORDER BY issuer, subject, lane
LIMIT 1;

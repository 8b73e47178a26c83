-- The head of a backlog: neither rows of the future nor its depth are looked at.
SELECT id, mutations, priority, not_before
FROM async_operations
WHERE state = 'QUEUED' AND due = 1
  AND tenant = @tenant AND issuer = @issuer AND subject = @subject AND lane = @lane
  AND not_before <= @now AND start_before > @now
ORDER BY priority DESC, not_before, id
LIMIT @limit;

-- QUEUED past startBefore → FAILED.
UPDATE async_operations
SET state           = 'FAILED',
    revision        = revision + 1,
    failure_code    = @failure_code,
    failure_message = @failure_message,
    finished_at     = max(@now, coalesce(started_at, created_at))
WHERE rowid IN (
        SELECT rowid
        FROM async_operations
        WHERE state = 'QUEUED' AND start_before <= @now
        ORDER BY start_before
        LIMIT @limit)
  AND state = 'QUEUED'
RETURNING id;

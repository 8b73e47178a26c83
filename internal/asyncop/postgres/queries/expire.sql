-- The rows are locked as they are found, so that their state holds: see claim.sql.
WITH overdue AS (
    SELECT id
    FROM async_operations
    WHERE state = 'QUEUED' AND start_before <= now()
    ORDER BY start_before
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
UPDATE async_operations o
SET state = 'FAILED',
    revision = o.revision + 1,
    failure_code = 'START_DEADLINE_EXCEEDED',
    failure_message = $2,
    finished_at = greatest(now(), o.created_at, o.started_at)
WHERE o.id = ANY (ARRAY(SELECT id FROM overdue))
RETURNING o.id

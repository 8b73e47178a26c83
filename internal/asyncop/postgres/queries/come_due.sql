-- The rows are locked as they are found, so that their state holds: see
-- candidates.sql.
WITH ripe AS (
    SELECT id
    FROM async_operations
    WHERE state = 'QUEUED' AND NOT due AND not_before <= now()
    ORDER BY not_before
    LIMIT $1
    FOR UPDATE SKIP LOCKED
)
UPDATE async_operations o
SET due = true
WHERE o.id = ANY (ARRAY(SELECT id FROM ripe))

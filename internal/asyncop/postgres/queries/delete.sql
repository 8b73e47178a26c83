-- Only what has ended has an end, or a result; see the CHECKs. The rows are
-- locked as they are found: see claim.sql.
WITH old AS (
    SELECT id
    FROM async_operations
    WHERE finished_at IS NOT NULL AND finished_at < now() - $1::bigint * interval '1 microsecond'
    ORDER BY finished_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
DELETE FROM async_operations o
WHERE o.id = ANY (ARRAY(SELECT id FROM old))
RETURNING o.id

-- Only what has ended has an end, or a result; see the CHECKs. The rows are
-- locked as they are found: see claim.sql.
WITH old AS (
    SELECT id
    FROM async_operations
    WHERE result IS NOT NULL AND finished_at < now() - $1::bigint * interval '1 microsecond'
    ORDER BY finished_at
    LIMIT $2
    FOR UPDATE SKIP LOCKED
)
UPDATE async_operations o
SET result = NULL, purged = true, revision = o.revision + 1
WHERE o.id = ANY (ARRAY(SELECT id FROM old))
RETURNING o.id

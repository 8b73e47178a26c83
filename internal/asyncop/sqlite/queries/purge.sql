-- Removes the results of operations that ended by @ended_by.
UPDATE async_operations
SET result   = NULL,
    purged   = 1,
    revision = revision + 1
WHERE rowid IN (
        SELECT rowid
        FROM async_operations
        WHERE result IS NOT NULL AND finished_at <= @ended_by
        ORDER BY finished_at
        LIMIT @limit)
RETURNING id;

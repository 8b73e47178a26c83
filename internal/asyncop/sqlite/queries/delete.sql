-- Deletes operations that ended by @ended_by, and with them their keys.
DELETE FROM async_operations
WHERE rowid IN (
        SELECT rowid
        FROM async_operations
        WHERE finished_at <= @ended_by
        ORDER BY finished_at
        LIMIT @limit)
RETURNING id;

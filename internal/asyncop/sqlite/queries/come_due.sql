-- Rows whose time has come.
UPDATE async_operations
SET due = 1
WHERE rowid IN (
        SELECT rowid
        FROM async_operations
        WHERE state = 'QUEUED' AND due = 0 AND not_before <= @now
        ORDER BY not_before
        LIMIT @limit);

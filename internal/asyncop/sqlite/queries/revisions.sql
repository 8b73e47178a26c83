SELECT id, revision
FROM async_operations
WHERE id IN (SELECT value FROM json_each(@ids));
